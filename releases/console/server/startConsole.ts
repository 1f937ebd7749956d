import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { Metrics } from '@liaozhai/telemetry/metrics';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { Catalog } from '../../src/builds/catalog.ts';
import { messageOf } from '../../src/errors.ts';
import { chooseSmoke, type SmokeMode } from '../../src/gate/smoke.ts';
import { createToken } from '../../src/operations/tokens.ts';
import { DEFAULT_STORE, openStore, requireKey, requirePublicKey } from '../../src/store/store.ts';
import { createApi } from './api.ts';
import { ConsoleContext, type ConsoleCounters, consoleCounters } from './ConsoleContext.ts';
import { buildPage, pageFiles } from './page.ts';
import { startWatch } from './watch.ts';

export interface StartConsoleOptions {
  store?: string;
  channel?: string;
  /** 0 = a free one; default 3001. */
  port?: number;
  /** Default: loopback only. */
  host?: string;
  smoke?: SmokeMode;
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
  const counters = options.metrics ? consoleCounters(options.metrics) : null;
  const context = new ConsoleContext({
    store,
    catalog: new Catalog(store),
    key,
    channel: options.channel ?? 'production',
    smokeFor,
    counters,
  });
  const app = new Hono();
  if (counters) app.use(countRequests(counters));
  app.route('/v1', createApi(context));
  app.route('/', await pageFiles(await buildPage()));
  app.onError((cause, answer) => {
    note(`console: ${messageOf(cause)}`);
    return answer.json({ message: 'the console failed; its log says why', cure: '', details: [] }, 500);
  });
  const server = serve({ fetch: app.fetch, hostname: options.host ?? '127.0.0.1', port: options.port ?? 3001 });
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
