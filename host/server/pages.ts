import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  brotliDecompress,
  constants,
  gzipSync,
} from 'node:zlib';
import { BoundedMap } from '@liaozhai/http/bounded-map';
import { type Encoding, encodingFor, isFresh } from '@liaozhai/http/negotiation';
import { originOf } from '@liaozhai/http/source';
import { escapeHtml, type Releases, renderPage, routeAt, siteBrand, type VisitorPage } from '@liaozhai/releases';
import {
  apiRoutes,
  type Brand,
  capabilitiesSchema,
  hostRoutePaths,
  matchRoute,
  type PageRoute,
  type PageSet,
  paths,
} from '@liaozhai/shared/contract';
import { currentTrace } from '@liaozhai/telemetry/tracing';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { safeParse } from 'valibot';
import { chooseOverride, knownVisitor, overrideOf, visitorOf } from './cookies.ts';
import type { ServerEnv } from './env.ts';
import { type FrontContext, type FrontEnv, isHttps } from './front.ts';
import {
  agreeToLocal,
  askForLocal,
  endLocal,
  isLocalOverride,
  localRemotesOf,
  sayOverrideIsOver,
  withoutOverride,
} from './localRemotes.ts';
import {
  answerInMemory,
  capabilitiesOf,
  type PrerenderedPage,
  prerendered,
  type Screen,
  type ShareCard,
  type Source,
  screenAt,
  shareCard,
} from './prerendered.ts';
import { type FrontCounters, nameRoute } from './telemetry.ts';

export interface PageOptions {
  releases: Releases;
  env: Pick<ServerEnv, 'IMG_ORIGINS' | 'CONNECT_ORIGINS' | 'DEVTOOLS' | 'LOCAL_REMOTES' | 'VITALS_SAMPLE'>;
  config: Record<string, unknown>;
  /** Whether pages report spans of their own. */
  isTraced?: boolean;
  backendUrl: () => string;
  counters?: FrontCounters | null;
}

const isFile = /\.[a-z0-9]{2,11}$/i;
const hostRoutes = Object.values(hostRoutePaths).map((path) => ({ path }));

/** The pattern of the screen at a path, such as `/story/:id`. */
const screenPattern = (pageSet: PageSet, path: string): string | undefined =>
  (matchRoute(hostRoutes, path) ?? routeAt(pageSet, path))?.path;

/** Names that a page's spans may contain: builds of its set, and patterns of its screens and calls. */
export function namesOf({ host, remotes }: PageSet): Set<string> {
  const all = Object.values(remotes).flatMap((build) => [build, build.lastGood ?? []].flat());
  const patterns = [...hostRoutes, ...apiRoutes(), ...all.flatMap(({ routes }) => routes)];
  return new Set([host.id, ...all.map(({ id }) => id), ...patterns.map(({ path }) => path)]);
}

/** The visitor's page, with the remotes that its browser runs from dev servers. */
async function pageOf(context: FrontContext, options: PageOptions): Promise<VisitorPage> {
  const { releases } = options;
  const page = await releases.pageFor({ id: visitorOf(context, isHttps(context)), override: overrideOf(context) });
  const local = await localRemotesOf(context, options);
  if (!local) return page;
  const [expires = local.expires] = [local.expires, page.pageSet.override?.expires ?? local.expires].sort();
  const override = { ...local, id: page.pageSet.override?.id ?? 'local', expires };
  return { ...page, pageSet: { ...page.pageSet, override } };
}

const groupOf = ({ override, candidate }: PageSet) => (override ? 'override' : candidate ? 'candidate' : 'stable');

const prerenderedIn = ({ first, data }: PrerenderedPage) => (data ? 'content' : first ? 'frame' : 'nothing');

/** A page ready to be sent: the same bytes for every visitor of its set. */
interface ReadyPage {
  status: 200 | 404;
  headers: Record<string, string> & { etag: string };
  body: Buffer;
  /** Whether it can be compressed further. */
  isLoose: boolean;
  /** The screen's pattern, and the page's metric labels. */
  pattern: string;
  counted: { group: string; prerendered: string };
  /** The backend's responses that the page was filled with. */
  sources: Source[];
  /** expiry by `performance.now` */
  until: number;
}

const sourceOf = (screen: Screen | null): Source[] =>
  screen?.address ? [{ address: screen.address, answer: screen.answer }] : [];

const areSame = (some: Source[], others: Source[] = []): boolean =>
  some.length === others.length &&
  some.every(({ address, answer }, at) => address === others[at]?.address && answer === others[at]?.answer);

const KEPT_PAGES = 200;
/** Bounds the compression to a fifth of a thread, for any number of requested addresses. */
const RESTS_PER_PACKING = 4;

/** Caches recently sent pages, each until its set or the backend's responses change. */
function createPageCache() {
  const cache = new BoundedMap<string, ReadyPage>(KEPT_PAGES);
  let packsFrom = 0;
  /** Compresses a page better when it is requested again: a tenth smaller, in some 40 ms of another thread. */
  const packSmall = async (ready: ReadyPage) => {
    const from = performance.now();
    packsFrom = Number.POSITIVE_INFINITY;
    ready.isLoose = false;
    // on failure the page stays as it was
    ready.body = await packedSmall(ready.body).catch(() => ready.body);
    packsFrom = from + (performance.now() - from) * (1 + RESTS_PER_PACKING);
  };
  const numbers = new WeakMap<VisitorPage, number>();
  let last = 0;
  const keyOf = (page: VisitorPage, { address, encoding, isBare }: AskedPage) => {
    const number = numbers.get(page) ?? ++last;
    numbers.set(page, number);
    return `${number} ${encoding} ${isBare} ${address}`;
  };
  return {
    get(page: VisitorPage, asked: AskedPage): ReadyPage | undefined {
      const ready = cache.get(keyOf(page, asked));
      if (!ready || ready.until <= performance.now()) return undefined;
      if (ready.isLoose && performance.now() >= packsFrom) void packSmall(ready);
      return ready;
    },
    set(page: VisitorPage, asked: AskedPage, ready: ReadyPage) {
      cache.set(keyOf(page, asked), ready);
    },
  };
}

interface AskedPage {
  /** Origin and path, without the query. */
  address: string;
  encoding: Encoding;
  /** Whether the query selects something else than the screen's content. */
  isBare: boolean;
}

type PageCache = ReturnType<typeof createPageCache>;

async function answerPage(context: FrontContext, options: PageOptions, cache: PageCache) {
  const page = await pageOf(context, options);
  const ready = cachedPage(context, page, cache) ?? (await newPage(context, page, options, cache));
  const { headers } = ready;
  nameRoute(context.env.incoming, ready.pattern);
  options.counters?.pages.inc(ready.counted);
  for (const [name, value] of Object.entries(headers)) context.header(name, value);
  const timing = serverTiming();
  if (timing) context.header('server-timing', timing);
  if (ready.status === 200 && isFresh(context.env.incoming.headers, headers.etag)) return context.body(null, 304);
  return context.body(new Uint8Array(ready.body), ready.status);
}

/** The parts of a request that determine the bytes of its page. */
const askedPage = (context: FrontContext) => ({
  address: `${originOf(context.var.source)}${context.req.path}`,
  encoding: encodingFor(context.req.header('accept-encoding')),
});

/** The cached page of an address without a query, if the backend's last responses are unchanged. */
function cachedPage(context: FrontContext, page: VisitorPage, cache: PageCache): ReadyPage | undefined {
  if (new URL(context.req.url).search) return undefined;
  const ready = cache.get(page, { ...askedPage(context), isBare: false });
  const isCurrent = ready?.sources.every(({ address, answer }) => answerInMemory(address) === answer);
  return isCurrent ? ready : undefined;
}

async function newPage(context: FrontContext, page: VisitorPage, options: PageOptions, cache: PageCache) {
  const { path } = context.req;
  const { searchParams } = new URL(context.req.url);
  const at = path === hostRoutePaths.root ? paths.explore() : path;
  const [screen, capabilities] = await Promise.all([
    screenAt(options.releases, page.pageSet, at, options.backendUrl()),
    capabilitiesOf(options.backendUrl()),
  ]);
  const isBare = [screen?.template.notWith ?? []].flat().some((name) => searchParams.has(name));
  const request: AskedPage = { ...askedPage(context), isBare };
  const cached = cache.get(page, request);
  const sources = [...sourceOf(screen), capabilities];
  const secure = isHttps(context);
  const made = { ...request, path, at, screen, offer: capabilities.answer, sources, secure };
  const ready = cached && areSame(sources, cached.sources) ? cached : await makeReady(options, page, made);
  cache.set(page, request, ready);
  return ready;
}

/** The trace goes into a header, since the page's bytes are the same for many visitors. */
function serverTiming(): string | undefined {
  const trace = currentTrace();
  return trace && `traceparent;desc="${trace.traceparent}"`;
}

interface MadePage extends AskedPage {
  path: string;
  /** The path whose screen is shown. */
  at: string;
  screen: Screen | null;
  /** The backend's capabilities, with its prices. */
  offer: Source['answer'];
  sources: Source[];
  secure: boolean;
}

async function makeReady(
  { releases, env, config, isTraced }: PageOptions,
  page: VisitorPage,
  { address, encoding, isBare, path, at, screen, offer, sources, secure }: MadePage,
): Promise<ReadyPage> {
  const pattern = screenPattern(page.pageSet, path);
  const head = headOf(
    siteBrand(config.brand),
    new URL(address).origin,
    at,
    routeAt(page.pageSet, at),
    screen && shareCard(screen),
  );
  const content = await prerendered(releases, page.pageSet, at, isBare ? null : screen);
  const { html, headers } = renderPage({
    ...page,
    ...content,
    ...head,
    path: at,
    config: {
      ...config,
      vitals: { sample: env.VITALS_SAMPLE },
      ...(env.DEVTOOLS && { devTools: true }),
      ...(isTraced && { spans: true }),
      capabilities: offer?.data,
      ...pricesIn(offer),
    },
    connectSrc: env.CONNECT_ORIGINS,
    imgOrigins: env.IMG_ORIGINS,
    https: secure,
  });
  const isPlain = encoding === 'identity';
  const status = pattern ? 200 : 404;
  const hash = createHash('sha256').update(html).digest('base64url').slice(0, 27);
  const body = isPlain ? Buffer.from(html) : compress(html, encoding);
  const sent = {
    ...headers,
    etag: `"${hash}${isPlain ? '' : `-${encoding}`}"`,
    vary: 'Accept-Encoding, Cookie',
    ...(isPlain ? {} : { 'content-encoding': encoding }),
  };
  return {
    status,
    headers: sent,
    body,
    isLoose: encoding === 'br' && pattern !== undefined,
    pattern: pattern ?? 'no such page',
    counted: { group: groupOf(page.pageSet), prerendered: prerenderedIn(content) },
    sources,
    until: content.until ?? Number.POSITIVE_INFINITY,
  };
}

/** The backend's prices, which override those of the site's configuration. */
function pricesIn(offer: Source['answer']): { rules?: object } {
  const parsed = safeParse(capabilitiesSchema, offer);
  return parsed.success && parsed.output.rules ? { rules: parsed.output.rules } : {};
}

/** Whether a path is a file name and no screen's: a story's id may have a dot, too. */
async function isMissingFile(context: FrontContext, releases: Releases): Promise<boolean> {
  const { path } = context.req;
  if (!isFile.test(path)) return false;
  const { pageSet } = await releases.pageFor({ id: knownVisitor(context) ?? '', override: overrideOf(context) });
  return screenPattern(pageSet, path) === undefined;
}

const isOverride = async (id: string, releases: Releases): Promise<boolean> =>
  (await releases.pageFor({ id: '', override: id })).pageSet.override?.id === id;

/** Answers every navigation with the page of the visitor's set, rendered from the host build's template. */
export function pageRoutes(options: PageOptions): Hono<FrontEnv> {
  const cache = createPageCache();
  const app = new Hono<FrontEnv>();
  // some payment providers return the visitor with a POST
  app.post('*', async (context, next) => {
    const isVisitor = context.req.header('accept')?.includes('text/html');
    const isAnswer = isLocalOverride(context.req.query('override') ?? '');
    return isVisitor && !isAnswer ? context.redirect(withoutOverride(context.req.url), 303) : next();
  });
  app.post('*', bodyLimit({ maxSize: 4096 }), async (context, next) => {
    const override = context.req.query('override') ?? '';
    return isLocalOverride(override) ? agreeToLocal(context, override, options) : next();
  });
  return app.get('*', async (context, next) => {
    if (await isMissingFile(context, options.releases)) return next();
    const override = context.req.query('override');
    const secure = isHttps(context);
    if (override === 'local')
      return context.json(await localRemotesOf(context, options), 200, { 'cache-control': 'no-store' });
    if (override && isLocalOverride(override)) return askForLocal(context, override, options);
    if (override === 'off') endLocal(context, secure);
    if (override) {
      const address = withoutOverride(context.req.url);
      if (override !== 'off' && !(await isOverride(override, options.releases)))
        return sayOverrideIsOver(context, address);
      chooseOverride(context, override, secure);
      return context.redirect(address, 302);
    }
    return answerPage(context, options, cache);
  });
}

const fallbackImage = '/icon-512.png';

const aboutSite = ({ name, slogan }: Brand): ShareCard => ({
  title: `${name} · ${slogan}`,
  description: `${slogan}。在${name}里读一个故事，再走进去，和里面的人聊天。`,
  image: fallbackImage,
});

/** Programs that render link cards do not support SVG. */
const drawable = (image: string) => (/\.svg(\?|$)/.test(image) ? fallbackImage : image);

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** Normalises a path: without empty segments and needless escapes. */
const canonicalPath = (path: string): string =>
  `/${path
    .split('/')
    .filter(Boolean)
    .map((segment) => encodeURIComponent(decoded(segment)))
    .join('/')}`;

/** Returns the document's title, and the meta tags for search engines and link cards. */
function headOf(brand: Brand, origin: string, path: string, route: PageRoute | undefined, card: ShareCard | null) {
  const subject = card?.title ?? route?.title;
  const { title, description, image } = card ?? aboutSite(brand);
  const address = `${origin}${canonicalPath(path)}`;
  const isPublic = route !== undefined && !route.requiresAuth;
  const tag = (attribute: 'name' | 'property', key: string, value: string) =>
    `<meta ${attribute}="${key}" content="${escapeHtml(value)}">`;
  const meta = [
    isPublic ? `<link rel="canonical" href="${escapeHtml(address)}">` : tag('name', 'robots', 'noindex'),
    tag('name', 'description', description),
    tag('property', 'og:site_name', brand.name),
    tag('property', 'og:type', card ? 'article' : 'website'),
    tag('property', 'og:title', title),
    tag('property', 'og:description', description),
    tag('property', 'og:url', address),
    tag('property', 'og:image', new URL(drawable(image), origin).href),
  ];
  return { title: subject ? `${subject} · ${brand.name}` : brand.name, meta: meta.join('\n') };
}

/** Brotli qualities: fast enough for the first visitor, and the highest that still gains. */
const [SOON, SMALLEST] = [7, 10];

const brotli = (quality: number, { length }: string | Buffer) => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: length },
});

const compress = (text: string, encoding: 'br' | 'gzip'): Buffer =>
  encoding === 'gzip' ? gzipSync(text) : brotliCompressSync(text, brotli(SOON, text));

async function packedSmall(body: Buffer): Promise<Buffer> {
  const loose = await promisify(brotliDecompress)(body);
  return promisify<Buffer, BrotliOptions, Buffer>(brotliCompress)(loose, brotli(SMALLEST, loose));
}
