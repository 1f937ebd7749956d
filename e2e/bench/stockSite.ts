import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync } from 'node:zlib';
import { getMimeType } from 'hono/utils/mime';
import { registeredRemotes } from '../../shared/src/build/registry.ts';
import type { RunningSite } from '../product.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folders = new Map([
  ['host', join(root, 'host')],
  ...registeredRemotes(root).map(({ name }) => [name, join(root, 'remotes', name)] as const),
]);
interface StockFile {
  body: Buffer;
  /** in brotli */
  compressed: Buffer;
  type: string;
  /** files with a content hash in their name are immutable; entries and manifests are revalidated */
  cacheControl: string;
}

function build(name: string, folder: string): Promise<void> {
  const child = spawn(process.execPath, ['node_modules/@rsbuild/core/bin/rsbuild.js', 'build'], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production', LIAOZHAI_STOCK: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the stock build of ${name} failed`))));
  });
}

function filesOf(name: string, folder: string): [string, StockFile][] {
  const dist = join(folder, 'dist-stock');
  const paths = existsSync(dist) ? (readdirSync(dist, { recursive: true }) as string[]) : [];
  return paths.flatMap((path): [string, StockFile][] => {
    const type = getMimeType(path);
    if (!type || !extname(path)) return [];
    const body = readFileSync(join(dist, path));
    const cacheControl = path.startsWith('static/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    return [[`/stock/${name}/${path}`, { body, compressed: brotliCompressSync(body), type, cacheControl }]];
  });
}

function forwardRequest(origin: string, incoming: IncomingMessage, response: ServerResponse) {
  const { host } = new URL(origin);
  const headers = { ...incoming.headers, host };
  const forward = request(`${origin}${incoming.url}`, { method: incoming.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  forward.once('error', () => response.destroy());
  incoming.pipe(forward);
}

/** Builds the stock contestant and serves it. Other requests go to the running product, so that the cards are the same. */
export async function startStockSite(backend: string): Promise<RunningSite> {
  for (const [name, folder] of folders) await build(name, folder);
  const files = new Map([...folders].flatMap(([name, folder]) => filesOf(name, folder)));
  const page = files.get('/stock/host/index.html');
  if (!page) throw new Error('the stock host has no index.html');
  const server = createServer((incoming, response) => {
    const { pathname } = new URL(incoming.url ?? '/', backend);
    const isPage = incoming.headers.accept?.includes('text/html');
    const file = isPage ? { ...page, cacheControl: 'no-cache' } : files.get(pathname);
    if (!file) return forwardRequest(backend, incoming, response);
    const { compressed, body, type, cacheControl } = file;
    const isCompressed = incoming.headers['accept-encoding']?.includes('br');
    const payload = isCompressed ? compressed : body;
    response.writeHead(200, {
      'content-type': type,
      ...(isCompressed && { 'content-encoding': 'br' }),
      'content-length': payload.length,
      'cache-control': cacheControl,
    });
    response.end(payload);
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { origin: `http://localhost:${port}`, stop };
}
