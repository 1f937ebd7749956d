import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serve } from '@hono/node-server';
import type { Metrics } from '@liaozhai/telemetry/metrics';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { Catalog } from '../../src/builds/catalog.ts';
import { contentType } from '../../src/builds/publish.ts';
import { hasCode, messageOf, usage } from '../../src/errors.ts';
import { chooseSmoke, type SmokeMode } from '../../src/gate/smoke.ts';
import { sha256Hex } from '../../src/model/signing.ts';
import { type SiteOf, sitesFrom } from '../../src/operations/override.ts';
import { createToken } from '../../src/operations/tokens.ts';
import { DEFAULT_STORE, openStore, requireKey, requirePublicKey } from '../../src/store/store.ts';
import { createApi } from './api.ts';
import { ConsoleContext, type ConsoleCounters, consoleCounters } from './ConsoleContext.ts';
import { createSignIn, noSignIn, type SignInSettings } from './signIn.ts';
import { startWatch } from './watch.ts';

const DEFAULT_PORT = 3001;

export interface StartConsoleOptions {
  store?: string;
  channel?: string;
  /** 0 = a free one; default 3001. */
  port?: number;
  /** Default: loopback only. */
  host?: string;
  smoke?: SmokeMode;
  /** Lets people sign in at an OpenID provider beside tokens. */
  signIn?: SignInSettings | null;
  /** Where people reach the console, if not at this machine's own port. */
  publicOrigin?: string;
  /** Where a channel is served; what RELEASES_SITE says if left out. */
  siteOf?: SiteOf;
  /** Makes a manager token for this machine that ends after a week, and the link that carries it. */
  localToken?: boolean;
  note?: (line: string) => void;
  /** What this process counts into; whoever opened it closes it. */
  metrics?: Metrics | null;
}

export interface RunningConsole {
  origin: string;
  /** Opens the console signed in; without localToken the bare origin. */
  link: string;
  close: () => Promise<void>;
}

async function localLink(context: ConsoleContext, origin: string, wanted: boolean | undefined): Promise<string> {
  if (!wanted) return origin;
  const request = { grant: 'manager', label: 'local console', by: 'npm start', days: 7 };
  const { token } = await createToken(context.options.store, context.options.key, request);
  return `${origin}/#token=${token}`;
}

/** Throws usage where the provider could not be told where to send people back. */
function publicOriginOf({ publicOrigin, port = DEFAULT_PORT }: StartConsoleOptions): string {
  if (publicOrigin) return new URL(publicOrigin).origin;
  if (port === 0) throw usage('CONSOLE_ORIGIN is missing', 'Signing in needs it, or a fixed CONSOLE_PORT.');
  return `http://localhost:${port}`;
}
/** Counts each request by the route that answered it. */
const countRequests = ({ countRequest }: ConsoleCounters) =>
  createMiddleware(async (context, next) => {
    const from = performance.now();
    await next();
    const pattern = routePath(context);
    countRequest({
      service: 'console',
      method: context.req.method,
      route: pattern.startsWith('/v1') ? pattern : 'page',
      status: context.res.status,
      seconds: (performance.now() - from) / 1000,
    });
  });

/** Starts the console and its API on an origin of their own. Throws refused when the store or its key is missing. */
export async function startConsole(options: StartConsoleOptions = {}): Promise<RunningConsole> {
  const url = options.store ?? DEFAULT_STORE;
  const note = options.note ?? ((line: string) => process.stderr.write(`${line}\n`));
  const opened = await openStore(url);
  await requirePublicKey(opened.store);
  const key = await requireKey(opened);
  const { store } = opened;
  const mode = options.smoke ?? 'auto';
  const smokeFor = (channel: string) => chooseSmoke({ mode, store: url, channel, environment: process.env, note });
  const signIn = options.signIn
    ? createSignIn({ settings: options.signIn, store, key, origin: publicOriginOf(options), note })
    : null;
  const counters = options.metrics ? consoleCounters(options.metrics) : null;
  const context = new ConsoleContext({
    store,
    catalog: new Catalog(store),
    key,
    channel: options.channel ?? 'production',
    smokeFor,
    signIn,
    siteOf: options.siteOf ?? sitesFrom(process.env.RELEASES_SITE),
    counters,
  });
  const app = new Hono();
  if (counters) app.use(countRequests(counters));
  app.route('/v1', createApi(context));
  app.route('/auth', signIn?.routes ?? noSignIn());
  app.route('/', await pageFiles(await buildPage()));
  app.onError((cause, answer) => {
    note(`console: ${messageOf(cause)}`);
    return answer.json({ message: 'the console failed; its log says why', cure: '', details: [] }, 500);
  });
  const server = serve({ fetch: app.fetch, hostname: options.host ?? '127.0.0.1', port: options.port ?? DEFAULT_PORT });
  await Promise.race([once(server, 'listening'), once(server, 'error').then(([cause]) => Promise.reject(cause))]);
  const { port } = server.address() as AddressInfo;
  const origin = `http://localhost:${port}`;
  const stopWatch = startWatch(context, (cause) => note(`console: ${messageOf(cause)}`));
  const close = async () => {
    stopWatch();
    const closed = once(server, 'close');
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
    await closed;
  };
  return { origin, link: await localLink(context, origin, options.localToken), close };
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMP = '.sources';

const PAGE_FOLDER = join(ROOT, 'dist');

const IS_SOURCE = /\.(?:tsx?|css|html)$/;
/** The oldest browsers that the page is compiled for. */
const FLOOR = join(ROOT, '../../shared/src/build/floor.ts');
const IS_TEST = /\.test\.tsx?$|^Gallery\./;

async function sourcesBelow(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  return names
    .filter((name) => IS_SOURCE.test(name) && !IS_TEST.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/** Of the page itself, of the kit it is made with, and of the versions of React it carries. */
async function sourceHash(): Promise<string> {
  const kit = dirname(fileURLToPath(import.meta.resolve('@liaozhai/shared/ui')));
  const packages = ['react', 'react-dom'].map((name) => fileURLToPath(import.meta.resolve(`${name}/package.json`)));
  const own = await sourcesBelow(join(ROOT, 'src'));
  const files = [...own, ...(await sourcesBelow(kit)), join(ROOT, 'rsbuild.config.ts'), FLOOR, ...packages];
  const contents = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return sha256Hex(files.map((file, at) => `${basename(file)}\n${contents[at]}`).join('\n'));
}

const builtFrom = (): Promise<string> =>
  readFile(join(PAGE_FOLDER, STAMP), 'utf8').catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT')) return '';
    throw cause;
  });

/** Builds the console's page unless it was built from these very sources. */
export async function buildPage(): Promise<string> {
  const hash = await sourceHash();
  if ((await builtFrom()) === hash) return PAGE_FOLDER;
  const { createRsbuild, loadConfig } = await import('@rsbuild/core');
  const { content } = await loadConfig({ cwd: ROOT });
  const rsbuild = await createRsbuild({ cwd: ROOT, config: { ...content, logLevel: 'error' } });
  const { close } = await rsbuild.build();
  await close();
  await writeFile(join(PAGE_FOLDER, STAMP), hash);
  return PAGE_FOLDER;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const ABSENT = { message: 'there is no such page', cure: 'The console is at /, its API below /v1/.', details: [] };

async function readFiles(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT')) return [];
    throw cause;
  });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(
      files.map(async (file): Promise<[string, Buffer]> => [file.slice(folder.length), await readFile(file)]),
    ),
  );
}

/** The console's page, from memory: what was not there at the start cannot be asked for. */
export async function pageFiles(folder: string): Promise<Hono> {
  const files = await readFiles(folder);
  const page = new Hono();
  page.get('*', (context, next) => {
    const path = context.req.path === '/' ? '/index.html' : context.req.path;
    const body = files.get(path);
    if (!body) return next();
    return context.body(new Uint8Array(body), 200, {
      ...HEADERS,
      'content-type': contentType(path) ?? 'application/octet-stream',
    });
  });
  return page.all('*', (context) => context.json(ABSENT, 404, HEADERS));
}
