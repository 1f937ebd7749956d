import { createHash } from 'node:crypto';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { escapeHtml, type Releases, renderPage, routeAt, type VisitorPage } from '@liaozhai/releases';
import { API_BASE, hostRoutePaths, matchRoute, PAGE_ELEMENTS, type PageSet, paths } from '@liaozhai/shared/contract';
import { currentTrace } from '@liaozhai/telemetry/tracing';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { chooseOverride, isHttps, knownVisitor, overrideOf, visitorOf } from './cookies.ts';
import type { ServerEnv } from './env.ts';
import { agreeToLocal, askForLocal, endLocal, isLocalOverride, localRemotesOf } from './localRemotes.ts';
import { type FrontCounters, incomingOf, nameRoute } from './telemetry.ts';

export interface PageOptions {
  releases: Releases;
  env: Pick<ServerEnv, 'IMG_ORIGINS' | 'CONNECT_ORIGINS' | 'LOCAL_REMOTES' | 'TRUST_PROXY' | 'VITALS_SAMPLE'>;
  config: Record<string, unknown>;
  backendUrl: () => string;
  counters?: FrontCounters | null;
}

const isFile = /\.[a-z0-9]{2,11}$/i;
const hostRoutes = Object.values(hostRoutePaths).map((path) => ({ path }));

/** The pattern of the screen at a path, such as `/story/:id`. */
const screenPattern = (pageSet: PageSet, path: string): string | undefined =>
  (matchRoute(hostRoutes, path) ?? routeAt(pageSet, path))?.path;

/** The address as the visitor typed it. */
function addressOf(context: Context, secure: boolean): string {
  const url = new URL(context.req.url);
  if (secure) url.protocol = 'https:';
  return url.href;
}

/** The visitor's page, with what its browser runs from dev servers. */
async function pageOf(context: Context, options: PageOptions, secure: boolean): Promise<VisitorPage> {
  const { releases } = options;
  const page = await releases.pageFor({ id: visitorOf(context, secure), override: overrideOf(context) });
  const local = await localRemotesOf(context, options);
  if (!local) return page;
  const [expires = local.expires] = [local.expires, page.pageSet.override?.expires ?? local.expires].sort();
  const override = { ...local, id: page.pageSet.override?.id ?? 'local', expires };
  return { ...page, pageSet: { ...page.pageSet, override } };
}

const groupOf = ({ override, candidate }: PageSet) => (override ? 'override' : candidate ? 'candidate' : 'stable');

const prerenderedIn = ({ first, data }: PrerenderedPage) => (data ? 'content' : first ? 'frame' : 'nothing');

async function answerPage(context: Context, options: PageOptions) {
  const { releases, env, config, backendUrl, counters } = options;
  const path = context.req.path;
  const secure = isHttps(context, env.TRUST_PROXY);
  const page = await pageOf(context, options, secure);
  const pattern = screenPattern(page.pageSet, path);
  nameRoute(incomingOf(context), pattern ?? 'no such page');
  const at = path === hostRoutePaths.root ? paths.explore() : path;
  const screen = [releases, page.pageSet, at, backendUrl()] as const;
  const head = headOf(addressOf(context, secure), routeAt(page.pageSet, at)?.title, await shareCard(...screen));
  const content = await prerendered(...screen, new URL(context.req.url).searchParams);
  counters?.pages.inc({ group: groupOf(page.pageSet), prerendered: prerenderedIn(content) });
  const { html, headers } = renderPage({
    ...page,
    ...content,
    ...head,
    path: at,
    config: { ...config, vitals: { sample: env.VITALS_SAMPLE } },
    connectSrc: env.CONNECT_ORIGINS,
    imgOrigins: env.IMG_ORIGINS,
    https: secure,
  });
  const { etag, body, encoding } = compressed(html, context.req.header('accept-encoding') ?? '');
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
  context.header('etag', etag);
  const trace = currentTrace();
  // a header, since the page's bytes are the same for many visitors
  if (trace) context.header('server-timing', `traceparent;desc="${trace.traceparent}"`);
  context.header('vary', 'Accept-Encoding, Cookie');
  if (encoding) context.header('content-encoding', encoding);
  if (context.req.header('if-none-match') === etag) return context.body(null, 304);
  return context.body(new Uint8Array(body), pattern ? 200 : 404);
}

/** A file's name that no screen goes by: a story's id may have a dot, too. */
async function isMissingFile(context: Context, releases: Releases): Promise<boolean> {
  const { path } = context.req;
  if (!isFile.test(path)) return false;
  const { pageSet } = await releases.pageFor({ id: knownVisitor(context) ?? '', override: overrideOf(context) });
  return screenPattern(pageSet, path) === undefined;
}

/** Every navigation: the page of the visitor's set, rendered from the host build's template. */
export function pageRoutes(options: PageOptions): Hono {
  const app = new Hono();
  app.post('*', bodyLimit({ maxSize: 4096 }), async (context, next) => {
    const override = context.req.query('override') ?? '';
    return isLocalOverride(override) ? agreeToLocal(context, override, options) : next();
  });
  return app.get('*', async (context, next) => {
    if (await isMissingFile(context, options.releases)) return next();
    const override = context.req.query('override');
    const secure = isHttps(context, options.env.TRUST_PROXY);
    if (override === 'local')
      return context.json(await localRemotesOf(context, options), 200, { 'cache-control': 'no-store' });
    if (override && isLocalOverride(override)) return askForLocal(context, override, options);
    if (override === 'off') endLocal(context, secure);
    if (override !== undefined && chooseOverride(context, override, secure)) {
      const target = new URL(context.req.url);
      target.searchParams.delete('override');
      return context.redirect(`${target.pathname}${target.search}`, 302);
    }
    return answerPage(context, options);
  });
}

const appName = '聊斋';
const about: ShareCard = {
  title: appName,
  description: '互动故事与聊天：在聊斋里读一个故事，再走进去，和里面的人说说话。',
  image: '/icon-512.png',
};

/** Programs that draw link cards read no SVG. */
const drawable = (image: string) => (/\.svg(\?|$)/.test(image) ? about.image : image);

/**
 * The document's title, and the tags by which search engines and chat apps show a link to it.
 * `address` is the page's own, which the card's image counts from.
 */
function headOf(address: string, routeTitle: string | undefined, card: ShareCard | null) {
  const subject = card?.title ?? routeTitle;
  const { title, description, image } = card ?? { ...about, title: subject ?? appName };
  const { origin, pathname } = new URL(address);
  const tag = (attribute: 'name' | 'property', key: string, value: string) =>
    `<meta ${attribute}="${key}" content="${escapeHtml(value)}">`;
  const meta = [
    tag('name', 'description', description),
    tag('property', 'og:site_name', appName),
    tag('property', 'og:type', card ? 'article' : 'website'),
    tag('property', 'og:title', title),
    tag('property', 'og:description', description),
    tag('property', 'og:url', `${origin}${pathname}`),
    tag('property', 'og:image', new URL(drawable(image), origin).href),
  ];
  return { title: subject ? `${subject} · ${appName}` : appName, meta: meta.join('\n') };
}

interface CompressedBody {
  etag: string;
  body: Buffer;
  encoding: 'br' | 'gzip' | null;
}

const KEPT_PAGES = 200;
const compressedPages = new Map<string, Buffer>();

function compress(text: string, encoding: 'br' | 'gzip'): Buffer {
  if (encoding === 'gzip') return gzipSync(text);
  return brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 6, [constants.BROTLI_PARAM_SIZE_HINT]: text.length },
  });
}

/** Compresses a page once per content; most visitors get the same bytes. */
function compressed(text: string, accept: string): CompressedBody {
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 27);
  const encoding = /\bbr\b/.test(accept) ? 'br' : /\bgzip\b/.test(accept) ? 'gzip' : null;
  const etag = `"${hash}${encoding ? `-${encoding}` : ''}"`;
  if (!encoding) return { etag, body: Buffer.from(text), encoding };
  const body = compressedPages.get(etag) ?? compress(text, encoding);
  compressedPages.delete(etag);
  compressedPages.set(etag, body);
  const oldest = compressedPages.keys().next().value;
  if (compressedPages.size > KEPT_PAGES && oldest) compressedPages.delete(oldest);
  return { etag, body, encoding };
}

/** What stands in the page before any script runs. */
interface PrerenderedPage {
  first?: string;
  inlineCss?: { href: string; text: string }[];
  data?: { id: string; json: unknown }[];
}

/** What a shared link to the screen shows; `image` is an address of the backend's. */
interface ShareCard {
  title: string;
  description: string;
  image: string;
}

interface Template {
  html: string;
  source?: string;
  /** query parameters with which the screen shows something else */
  notWith?: string | string[];
  omit?: string[];
  /** of several images the first that the answer has */
  card?: Omit<ShareCard, 'image'> & { image: string | string[] };
}

type Answer = { data?: Record<string, unknown> | Record<string, unknown>[] };

const sourceBudgetMs = 300;
const freshMs = 5_000;
const kept = 200;
const answers = new Map<string, { at: number; answer: Promise<Answer | null> }>();

/** The public answer, asked without cookies and kept for five seconds; null if it is not there in time. */
function publicAnswer(url: string, now = Date.now()): Promise<Answer | null> {
  const known = answers.get(url);
  if (known && now - known.at < freshMs) return known.answer;
  const trace = currentTrace();
  const headers = { accept: 'application/json', ...(trace && { traceparent: trace.traceparent }) };
  const answer = fetch(url, { headers, signal: AbortSignal.timeout(sourceBudgetMs) })
    .then(async (response) => (response.ok ? ((await response.json()) as Answer) : null))
    .catch(() => null);
  answers.delete(url);
  answers.set(url, { at: now, answer });
  // any address of a story can be asked for, so the oldest goes
  const oldest = answers.keys().next().value;
  if (answers.size > kept && oldest) answers.delete(oldest);
  return answer;
}

const fieldAt = (answer: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], answer);

const shown = (value: unknown): string => (Array.isArray(value) ? value.slice(0, 3).join(' · ') : String(value));

function replaceTokens(text: string, answer: unknown, written: (value: string) => string): string | null {
  let complete = true;
  const filled = text.replace(/lz(u?)-([\w.]+)-lz/g, (_, inAddress: string, path: string) => {
    const value = fieldAt(answer, path);
    if (value === undefined || value === null) complete = false;
    return written(inAddress ? encodeURIComponent(shown(value)) : shown(value));
  });
  return complete ? filled : null;
}

/** Fills a template's tokens with escaped text; null if the answer lacks one of them. */
export const fill = (html: string, answer: unknown) => replaceTokens(html, answer, escapeHtml);

/** `/v1/stories/:id` for `/story/nie-xiaoqian` on the route `/story/:id` is `/v1/stories/nie-xiaoqian`. */
function sourceAt(source: string, routePath: string, path: string): string {
  const values = path.split('/');
  const names = routePath.split('/');
  return source.replace(/:(\w+)/g, (name) => values[names.indexOf(name)] ?? '');
}

/** Of all pictures in one page, as sent: with them it stays within the second flight of a fresh connection. */
const mostPictureBytes = 9 * 1024;
const pictureFreshMs = 300_000;
const pictures = new Map<string, { at: number; picture: Promise<Drawing | null> }>();

/** A drawing as an address that holds it whole, safe inside an attribute. */
export const drawingAddress = (svg: string) =>
  `data:image/svg+xml,${svg.replace(/\s+/g, ' ').replace(/[%#"&]/g, encodeURIComponent)}`;

interface Drawing {
  address: string;
  /** as sent */
  bytes: number;
}

/** A drawing of the backend's; null for any other picture, or where it is not there in time. */
function drawingAt(url: string, now = Date.now()): Promise<Drawing | null> {
  const known = pictures.get(url);
  if (known && now - known.at < pictureFreshMs) return known.picture;
  const picture = fetch(url, { signal: AbortSignal.timeout(sourceBudgetMs) })
    .then(async (response) => {
      if (!response.ok || !response.headers.get('content-type')?.startsWith('image/svg+xml')) return null;
      const address = drawingAddress(await response.text());
      return { address, bytes: brotliCompressSync(address).length };
    })
    .catch(() => {
      pictures.delete(url);
      return null;
    });
  pictures.delete(url);
  pictures.set(url, { at: now, picture });
  const oldest = pictures.keys().next().value;
  if (pictures.size > kept && oldest) pictures.delete(oldest);
  return picture;
}

const eagerPicture = /<img [^>]*?src="(\/api\/media\/[^"]+)"[^>]*? loading="eager"/g;

/**
 * Puts the first pictures, the largest of the screen, into the markup itself as far as they are small: they are painted
 * with the text instead of a round later. `data-src` keeps their address, by which the app knows that it has them.
 */
async function withFirstPictures(first: string, backendUrl: string): Promise<string> {
  const sources = [...new Set([...first.matchAll(eagerPicture)].map(([, src = '']) => src))];
  const addressOf = (src: string) => `${backendUrl}${src.replaceAll('&amp;', '&')}`;
  const drawings = await Promise.all(sources.map((src) => drawingAt(addressOf(src))));
  let left = mostPictureBytes;
  let html = first;
  for (const [place, src] of sources.entries()) {
    const drawing = drawings[place];
    if (!drawing || drawing.bytes > left) continue;
    left -= drawing.bytes;
    html = html
      .replace(`<link rel="preload" as="image" href="${src}" fetchPriority="high"/>`, '')
      .replaceAll(`src="${src}"`, () => `src="${drawing.address}" data-src="${src}"`);
  }
  return html;
}

const buildFolder = (entry: string) => /^\/builds\/[^/]+\/[^/]+/.exec(entry)?.[0] ?? '';

async function textOf(releases: Releases, path: string): Promise<string | null> {
  const file = await releases.file(path);
  return file ? file.body.toString('utf8') : null;
}

async function templateOf(releases: Releases, entry: string, name: string): Promise<Template | null> {
  const text = await textOf(releases, `${buildFolder(entry)}/first/${name}.json`);
  return text ? (JSON.parse(text) as Template) : null;
}

function without(answer: Answer, omit: string[]): Answer {
  const keep = (item: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(item).filter(([key]) => !omit.includes(key)));
  return Array.isArray(answer.data) ? { ...answer, data: answer.data.map(keep) } : answer;
}

/** The route at a path, what its remote has for it, and the public answer that fills it. */
async function screenAt(releases: Releases, pageSet: PageSet, path: string, backendUrl: string) {
  const route = routeAt(pageSet, path);
  const build = Object.values(pageSet.remotes).find(({ routes }) => routes.some(({ name }) => name === route?.name));
  const template = route && build ? await templateOf(releases, build.entry, route.name) : null;
  if (!route || !template?.source) return null;
  const answer = await publicAnswer(`${backendUrl}${API_BASE}${sourceAt(template.source, route.path, path)}`);
  return answer && { route, template, answer };
}

async function screenContent(
  ...[releases, pageSet, path, backendUrl, query]: Parameters<typeof prerendered>
): Promise<PrerenderedPage> {
  const screen = await screenAt(releases, pageSet, path, backendUrl);
  if (!screen || [screen.template.notWith ?? []].flat().some((name) => query.has(name))) return {};
  const filled = fill(screen.template.html, screen.answer);
  if (!filled) return {};
  const first = await withFirstPictures(filled, backendUrl);
  const styles = screen.route.preload.css.map(async (href) => ({ href, text: (await textOf(releases, href)) ?? '' }));
  const data = [{ id: PAGE_ELEMENTS.first, json: without(screen.answer, screen.template.omit ?? []) }];
  return { first, inlineCss: await Promise.all(styles), data };
}

/** The card of a link to this path, as plain text; null where there is none or the API does not answer in time. */
async function shareCard(...where: Parameters<typeof screenAt>): Promise<ShareCard | null> {
  const screen = await screenAt(...where);
  const { card } = screen?.template ?? {};
  if (!screen || !card) return null;
  const filled = (text: string) => replaceTokens(text, screen.answer, (value) => value);
  const [title, description] = [filled(card.title), filled(card.description)];
  const image = [card.image].flat().map(filled).find(Boolean);
  return title && description && image ? { title, description, image } : null;
}

/**
 * The frame and, where its remote has some, the screen's prerendered content. Outside the shell there is no frame
 * without a content. `query` is the address's own.
 */
async function prerendered(
  releases: Releases,
  pageSet: PageSet,
  path: string,
  backendUrl: string,
  query: URLSearchParams,
): Promise<PrerenderedPage> {
  const isBare = routeAt(pageSet, path)?.outsideShell ?? false;
  const frame = await templateOf(releases, pageSet.host.entry, isBare ? 'bare' : path.replaceAll('/', ''));
  if (!frame) return {};
  const screen = await screenContent(releases, pageSet, path, backendUrl, query);
  if (isBare && !screen.first) return {};
  const framed = frame.html.replace('lz-path-lz', () => escapeHtml(path));
  return { ...screen, first: framed.replace('lz-screen-lz', () => screen.first ?? '') };
}
