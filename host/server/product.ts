import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Releases } from '@liaozhai/releases';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { beaconRoutes } from './beacons.ts';
import { buildRoutes } from './builds.ts';
import type { ServerEnv } from './env.ts';
import { type Log, logRequest } from './log.ts';
import { pageRoutes } from './pages.ts';
import { createBackendProxy } from './proxy.ts';

export interface ProductOptions {
  releases: Releases;
  env: ServerEnv;
  backendUrl: () => string;
  /** Seconds until a backend that ended runs again; null while it runs. */
  awaySeconds?: () => number | null;
  log: Log;
  /** Whether the server is about to end, so that no new visitor should be sent to it. */
  isDraining?: () => boolean;
  config: Record<string, unknown>;
}

/** The one origin visitors see: pages, builds, beacons, and the backend behind `/api`, `/sanctum`, `/broadcasting`, `/app`. */
export function createProduct({
  releases,
  env,
  backendUrl,
  awaySeconds = () => null,
  log,
  isDraining = () => false,
  config,
}: ProductOptions): Server {
  const app = new Hono();
  app.route('/', healthRoutes({ releases, backendUrl, awaySeconds, isDraining }));
  app.route('/', buildRoutes(releases, env.CHANNEL));
  app.route('/', beaconRoutes(releases, env.TRUST_PROXY));
  app.route('/', pageRoutes({ releases, env, config, backendUrl }));
  app.notFound((context) => context.text('not found', 404));
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse();
    log.error(
      { requestId: context.req.header('x-request-id'), path: context.req.path, err: error },
      'unexpected error',
    );
    return context.text('聊斋暂时打不开，请稍后再试', 500);
  });
  const listener = getRequestListener(app.fetch);
  const proxy = createBackendProxy({
    backend: backendUrl,
    awaySeconds,
    log,
    reverb: env.REVERB_URL,
    trustProxy: env.TRUST_PROXY,
  });
  // longer than a load balancer or nginx keeps an idle connection: what it sends on one that closes just then is lost
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    logRequest(log, request, response);
    if (!proxy.web(request, response)) void listener(request, response);
  });
  server.on('upgrade', proxy.upgrade);
  return server;
}

const answerTimeoutMs = 2_000;

interface HealthOptions {
  releases: Releases;
  backendUrl: () => string;
  awaySeconds: () => number | null;
  isDraining: () => boolean;
}

/** A backend of another make has no `/readyz`; whatever it answers there it is reached. */
async function isReached(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(answerTimeoutMs);
  const answer = await fetch(`${url}/readyz`, { signal, redirect: 'manual' }).catch(() => null);
  await answer?.body?.cancel();
  return answer !== null && answer.status < 500;
}

/** `/healthz`: the process answers. `/readyz`: visitors can be sent here; if not, what is missing. */
function healthRoutes({ releases, backendUrl, awaySeconds, isDraining }: HealthOptions): Hono {
  return new Hono()
    .use(async (context, next) => {
      context.header('cache-control', 'no-store');
      await next();
    })
    .get('/healthz', (context) => context.json({ status: 'ok' }))
    .get('/readyz', async (context) => {
      if (isDraining()) return context.json({ status: 'draining' }, 503);
      const pages = await releases.pageFor({ id: '' }).then(
        () => true,
        () => false,
      );
      const backend = awaySeconds() === null && (await isReached(backendUrl()));
      const isReady = pages && backend;
      return context.json({ status: isReady ? 'ready' : 'unavailable', pages, backend }, isReady ? 200 : 503);
    });
}
