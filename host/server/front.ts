import type { HttpBindings } from '@hono/node-server';
import { isFresh } from '@liaozhai/http/negotiation';
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

export const isHttps = (context: FrontContext): boolean => context.get('source').scheme === 'https';

/** Bytes that many requests share. */
export interface StoredAnswer {
  status?: 200 | 404;
  headers: Record<string, string>;
  body: Buffer;
}

/** Answers with stored bytes, or with 304. Hono's `context.body` would validate and sort the headers for each request. */
export function sendStored({ env }: FrontContext, { status = 200, headers, body }: StoredAnswer): Response {
  const isKnown = status === 200 && headers.etag && isFresh(env.incoming.headers, headers.etag);
  // the bytes of a file or a page are in no memory that threads share
  return isKnown
    ? new Response(null, { status: 304, headers })
    : new Response(body as Buffer<ArrayBuffer>, { status, headers });
}
