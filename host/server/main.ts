import { existsSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { openReleases, publishLocal } from '@liaozhai/releases';
import { startBackend } from './backendProcess.ts';
import { buildPackages } from './buildPackages.ts';
import { startDevServer } from './devServer.ts';
import { readEnv, type ServerEnv } from './env.ts';
import { createProduct } from './product.ts';

const started = performance.now();
const seconds = () => ((performance.now() - started) / 1000).toFixed(1);

async function publishAll(store: string, channel: string) {
  const packages = await buildPackages((line) => console.log(line));
  const { changed, seq } = await publishLocal({
    dists: packages.map(({ dist }) => dist),
    store,
    channel,
    who: 'npm start',
  });
  console.log(
    changed
      ? `Published ${packages.length} packages and switched to state ${seq} of ${channel}.`
      : `Nothing changed: state ${seq} of ${channel} stays live.`,
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
  const stop = async () => {
    server.kill('SIGTERM');
    await backend.stop();
    process.exit(0);
  };
  server.once('exit', stop);
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

async function serve(env: ServerEnv) {
  const store = env.RELEASES_STORE ?? `file:${join(env.DATA_DIR, 'releases')}`;
  const config = siteConfig(env.HOST_CONFIG);
  const [backend] = await Promise.all([backendFor(env), publishAll(store, env.CHANNEL)]);
  const releases = await openReleases({ store, channel: env.CHANNEL });
  const server = createProduct({ releases, env, backendUrl: backend.url, config });
  const port = await listen(server, env.PORT, env.HOST);
  console.log(`聊斋 is ready at http://localhost:${port} (${seconds()} s)`);
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await Promise.all([backend.stop(), releases.close()]);
    process.exit(0);
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}

const env = readEnv();
const run = process.argv.includes('--dev') ? develop : serve;
run(env).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
