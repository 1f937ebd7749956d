import type { HttpBindings } from '@hono/node-server';
import { type Source, sourceOf } from '@liaozhai/http/source';
import type { Context, MiddlewareHandler } from 'hono';

/** What every route of this server knows of a request. */
export interface FrontEnv {
  Bindings: HttpBindings;
  Variables: { source: Source };
}

export type FrontContext = Context<FrontEnv>;

/** For health checks over HTTP/1.0, which name no host. */
export const UNNAMED_HOST = 'localhost';

/** The one place that reads from where a visitor came: links, cookies, reports and rate limits all count on it. */
export const withSource =
  (trustsProxy: boolean): MiddlewareHandler<FrontEnv> =>
  async (context, next) => {
    const source = sourceOf(context.env.incoming, trustsProxy);
    context.set('source', { ...source, host: source.host || UNNAMED_HOST });
    await next();
  };

/** Whether the visitor came by https. */
export const isHttps = ({ var: { source } }: FrontContext): boolean => source.scheme === 'https';
