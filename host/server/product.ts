import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import type { Releases } from '@liaozhai/releases';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { beaconRoutes } from './beacons.ts';
import { buildRoutes } from './builds.ts';
import type { ServerEnv } from './env.ts';
import { pageRoutes } from './pages.ts';
import { createBackendProxy } from './proxy.ts';

export interface ProductOptions {
  releases: Releases;
  env: ServerEnv;
  backendUrl: () => string;
  /** Seconds until a backend that ended runs again; null while it runs. */
  awaySeconds?: () => number | null;
  config: Record<string, unknown>;
}

/** The one origin visitors see: pages, builds, beacons, and the backend behind `/api`, `/sanctum`, `/broadcasting`, `/app`. */
export function createProduct({ releases, env, backendUrl, awaySeconds, config }: ProductOptions): Server {
  const app = new Hono();
  app.route('/', buildRoutes(releases, env.CHANNEL));
  app.route('/', beaconRoutes(releases, env.TRUST_PROXY));
  app.route('/', pageRoutes({ releases, env, config, backendUrl }));
  app.notFound((context) => context.text('not found', 404));
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse();
    console.error(error);
    return context.text('聊斋暂时打不开，请稍后再试', 500);
  });
  const listener = getRequestListener(app.fetch);
  const proxy = createBackendProxy({
    backend: backendUrl,
    awaySeconds,
    reverb: env.REVERB_URL,
    trustProxy: env.TRUST_PROXY,
  });
  // longer than a load balancer or nginx keeps an idle connection: what it sends on one that closes just then is lost
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    if (!proxy.web(request, response)) void listener(request, response);
  });
  server.on('upgrade', proxy.upgrade);
  return server;
}
