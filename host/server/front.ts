import type { HttpBindings } from '@hono/node-server';
import { type Source, sourceOf } from '@liaozhai/http/source';
import type { Context, MiddlewareHandler } from 'hono';

/** Hono environment of every route of this server. */
export interface FrontEnv {
  Bindings: HttpBindings;
  Variables: { source: Source };
}

export type FrontContext = Context<FrontEnv>;

/** Host of requests without one, such as health checks over HTTP/1.0. */
export const UNNAMED_HOST = 'localhost';

/** Determines a request's source once: links, cookies, reports and rate limits depend on it. */
export const withSource =
  (trustsProxy: boolean): MiddlewareHandler<FrontEnv> =>
  async (context, next) => {
    const source = sourceOf(context.env.incoming, trustsProxy);
    context.set('source', { ...source, host: source.host || UNNAMED_HOST });
    await next();
  };

export const isHttps = ({ var: { source } }: FrontContext): boolean => source.scheme === 'https';
