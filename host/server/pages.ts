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
import { type Encoding, encodingFor } from '@liaozhai/http/negotiation';
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
  readAs,
} from '@liaozhai/shared/contract';
import { currentTrace } from '@liaozhai/telemetry/tracing';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { chooseOverride, knownVisitor, newVisitor, overrideOf } from './cookies.ts';
import type { ServerEnv } from './env.ts';
import { type FrontContext, type FrontEnv, isHttps, type StoredAnswer, sendStored } from './front.ts';
import {
  acceptLocalRequest,
  answerExpiredOverride,
  answerLocalRequest,
  isLocalOverride,
  localRemotesOf,
  withdrawLocalChoice,
  withoutOverride,
} from './localRemotes.ts';
import {
  type BackendAnswer,
  capabilitiesOf,
  freshAnswer,
  type PrerenderedPage,
  prerendered,
  type ShareCard,
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

const visitorPage = (context: FrontContext, releases: Releases, id = knownVisitor(context) ?? '') =>
  releases.pageFor({ id, override: overrideOf(context) });

/** Names that reports of a visitor's page may contain: builds of its set, and patterns of its screens and calls. */
export async function namesFor(context: FrontContext, releases: Releases, visitor: string): Promise<Set<string>> {
  const { host, remotes } = (await visitorPage(context, releases, visitor)).pageSet;
  const all = Object.values(remotes).flatMap((build) => [build, build.lastGood ?? []].flat());
  const patterns = [...hostRoutes, ...apiRoutes(), ...all.flatMap(({ routes }) => routes)];
  return new Set([host.id, ...all.map(({ id }) => id), ...patterns.map(({ path }) => path)]);
}

/** The visitor's page, with the remotes that its browser runs from dev servers. */
async function pageOf(context: FrontContext, options: PageOptions, visitor: string): Promise<VisitorPage> {
  const page = await visitorPage(context, options.releases, visitor);
  const local = await localRemotesOf(context, options);
  if (!local) return page;
  const [expires = local.expires] = [local.expires, page.pageSet.override?.expires ?? local.expires].sort();
  const override = { ...local, id: page.pageSet.override?.id ?? 'local', expires };
  return { ...page, pageSet: { ...page.pageSet, override } };
}

const groupOf = ({ override, candidate }: PageSet) => (override ? 'override' : candidate ? 'candidate' : 'stable');

const prerenderedIn = ({ first, data }: PrerenderedPage) => (data ? 'content' : first ? 'frame' : 'nothing');

/** A page ready to be sent: the same bytes for every visitor of its set. */
interface ReadyPage extends StoredAnswer {
  /** Whether it can be compressed further. */
  isCompressible: boolean;
  /** The screen's pattern, and the page's metric labels. */
  pattern: string;
  metricLabels: { group: string; prerendered: string };
  /** The backend's responses that the page was filled with. */
  sources: BackendAnswer[];
  /** expiry by `performance.now` */
  expiresAt: number;
}

const areSameSources = (some: BackendAnswer[], others: BackendAnswer[] = []): boolean =>
  some.length === others.length &&
  some.every(({ address, answer }, at) => address === others[at]?.address && answer === others[at]?.answer);

const MAX_CACHED_PAGES = 200;
/** Bounds the compression to a fifth of a thread, for any number of requested addresses. */
const IDLE_PER_COMPRESSION = 4;

/** Caches recently sent pages, each until its set or the backend's responses change. */
function createPageCache() {
  const cache = new BoundedMap<string, ReadyPage>(MAX_CACHED_PAGES);
  let nextCompressionAt = 0;
  /** Compresses a page better when it is requested again: a tenth smaller, in some 40 ms of another thread. */
  const recompress = async (ready: ReadyPage) => {
    const startedAt = performance.now();
    nextCompressionAt = Number.POSITIVE_INFINITY;
    ready.isCompressible = false;
    // on failure the page stays as it was
    ready.body = await compressBest(ready.body).catch(() => ready.body);
    nextCompressionAt = startedAt + (performance.now() - startedAt) * (1 + IDLE_PER_COMPRESSION);
  };
  const pageNumbers = new WeakMap<VisitorPage, number>();
  let lastNumber = 0;
  const keyOf = (page: VisitorPage, { address, encoding, isBare }: PageRequest) => {
    const number = pageNumbers.get(page) ?? ++lastNumber;
    pageNumbers.set(page, number);
    return `${number} ${encoding} ${isBare} ${address}`;
  };
  return {
    get(page: VisitorPage, request: PageRequest): ReadyPage | undefined {
      const ready = cache.get(keyOf(page, request));
      if (!ready || ready.expiresAt <= performance.now()) return undefined;
      if (ready.isCompressible && performance.now() >= nextCompressionAt) void recompress(ready);
      return ready;
    },
    set(page: VisitorPage, request: PageRequest, ready: ReadyPage) {
      cache.set(keyOf(page, request), ready);
    },
  };
}

interface PageRequest {
  /** Origin and path, without the query. */
  address: string;
  encoding: Encoding;
  /** Whether the query selects something else than the screen's content. */
  isBare: boolean;
}

type PageCache = ReturnType<typeof createPageCache>;

async function answerPage(context: FrontContext, options: PageOptions, cache: PageCache) {
  const visitor = knownVisitor(context);
  const created = visitor ? null : newVisitor(context);
  const page = await pageOf(context, options, visitor ?? created?.id ?? '');
  const ready = cachedPage(context, page, cache) ?? (await newPage(context, page, options, cache));
  nameRoute(context.env.incoming, ready.pattern);
  options.counters?.pages.inc(ready.metricLabels);
  const trace = currentTrace();
  const headers = {
    ...ready.headers,
    ...(created && { 'set-cookie': created.cookie }),
    // in a header, since the page's bytes are the same for many visitors
    ...(trace && { 'server-timing': `traceparent;desc="${trace.traceparent}"` }),
  };
  return sendStored(context, { ...ready, headers });
}

/** The parts of a request that determine the bytes of its page. */
const requestParts = (context: FrontContext) => ({
  address: `${originOf(context.get('source'))}${context.req.path}`,
  encoding: encodingFor(context.req.header('accept-encoding')),
});

/** The cached page of an address without a query, if the backend's last responses are unchanged. */
function cachedPage(context: FrontContext, page: VisitorPage, cache: PageCache): ReadyPage | undefined {
  if (context.req.url.includes('?')) return undefined;
  const ready = cache.get(page, { ...requestParts(context), isBare: false });
  const isCurrent = ready?.sources.every(({ address, answer }) => freshAnswer(address) === answer);
  return isCurrent ? ready : undefined;
}

async function newPage(context: FrontContext, page: VisitorPage, options: PageOptions, cache: PageCache) {
  const { releases, env, config, isTraced, backendUrl } = options;
  const { path } = context.req;
  const { searchParams } = new URL(context.req.url);
  const screenPath = path === hostRoutePaths.root ? paths.explore() : path;
  const [screen, capabilities] = await Promise.all([
    screenAt(releases, page.pageSet, screenPath, backendUrl()),
    capabilitiesOf(backendUrl()),
  ]);
  const isBare = [screen?.template.notWith ?? []].flat().some((name) => searchParams.has(name));
  const request: PageRequest = { ...requestParts(context), isBare };
  const sources = [screen?.source ?? [], capabilities].flat();
  const cached = cache.get(page, request);
  if (cached && areSameSources(sources, cached.sources)) {
    cache.set(page, request, cached);
    return cached;
  }
  const pattern = screenPattern(page.pageSet, path);
  const head = headOf(
    siteBrand(config.brand),
    new URL(request.address).origin,
    screenPath,
    routeAt(page.pageSet, screenPath),
    screen && shareCard(screen),
  );
  const prices = readAs(capabilitiesSchema, capabilities.answer)?.rules;
  const content = await prerendered(releases, page.pageSet, screenPath, isBare ? null : screen);
  const { html, headers } = renderPage({
    ...page,
    ...content,
    ...head,
    path: screenPath,
    config: {
      ...config,
      vitals: { sample: env.VITALS_SAMPLE },
      ...(env.DEVTOOLS && { devTools: true }),
      ...(isTraced && { spans: true }),
      capabilities: capabilities.answer?.data,
      // the backend's prices override those of the site's configuration
      ...(prices && { rules: prices }),
    },
    connectSrc: env.CONNECT_ORIGINS,
    imgOrigins: env.IMG_ORIGINS,
    https: isHttps(context),
  });
  const { encoding } = request;
  const isPlain = encoding === 'identity';
  const hash = createHash('sha256').update(html).digest('base64url').slice(0, 27);
  const ready: ReadyPage = {
    status: pattern ? 200 : 404,
    headers: {
      ...headers,
      etag: `"${hash}${isPlain ? '' : `-${encoding}`}"`,
      vary: 'Accept-Encoding, Cookie',
      ...(isPlain ? {} : { 'content-encoding': encoding }),
    },
    body: isPlain ? Buffer.from(html) : compress(html, encoding),
    isCompressible: encoding === 'br' && pattern !== undefined,
    pattern: pattern ?? 'no such page',
    metricLabels: { group: groupOf(page.pageSet), prerendered: prerenderedIn(content) },
    sources,
    expiresAt: content.expiresAt ?? Number.POSITIVE_INFINITY,
  };
  cache.set(page, request, ready);
  return ready;
}

/** Whether a path is a file name and no screen's: a story's id may have a dot, too. */
async function isMissingFile(context: FrontContext, releases: Releases): Promise<boolean> {
  const { path } = context.req;
  if (!isFile.test(path)) return false;
  return screenPattern((await visitorPage(context, releases)).pageSet, path) === undefined;
}

const isOverride = async (id: string, releases: Releases): Promise<boolean> =>
  (await releases.pageFor({ id: '', override: id })).pageSet.override?.id === id;

/** Answers every navigation with the page of the visitor's set, rendered from the host build's template. */
export function pageRoutes(options: PageOptions): Hono<FrontEnv> {
  const cache = createPageCache();
  const app = new Hono<FrontEnv>();
  // some payment providers return the visitor with a POST
  app.post('*', async (context, next) => {
    const acceptsHtml = context.req.header('accept')?.includes('text/html');
    const isAgreement = isLocalOverride(context.req.query('override') ?? '');
    return acceptsHtml && !isAgreement ? context.redirect(withoutOverride(context.req.url), 303) : next();
  });
  app.post('*', bodyLimit({ maxSize: 4096 }), async (context, next) => {
    const override = context.req.query('override') ?? '';
    return isLocalOverride(override) ? acceptLocalRequest(context, override, options) : next();
  });
  return app.get('*', async (context, next) => {
    if (await isMissingFile(context, options.releases)) return next();
    const override = context.req.query('override');
    if (override === 'local')
      return context.json(await localRemotesOf(context, options), 200, { 'cache-control': 'no-store' });
    if (override && isLocalOverride(override)) return answerLocalRequest(context, override, options);
    if (override === 'off') withdrawLocalChoice(context);
    if (override) {
      const address = withoutOverride(context.req.url);
      if (override !== 'off' && !(await isOverride(override, options.releases)))
        return answerExpiredOverride(context, address);
      chooseOverride(context, override);
      return context.redirect(address, 302);
    }
    const chosen = context.req.header('sec-fetch-dest') === 'empty' ? undefined : overrideOf(context);
    if (chosen && !(await isOverride(chosen, options.releases))) {
      chooseOverride(context, 'off');
      return answerExpiredOverride(context, withoutOverride(context.req.url));
    }
    return answerPage(context, options, cache);
  });
}

const fallbackImage = '/icon-512.png';

const siteCard = ({ name, slogan }: Brand): ShareCard => ({
  title: `${name} · ${slogan}`,
  description: `${slogan}。在${name}里读一个故事，再走进去，和里面的人聊天。`,
  image: fallbackImage,
});

/** Programs that render link cards do not support SVG. */
const drawableImage = (image: string) => (/\.svg(\?|$)/.test(image) ? fallbackImage : image);

const decodeSegment = (segment: string): string => {
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
    .map((segment) => encodeURIComponent(decodeSegment(segment)))
    .join('/')}`;

/** Returns the document's title, and the meta tags for search engines and link cards. */
function headOf(brand: Brand, origin: string, path: string, route: PageRoute | undefined, card: ShareCard | null) {
  const subject = card?.title ?? route?.title;
  const { title, description, image } = card ?? siteCard(brand);
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
    tag('property', 'og:image', new URL(drawableImage(image), origin).href),
  ];
  return { title: subject ? `${subject} · ${brand.name}` : brand.name, meta: meta.join('\n') };
}

/** Brotli qualities: fast enough for the first visitor, and the highest that still gains. */
const [FAST_QUALITY, BEST_QUALITY] = [7, 10];

const brotli = (quality: number, { length }: string | Buffer) => ({
  params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: length },
});

const compress = (text: string, encoding: 'br' | 'gzip'): Buffer =>
  encoding === 'gzip' ? gzipSync(text) : brotliCompressSync(text, brotli(FAST_QUALITY, text));

async function compressBest(body: Buffer): Promise<Buffer> {
  const uncompressed = await promisify(brotliDecompress)(body);
  return promisify<Buffer, BrotliOptions, Buffer>(brotliCompress)(uncompressed, brotli(BEST_QUALITY, uncompressed));
}
