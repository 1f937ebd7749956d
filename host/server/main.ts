import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openReleases, publishLocal } from '@liaozhai/releases';
import { startBackend } from './backendProcess.ts';
import { buildPackages } from './buildPackages.ts';
import { startDevServer } from './devServer.ts';
import { readEnv, type ServerEnv } from './env.ts';
import { createProduct } from './product.ts';

const started = performance.now();
const seconds = () => ((performance.now() - started) / 1000).toFixed(1);

/** Builds, publishes and makes live what changed since the last start; what was switched or rolled back meanwhile stays. */
async function publishAll(env: ServerEnv, store: string) {
  const packages = await buildPackages((line) => console.log(line));
  const last = join(env.DATA_DIR, 'last-start.json');
  const startedBefore = existsSync(last) ? (JSON.parse(readFileSync(last, 'utf8')) as string[]) : [];
  const dists = packages.map(({ dist }) => dist);
  const published = await publishLocal({ dists, store, channel: env.CHANNEL, who: 'npm start', startedBefore });
  writeFileSync(last, JSON.stringify(published.builds));
  for (const problem of published.problems) console.warn(`! ${problem}`);
  const { changed, seq } = published;
  console.log(
    changed
      ? `Published and switched: state ${seq} of ${env.CHANNEL} is live.`
      : `Nothing changed: state ${seq} of ${env.CHANNEL} stays live.`,
  );
}

const listen = (server: Server, port: number, host: string) =>
  new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });

/** Ctrl-C and SIGTERM end everything that was started. Returns the same as a function. */
function endsWith(close: () => Promise<void>): () => Promise<void> {
  const stop = async () => {
    await close();
    process.exit(0);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  return stop;
}

async function backendFor(env: ServerEnv) {
  if (env.BACKEND_URL) return { url: () => env.BACKEND_URL ?? '', stop: async () => {} };
  const { PORT: _, ...inherited } = process.env;
  return startBackend({ ...inherited, PORT: '0', DATA_DIR: join(env.DATA_DIR, 'backend') });
}

/** The page's runtime configuration: siteConfig.json, with what HOST_CONFIG names laid over it key by key. */
function siteConfig(file: string | undefined): Record<string, unknown> {
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  const shipped = read(join(import.meta.dirname, 'siteConfig.json'));
  if (!file) return shipped;
  if (!existsSync(file)) throw new Error(`HOST_CONFIG=${file} does not exist: correct the path, or unset it`);
  return { ...shipped, ...read(file) };
}

async function develop(env: ServerEnv) {
  const backend = await backendFor(env);
  const server = startDevServer(env.PORT, backend.url());
  const stop = endsWith(async () => {
    server.kill('SIGTERM');
    await backend.stop();
  });
  server.once('exit', stop);
}

/** The release console on its own origin: remotes run with the app's privileges and must not reach it. */
async function consoleFor(env: ServerEnv, store: string) {
  const { startConsole } = await import('@liaozhai/releases/console');
  return startConsole({ store, channel: env.CHANNEL, port: env.CONSOLE_PORT, localToken: true });
}

async function serve(env: ServerEnv) {
  const store = env.RELEASES_STORE ?? `file:${join(env.DATA_DIR, 'releases')}`;
  const config = siteConfig(env.HOST_CONFIG);
  await publishAll(env, store);
  const backend = await backendFor(env);
  const seenFile = join(env.DATA_DIR, `seen-${env.CHANNEL}.json`);
  const releases = await openReleases({ store, channel: env.CHANNEL, seenFile });
  const releaseConsole = await consoleFor(env, store);
  const server = createProduct({ releases, env, backendUrl: backend.url, config });
  const port = await listen(server, env.PORT, env.HOST);
  console.log(`Release console: ${releaseConsole.link}`);
  console.log(`聊斋 is ready at http://localhost:${port} (${seconds()} s)`);
  endsWith(async () => {
    server.close();
    server.closeAllConnections();
    await Promise.all([backend.stop(), releases.close(), releaseConsole.close()]);
  });
}

/** Serves one stored set as it is, with a backend behind it: what the gate's smoke test opens. */
async function serveSet(env: ServerEnv, set: string) {
  const store = env.RELEASES_STORE ?? `file:${join(env.DATA_DIR, 'releases')}`;
  const backend = await backendFor(env);
  const releases = await openReleases({ store, channel: env.CHANNEL, set });
  const server = createProduct({ releases, env, backendUrl: backend.url, config: siteConfig(env.HOST_CONFIG) });
  const port = await listen(server, env.PORT, '127.0.0.1');
  console.log(`serving set ${set} at http://127.0.0.1:${port}`);
  endsWith(async () => {
    server.close();
    server.closeAllConnections();
    await Promise.all([backend.stop(), releases.close()]);
  });
}

const env = readEnv();
const { values } = parseArgs({ options: { dev: { type: 'boolean' }, set: { type: 'string' } } });
const running = values.dev ? develop(env) : values.set ? serveSet(env, values.set) : serve(env);
running.catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
