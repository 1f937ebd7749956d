import type { Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createHttpServer, isBrokenOff } from '@liaozhai/http/server';
import { lineOf, ReleaseError, type Releases, siteBrand } from '@liaozhai/releases';
import type { Tracing } from '@liaozhai/telemetry/tracing';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { beaconRoutes, spanRoutes } from './beacons.ts';
import type { ServerEnv } from './env.ts';
import { fileRoutes } from './files.ts';
import { type FrontEnv, UNNAMED_HOST, withSource } from './front.ts';
import { healthRoutes } from './health.ts';
import { pageRoutes } from './pages.ts';
import { createBackendProxy } from './proxy/proxy.ts';
import { createForward } from './sentry.ts';
import {
  type FrontCounters,
  gaugeLiveBuilds,
  type Log,
  nameByRoute,
  observeRequest,
  requestIdOf,
} from './telemetry.ts';
import { wellKnownRoutes } from './wellKnown.ts';

export interface ProductOptions {
  releases: Releases;
  env: ServerEnv;
  backendUrl: () => string;
  /** Seconds until a backend that ended runs again; null while it runs. */
  secondsUntilRestart?: () => number | null;
  log: Log;
  /** Metrics of this server; left out if they are not collected. */
  counters?: FrontCounters | null;
  /** Traces pages and calls; left out if spans are not collected. */
  tracing?: Tracing | null;
  /** Whether the server is about to end, so that no new visitor should be sent to it. */
  isDraining?: () => boolean;
  config: Record<string, unknown>;
}

const STORE_RETRY_SECONDS = 30;

/** The single origin that visitors see: pages, builds, beacons, and the backend behind `/api`, `/sanctum`, `/broadcasting`, `/app`. */
export function createProduct(options: ProductOptions): Server {
  const { releases, env, backendUrl, secondsUntilRestart = () => null, isDraining = () => false } = options;
  const { log, counters = null, tracing = null, config } = options;
  const brand = siteBrand(config.brand);
  if (counters) gaugeLiveBuilds(counters, releases);
  const app = new Hono<FrontEnv>();
  app.use(nameByRoute, withSource(env.TRUST_PROXY));
  app.route('/', healthRoutes({ releases, backendUrl, secondsUntilRestart, isDraining }));
  app.route('/', fileRoutes(releases, env.CHANNEL, brand));
  app.route('/', wellKnownRoutes(env));
  const { SENTRY_DSN: dsn, CHANNEL: environment } = env;
  const forward = dsn ? createForward({ dsn, environment, placeOf: (frame) => releases.placeOf(frame), log }) : null;
  app.route('/', beaconRoutes(releases, counters, log, forward));
  if (tracing) app.route('/', spanRoutes(releases, tracing));
  app.route('/', pageRoutes({ releases, env, config, backendUrl, counters, isTraced: tracing !== null }));
  app.notFound((context) => {
    const { method } = context.req;
    if (method === 'GET' || method === 'HEAD') return context.text('not found', 404);
    const headers = { allow: 'GET, HEAD, OPTIONS' };
    return method === 'OPTIONS' ? context.body(null, 204, headers) : context.text('can only be read', 405, headers);
  });
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse();
    if (isBrokenOff(context.env.incoming)) return context.body(null, 400);
    const requestId = requestIdOf(context);
    const logFields = { requestId, path: context.req.path };
    const notice = `${brand.name}暂时打不开，请稍后再试（问题编号 ${requestId}）`;
    if (error instanceof ReleaseError) {
      // an error of the store, not of this code; another state may fix it
      log.error(logFields, lineOf(error));
      return context.text(notice, 503, { 'retry-after': String(STORE_RETRY_SECONDS) });
    }
    log.error({ ...logFields, err: error }, 'unexpected error');
    return context.text(notice, 500);
  });
  const listener = getRequestListener(app.fetch, { hostname: UNNAMED_HOST });
  const { REVERB_URL: reverb, TRUST_PROXY: trustProxy } = env;
  const proxy = createBackendProxy({ ...options, backend: backendUrl, reverb, trustProxy });
  return createHttpServer(
    (request, response) => {
      observeRequest({ log, counters, tracing }, request, response, (requestId) => {
        if (proxy.web(request, response, requestId)) return;
        response.setHeader('x-request-id', requestId);
        void listener(request, response);
      });
    },
    { isSocket: proxy.isSocket, onSocket: proxy.socket },
  );
}
