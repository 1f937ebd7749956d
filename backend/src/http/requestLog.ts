import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import type { Log } from '../log.ts';
import type { AppEnv } from './http.ts';

const sound = /^[\w-]{8,64}$/;

/**
 * Gives every request an id, the page's or the front server's if it has one, and answers with it; logs one line a request, without
 * query and body, since those hold what readers write.
 */
export const requestLog = (log: Log) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const from = performance.now();
    const given = c.req.header('x-request-id') ?? '';
    const requestId = sound.test(given) ? given : randomUUID();
    c.set('requestId', requestId);
    c.header('X-Request-Id', requestId);
    await next();
    const ms = Math.round(performance.now() - from);
    const user = c.get('identity')?.user.id;
    log.info({ requestId, method: c.req.method, path: c.req.path, status: c.res.status, ms, user }, 'request');
  });
