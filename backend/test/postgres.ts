// `pnpm test:postgres`: the backend's tests and `pnpm conformance`, with a real Postgres.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { readEnv } from '../src/env.ts';
import { openPostgresServer, type PostgresServer } from './postgresServer.ts';

const root = join(import.meta.dirname, '../..');

/** Returns the server of `DATABASE_URL`, whose user may create databases, or starts a temporary one. */
async function openServer(): Promise<Pick<PostgresServer, 'url' | 'stop'>> {
  const { DATABASE_URL } = process.env;
  if (!DATABASE_URL) return openPostgresServer();
  readEnv({ DATABASE_URL, APP_KEY: 'only the address is looked at' });
  return { url: DATABASE_URL, stop: async () => {} };
}

let running: ChildProcess | null = null;

async function run(words: string[], variables: Record<string, string>): Promise<number> {
  const { DATABASE_URL: _, ...inherited } = process.env;
  const child = spawn(process.execPath, words, { cwd: root, env: { ...inherited, ...variables }, stdio: 'inherit' });
  running = child;
  const [status] = await once(child, 'exit');
  running = null;
  return status ?? 1;
}

/** Checks a backend with that Postgres against the contract. */
async function conform(url: string): Promise<number> {
  process.env.TEST_POSTGRES_URL = url;
  const { databaseOf, makeDataDir, removeDataDir } = await import('./testDatabase.ts');
  const { startBackend } = await import('../src/server.ts');
  const dataDir = makeDataDir();
  const limits = { RATE_LIMIT_REGISTER: '100' };
  const backend = await startBackend(readEnv({ DATA_DIR: dataDir, ...databaseOf(dataDir), ...limits }));
  try {
    return await run(['host/server/run.mjs', 'backend/conformance/main.ts', '--url', backend.url], {});
  } finally {
    await backend.close();
    removeDataDir(dataDir);
  }
}

const files = process.argv.slice(2);

try {
  const server = await openServer();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => running?.kill(signal));
  try {
    const rstest = join(root, 'node_modules/@rstest/core/bin/rstest.js');
    const config = join(import.meta.dirname, 'postgres.config.ts');
    const suite = await run([rstest, 'run', '-c', config, ...files], { TEST_POSTGRES_URL: server.url });
    process.exitCode = suite || (files.length > 0 ? 0 : await conform(server.url));
  } finally {
    await server.stop();
  }
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
