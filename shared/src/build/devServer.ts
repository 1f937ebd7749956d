// What the development servers of Rsbuild, webpack and Vite have in common; none of the three is imported here.
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { backendSegments } from '../contract/addresses.ts';
import { contentSecurityPolicy, furtherOrigins } from '../contract/policy.ts';

/** Where a remote is served unless its configuration says otherwise. */
export const DEV_PORT = 3101;

/** Ends a dev server whose port is taken with one line: the stack under it would tell nobody anything. */
export function endForTakenPort(port: number, setting: string): never {
  console.error(`Port ${port} is taken: stop what listens there, or change ${setting}.`);
  process.exit(1);
}

const tryPort = (port: number) =>
  new Promise<NodeJS.ErrnoException | null>((resolve) => {
    const probe = createSocket();
    probe.once('error', resolve);
    probe.listen(port, () => probe.close(() => resolve(null)));
  });

/** Ends the process where something listens on the port. `setting` says in which file it can be changed. */
export async function requireFreePort(port: number, setting: string): Promise<void> {
  if ((await tryPort(port))?.code === 'EADDRINUSE') endForTakenPort(port, setting);
}

/** Where the backend is called, wherever the page comes from; the socket has rules of its own. */
const backendPaths = backendSegments.filter((segment) => segment !== 'app').map((segment) => `/${segment}`);

const isHere = (target: string) => /^(localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(target).hostname);

/** The origin that an environment variable names. Throws an Error with the cure. */
function originIn(name: 'BACKEND_URL' | 'REVERB_URL' | 'HOST_ORIGIN'): string | undefined {
  const text = process.env[name]?.trim();
  if (!text) return undefined;
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.href === `${url?.origin}/`) return url.origin;
  throw new Error(`${name}="${text}" must be an address like https://staging.example, without path, name or password`);
}

/**
 * Hands the backend's paths to the running product; the socket to the Reverb that REVERB_URL names, if it does. A product on this
 * machine is called under this page's own host, or changes would be refused as another site's; one elsewhere answers to its own
 * name only, and is called as its own page would.
 */
export function backendProxy() {
  const target = originIn('BACKEND_URL') ?? 'http://localhost:3000';
  const reverb = originIn('REVERB_URL');
  const caller = isHere(target)
    ? { changeOrigin: false, xfwd: true }
    : { changeOrigin: true, headers: { origin: new URL(target).origin } };
  const socket = { target: reverb ?? target, ws: true, ...(reverb ? { changeOrigin: true, xfwd: true } : caller) };
  const calls = backendPaths.map((path) => [path, { target, ...caller }] as const);
  return { ...Object.fromEntries(calls), '/app/': socket };
}

const ownMachine = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/** Pages of these origins may read what a dev server has; HOST_ORIGIN names that of a host elsewhere. */
export function pageOrigins(): (RegExp | string)[] {
  const elsewhere = originIn('HOST_ORIGIN');
  return elsewhere ? [ownMachine, elsewhere] : [ownMachine];
}

const mayRead = (origin: string) =>
  pageOrigins().some((each) => (typeof each === 'string' ? each === origin : each.test(origin)));

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const CHANGES = '/changes';

/** Put before a remote's entry: reloads the page that runs it as soon as the dev server has another build. */
export const reloadClient = (port: number) =>
  `new EventSource(${JSON.stringify(`http://localhost:${port}${CHANGES}`)}).onmessage = () => location.reload();\n`;

/**
 * Serves what a watching compiler writes into `folder` to a deployed host that an override link has run it. Returns what is to be
 * called after each build. Ends the process where the port is taken.
 */
export function serveInside(folder: string, port: number, setting: string) {
  const pages = new Set<ServerResponse>();
  let built = () => {};
  // until then the folder has what an earlier run left there
  const firstBuild = new Promise<void>((resolve) => {
    built = resolve;
  });
  const server = createServer(async ({ url = '/', headers }, response) => {
    const { origin = '' } = headers;
    if (mayRead(origin)) response.setHeader('access-control-allow-origin', origin);
    response.setHeader('vary', 'origin');
    response.setHeader('cache-control', 'no-store');
    const { pathname } = new URL(url, 'http://localhost');
    if (pathname === CHANGES) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      pages.add(response);
      response.once('close', () => pages.delete(response));
      return;
    }
    await firstBuild;
    // the URL has no dots left that lead out of the folder, an encoded separator is a letter of the name
    const body = await readFile(join(folder, normalize(pathname))).catch(() => null);
    response
      .writeHead(body ? 200 : 404, { 'content-type': types[extname(pathname)] ?? 'application/octet-stream' })
      .end(body);
  });
  server.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EADDRINUSE') endForTakenPort(port, setting);
    throw cause;
  });
  server.listen(port, 'localhost', () =>
    console.log(`serves the remote for a deployed host at http://localhost:${port}`),
  );
  return () => {
    built();
    for (const page of pages) page.write('data: built\n\n');
  };
}

/** Of the tags that Vite writes into the page; no other code may write a tag. */
export const DEV_NONCE = 'liaozhai-dev';
/** Under it the bundler's own code loads the files of an edit. */
export const DEV_TRUSTED = 'liaozhai-dev';

/**
 * The product's policy for a remote that runs alone, so that what a library may not do fails while it is developed.
 * @throws Error for an origin in the environment that cannot be read.
 */
export function devPolicy(): string {
  const { connect, pictures } = furtherOrigins(process.env);
  return contentSecurityPolicy({
    scripts: ["'self'", `'nonce-${DEV_NONCE}'`],
    styles: [`'nonce-${DEV_NONCE}'`],
    connections: ['ws://localhost:*', 'ws://127.0.0.1:*', ...connect],
    pictures,
    fonts: [],
    trusted: [DEV_TRUSTED, 'webpack-dev-server#overlay', "'allow-duplicates'"],
  });
}

/** The page of a remote that runs alone, around what its bundler has to say in the head. */
export const standAlonePage = (label: string, head: string) => `<!doctype html>
<html lang="zh-CN">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<title>${label} · 聊斋</title>
${head}
</head>
<body><div id="root"></div></body>
</html>
`;
