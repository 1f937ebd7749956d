import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Data folder of the product under test; relative to the repository, as `DATA_DIR` is. */
export const dataFolder = resolve(root, process.env.E2E_DATA_DIR ?? 'test-results/data');

/** Copies the builds that the product under test has published: compressing them takes three seconds of CPU. */
function copyBuilds(store: string) {
  for (const name of ['builds', 'maps', 'versions']) {
    const source = join(dataFolder, 'releases', name);
    if (existsSync(source)) cpSync(source, join(store, name), { recursive: true });
  }
}

export interface RunningSite {
  origin: string;
  stop(): Promise<void>;
}

export interface RunningProduct extends RunningSite {
  /** its data folder */
  data: string;
  /** Everything written to standard error so far. */
  complaints(): string;
  /** Sends SIGKILL to the started process, to simulate a crash. */
  crash(): Promise<void>;
}

export const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });

/** Resolves with the first line that contains `sign`. Rejects with the errors it has written if the process ends before. */
export function started(child: ChildProcess, stdout: Readable, sign: string, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let errors = '';
    child.stderr?.on('data', (bytes: Buffer) => (errors += bytes));
    createInterface({ input: stdout }).on('line', (line) => line.includes(sign) && resolve(line));
    child.once('close', (code) => reject(new Error(`${name} ended with code ${code} before it was ready\n${errors}`)));
  });
}

const addressIn = (line: string) => /http:\S+/.exec(line)?.[0] ?? '';

/** Ends the process; resolves after its exit. */
export const ended = (child: ChildProcess, signal: NodeJS.Signals) =>
  new Promise<void>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill(signal);
  });

/**
 * Starts the product as a user does, with options such as `--dev`. By default it uses a free port, and a data folder that is
 * removed when it stops. With `--dev` it needs `PORT`. In a journey, that folder begins with the builds of the product under test.
 */
export async function startProduct(env: Record<string, string> = {}, ...options: string[]): Promise<RunningProduct> {
  const data = env.DATA_DIR ?? mkdtempSync(join(tmpdir(), 'liaozhai-product-'));
  // set by the journeys' configuration, which starts that product
  if (process.env.E2E_DATA_DIR && !env.DATA_DIR)
    copyBuilds(env.RELEASES_STORE?.replace('file:', '') ?? join(data, 'releases'));
  const port = env.PORT ?? '0';
  const child = spawn(process.execPath, ['host/server/start.mjs', ...options], {
    cwd: root,
    env: { ...process.env, CONSOLE_PORT: '0', DRAIN_SECONDS: '0', ...env, PORT: port, DATA_DIR: data },
    // the product exits when the IPC channel closes, so also if the test runner is killed
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }) as ChildProcessByStdio<null, Readable, Readable>;
  let complaints = '';
  child.stderr.on('data', (bytes: Buffer) => {
    complaints += bytes.toString();
    process.stderr.write(bytes);
  });
  const isDev = options.includes('--dev');
  const line = await started(child, child.stdout, isDev ? 'built in' : 'is ready', 'the product');
  const origin = isDev ? `http://localhost:${port}` : addressIn(line);
  const stop = async () => {
    await ended(child, 'SIGTERM');
    if (!env.DATA_DIR) rmSync(data, { recursive: true, force: true });
  };
  const crash = () => ended(child, 'SIGKILL');
  return { origin, data, complaints: () => complaints, crash, stop };
}

export interface RunningBackend {
  url: string;
  crash(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the reference backend as a separate process. A test can crash and restart it without losing data. */
export async function startBackend(env: Record<string, string> = {}): Promise<RunningBackend> {
  const data = mkdtempSync(join(tmpdir(), 'liaozhai-backend-'));
  let url = '';
  let child: ChildProcess;
  const start = async () => {
    const backendProcess = spawn(process.execPath, [join(root, 'host/server/run.mjs'), 'src/main.ts'], {
      cwd: join(root, 'backend'),
      env: { ...process.env, DRAIN_SECONDS: '0', PORT: url ? new URL(url).port : '0', DATA_DIR: data, ...env },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    }) as ChildProcessByStdio<null, Readable, null>;
    child = backendProcess;
    url = addressIn(await started(backendProcess, backendProcess.stdout, 'listening on', 'the backend'));
  };
  await start();
  const stop = async () => {
    await ended(child, 'SIGTERM');
    rmSync(data, { recursive: true, force: true });
  };
  return { url, start, stop, crash: () => ended(child, 'SIGKILL') };
}
