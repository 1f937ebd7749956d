// Shared by the development servers of Rsbuild, webpack and Vite; imports none of the three.
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { createServer as createSocket } from 'node:net';
import { extname, join, normalize } from 'node:path';
import type { RsbuildConfig, RsbuildPlugin } from '@rsbuild/core';
import { backendSegments } from '../contract/addresses.ts';
import { contentSecurityPolicy, furtherOrigins } from '../contract/policy.ts';

/** Default port of a remote's development server. */
export const DEV_PORT = 3101;

/** Ends a dev server whose port is in use, with one line instead of a stack trace. */
export function exitForUsedPort(port: number, setting: string): never {
  console.error(`Port ${port} is taken: stop what listens there, or change ${setting}.`);
  process.exit(1);
}

/** Ends the process if the port is in use. `setting` names where to change it. */
export async function requireFreePort(port: number, setting: string): Promise<void> {
  const problem = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
    const probe = createSocket().once('error', resolve);
    probe.listen(port, () => probe.close(() => resolve(null)));
  });
  if (problem?.code === 'EADDRINUSE') exitForUsedPort(port, setting);
}

/** Proxied paths of the backend; the socket has separate rules. */
const backendPaths = backendSegments.filter((segment) => segment !== 'app').map((segment) => `/${segment}`);

const localOrigins = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/** The origin in an environment variable. Throws an `Error` that states the expected form. */
function readOrigin(name: 'BACKEND_URL' | 'REVERB_URL' | 'HOST_ORIGIN'): string | undefined {
  const text = process.env[name]?.trim();
  if (!text) return undefined;
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url?.href === `${url?.origin}/`) return url.origin;
  throw new Error(`${name}="${text}" must be an address like https://staging.example, without path, name or password`);
}

/**
 * Returns proxy rules for the backend's paths and the socket (REVERB_URL, if set). A backend on this machine gets this page's
 * host, or it would refuse changes as cross-site. A remote one gets its own host and origin.
 */
export function backendProxy() {
  const target = readOrigin('BACKEND_URL') ?? 'http://localhost:3000';
  const reverb = readOrigin('REVERB_URL');
  const options = localOrigins.test(target)
    ? { changeOrigin: false, xfwd: true }
    : { changeOrigin: true, headers: { origin: new URL(target).origin } };
  const socket = { target: reverb ?? target, ws: true, ...(reverb ? { changeOrigin: true, xfwd: true } : options) };
  const backendRules = backendPaths.map((path) => [path, { target, ...options }] as const);
  return { ...Object.fromEntries(backendRules), '/app/': socket };
}

/** Origins whose pages may read from a dev server: this machine's and HOST_ORIGIN. */
export function pageOrigins(): (RegExp | string)[] {
  const hostOrigin = readOrigin('HOST_ORIGIN');
  return hostOrigin ? [localOrigins, hostOrigin] : [localOrigins];
}

const contentTypes: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const CHANGES_PATH = '/changes';

/** Code in front of a remote's entry that reloads the page after each build of the dev server. */
export const reloadClient = (port: number) =>
  `new EventSource(${JSON.stringify(`http://localhost:${port}${CHANGES_PATH}`)}).onmessage = () => location.reload();\n`;

/**
 * Serves the output of a watching compiler to a deployed host with an override link. Returns the function to call after each
 * build. Ends the process if the port is in use.
 */
export function serveInside(folder: string, port: number, setting: string) {
  const openPages = new Set<ServerResponse>();
  let reportFirstBuild = () => {};
  // until then the folder contains the output of an earlier run
  const firstBuild = new Promise<void>((resolve) => {
    reportFirstBuild = resolve;
  });
  const server = createServer(async ({ url = '/', headers }, response) => {
    const { origin = '' } = headers;
    const isAllowed = pageOrigins().some((each) => (typeof each === 'string' ? each === origin : each.test(origin)));
    if (isAllowed) response.setHeader('access-control-allow-origin', origin);
    response.setHeader('vary', 'origin');
    response.setHeader('cache-control', 'no-store');
    const { pathname } = new URL(url, 'http://localhost');
    if (pathname === CHANGES_PATH) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      openPages.add(response);
      response.once('close', () => openPages.delete(response));
      return;
    }
    await firstBuild;
    // the URL contains no `..` any more, and an encoded separator is part of a file name
    const body = await readFile(join(folder, normalize(pathname))).catch(() => null);
    response
      .writeHead(body ? 200 : 404, { 'content-type': contentTypes[extname(pathname)] ?? 'application/octet-stream' })
      .end(body);
  });
  server.on('error', (cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EADDRINUSE') exitForUsedPort(port, setting);
    throw cause;
  });
  server.listen(port, 'localhost', () =>
    console.log(`serves the remote for a deployed host at http://localhost:${port}`),
  );
  return () => {
    reportFirstBuild();
    for (const page of openPages) page.write('data: built\n\n');
  };
}

/** For the tags that Vite adds to the page; no other code may add a tag. */
export const DEV_NONCE = 'liaozhai-dev';
/** Trusted Types policy with which the bundler's code loads updated files. */
export const DEV_TRUSTED = 'liaozhai-dev';

/**
 * Returns the product's content security policy for a remote that runs alone, so that violations show during development. Throws
 * an `Error` for an invalid origin in the environment.
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

/** Page of a remote that runs alone; `head` contains the bundler's tags. */
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

const routesFile = /[\\/]src[\\/]routes\.[jt]sx?$/;

/** Whether this file is the remote's routes and imports the texts next to it. */
export const importsTexts = (file: string, code: string): boolean =>
  routesFile.test(file) && /from\s*['"]\.\/texts(\.\w+)?['"]/.test(code);

/**
 * Makes routes accept edits of their texts, which otherwise reload the page, since no component is in between. Components show new
 * texts immediately; a title changes with the next load.
 */
const pluginHotTexts: RsbuildPlugin = {
  name: 'liaozhai:hot-texts',
  setup(api) {
    api.transform({ test: routesFile }, ({ code, resourcePath }) =>
      importsTexts(resourcePath, code) ? `${code}\nimport.meta.webpackHot?.accept('./texts');\n` : code,
    );
  },
};

/** Settings of a dev server that shows edits without a reload. */
export const hotReload: RsbuildConfig = {
  // no hash: a changed stylesheet must replace the loaded one under the same name
  output: { filename: { js: '[name].js', css: '[name].css' } },
  plugins: [pluginHotTexts],
};
