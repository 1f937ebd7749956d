import { type Releases, renderPage, routeAt } from '@liaozhai/releases';
import { hostRoutePaths, matchRoute, type PageSet, paths } from '@liaozhai/shared/contract';
import { type Context, Hono } from 'hono';
import { compressed } from './compressed.ts';
import { chooseOverride, knownVisitor, overrideOf, visitorOf } from './cookies.ts';
import type { ServerEnv } from './env.ts';
import { isHttps } from './forwarded.ts';
import { headOf } from './head.ts';
import { prerendered, shareCard } from './prerendered.ts';

export interface PageOptions {
  releases: Releases;
  env: Pick<ServerEnv, 'IMG_ORIGINS' | 'CONNECT_ORIGINS' | 'TRUST_PROXY'>;
  config: Record<string, unknown>;
  backendUrl: () => string;
}

const isFile = /\.[a-z0-9]{2,11}$/i;
const hostRoutes = Object.values(hostRoutePaths).map((path) => ({ path }));

const isScreen = (pageSet: PageSet, path: string) =>
  matchRoute(hostRoutes, path) !== undefined || routeAt(pageSet, path) !== undefined;

/** The address as the visitor typed it. */
function addressOf(context: Context, secure: boolean): string {
  const url = new URL(context.req.url);
  if (secure) url.protocol = 'https:';
  return url.href;
}

async function answerPage(context: Context, { releases, env, config, backendUrl }: PageOptions) {
  const path = context.req.path;
  const secure = isHttps(context, env.TRUST_PROXY);
  const page = await releases.pageFor({ id: visitorOf(context, secure), override: overrideOf(context) });
  const known = isScreen(page.pageSet, path);
  const at = path === hostRoutePaths.root ? paths.explore() : path;
  const screen = [releases, page.pageSet, at, backendUrl()] as const;
  const head = headOf(addressOf(context, secure), routeAt(page.pageSet, at)?.title, await shareCard(...screen));
  const { html, headers } = renderPage({
    ...page,
    ...(await prerendered(...screen, new URL(context.req.url).searchParams)),
    ...head,
    path: at,
    config,
    connectSrc: env.CONNECT_ORIGINS,
    imgOrigins: env.IMG_ORIGINS,
    https: secure,
  });
  const { etag, body, encoding } = compressed(html, context.req.header('accept-encoding') ?? '');
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
  context.header('etag', etag);
  context.header('vary', 'Accept-Encoding, Cookie');
  if (encoding) context.header('content-encoding', encoding);
  if (context.req.header('if-none-match') === etag) return context.body(null, 304);
  return context.body(new Uint8Array(body), known ? 200 : 404);
}

/** A file's name that no screen goes by: a story's id may have a dot, too. */
async function isMissingFile(context: Context, releases: Releases): Promise<boolean> {
  const { path } = context.req;
  if (!isFile.test(path)) return false;
  const { pageSet } = await releases.pageFor({ id: knownVisitor(context) ?? '', override: overrideOf(context) });
  return !isScreen(pageSet, path);
}

/** Every navigation: the page of the visitor's set, rendered from the host build's template. */
export function pageRoutes(options: PageOptions): Hono {
  return new Hono().get('*', async (context, next) => {
    if (await isMissingFile(context, options.releases)) return next();
    const override = context.req.query('override');
    if (override !== undefined && chooseOverride(context, override, isHttps(context, options.env.TRUST_PROXY))) {
      const target = new URL(context.req.url);
      target.searchParams.delete('override');
      return context.redirect(`${target.pathname}${target.search}`, 302);
    }
    return answerPage(context, options);
  });
}
