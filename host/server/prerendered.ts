import { brotliCompressSync, constants } from 'node:zlib';
import { BoundedMap } from '@liaozhai/http/bounded-map';
import { escapeHtml, type Releases, routeAt } from '@liaozhai/releases';
import {
  API_BASE,
  endpoints,
  PAGE_ELEMENTS,
  type PageRoute,
  type PageSet,
  parseJson,
  prose,
  readAs,
} from '@liaozhai/shared/contract';
import { currentTrace } from '@liaozhai/telemetry/tracing';
import * as v from 'valibot';

/** Content of the page before any script runs. */
export interface PrerenderedPage {
  first?: string;
  inlineCss?: { href: string; text: string }[];
  data?: { id: string; json: unknown }[];
  /** When its pictures expire, by `performance.now`; undefined: never. */
  expiresAt?: number;
}

/** Card of a shared link to the screen; `image` is a URL of the backend. */
export interface ShareCard {
  title: string;
  description: string;
  image: string;
}

const words = v.union([v.string(), v.array(v.string())]);

const templateSchema = v.object({
  html: v.string(),
  source: v.optional(v.string()),
  /** query parameters with which the screen shows something else */
  notWith: v.optional(words),
  omit: v.optional(v.array(v.string())),
  /** of several images, the first that the response has */
  card: v.optional(v.object({ title: v.string(), description: v.string(), image: words })),
});
type Template = v.InferOutput<typeof templateSchema>;

type SourceBody = { data?: Record<string, unknown> | (Record<string, unknown> | null)[]; rules?: unknown };

const SOURCE_BUDGET_MS = 300;
const FRESH_MS = 5_000;
/** A response is renewed this long before it expires, so that no page waits for it. */
const RENEW_BEFORE_MS = 1_000;
/** How long a response is reused while the backend is slow or fails: browsers below the floor have no other content. */
const MAX_STALE_MS = 300_000;
const MAX_CACHED = 200;

interface ReceivedAnswer {
  /** When it was received, by `performance.now`, which no change of the clock affects. */
  at: number;
  text: string;
  value: SourceBody | null;
}

interface CachedAnswer {
  at: number;
  answer: Promise<SourceBody | null>;
  /** Set once received; its value stays the same object if the text has not changed. */
  received?: ReceivedAnswer;
  isRenewing?: boolean;
}

/** Bounded, since any address of a story can be requested. */
const answerCache = new BoundedMap<string, CachedAnswer>(MAX_CACHED);

async function fetchAnswer(url: string, now: number, previous?: ReceivedAnswer): Promise<ReceivedAnswer> {
  const trace = currentTrace();
  const headers = { accept: 'application/json', ...(trace && { traceparent: trace.traceparent }) };
  const emptyAnswer = { at: now, text: '', value: null };
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(SOURCE_BUDGET_MS) });
    if (response.status >= 500) throw new Error(`${response.status}`);
    if (!response.ok) return emptyAnswer;
    const text = await response.text();
    const value = previous?.value && previous.text === text ? previous.value : (parseJson(text) as SourceBody);
    return { at: now, text, value };
  } catch {
    return previous && now - previous.at < MAX_STALE_MS ? previous : emptyAnswer;
  }
}

/**
 * Fetches a public response without cookies, cached for five seconds. On failure or timeout, resolves with the previous one for
 * five minutes, else with null.
 */
export function fetchPublicAnswer(url: string, now = performance.now()): Promise<SourceBody | null> {
  const cached = answerCache.get(url);
  if (cached && now - cached.at < FRESH_MS) return cached.answer;
  const newAnswer: CachedAnswer = {
    at: now,
    answer: fetchAnswer(url, now, cached?.received).then((received) => {
      newAnswer.received = received;
      return received.value;
    }),
  };
  answerCache.set(url, newAnswer);
  return newAnswer.answer;
}

/** Replaces a response that is still valid by a newer one; on failure it stays until it expires. */
async function renew(url: string, cached: CachedAnswer): Promise<void> {
  cached.isRenewing = true;
  const at = performance.now();
  const received = await fetchAnswer(url, at, cached.received);
  if (received.value && answerCache.get(url) === cached)
    answerCache.set(url, { at, answer: Promise.resolve(received.value), received });
}

/** The public response while it is fresh; undefined if it must be fetched. */
export function freshAnswer(url: string): SourceBody | null | undefined {
  const cached = answerCache.get(url);
  const age = cached ? performance.now() - cached.at : FRESH_MS;
  if (!cached || age >= FRESH_MS) return undefined;
  if (age >= FRESH_MS - RENEW_BEFORE_MS && !cached.isRenewing) void renew(url, cached);
  return cached.received?.value;
}

const fieldAt = (answer: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], answer);

/** A field's text as the app shows it; undefined if it would show nothing. */
function displayText(value: unknown): string | undefined {
  if (value === '') return '';
  const text = Array.isArray(value)
    ? value.slice(0, 3).flatMap((each) => displayText(each) ?? [])
    : readAs(prose, value);
  return Array.isArray(text) ? text.join(' · ') : text || undefined;
}

function replaceTokens(text: string, answer: unknown, encode: (value: string) => string): string | null {
  let isComplete = true;
  const filledText = text.replace(/lz(u?)-(?!brand\.)([\w.]+)-lz/g, (_, inAddress: string, path: string) => {
    const value = displayText(fieldAt(answer, path));
    if (value === undefined) isComplete = false;
    return encode(inAddress ? encodeURIComponent(value ?? '') : (value ?? ''));
  });
  return isComplete ? filledText : null;
}

/** Fills a template's tokens with escaped text; null if the response lacks one of them. */
export const fill = (html: string, answer: unknown) => replaceTokens(html, answer, escapeHtml);

/** `/v1/stories/:id` for `/story/nie-xiaoqian` on the route `/story/:id` is `/v1/stories/nie-xiaoqian`. */
function sourceAt(source: string, routePath: string, path: string): string {
  const values = path.split('/');
  const names = routePath.split('/');
  return source.replace(/:(\w+)/g, (name) => values[names.indexOf(name)] ?? '');
}

/** Compressed bytes of all pictures in a page, which keep it within the second flight of a new connection. */
const MAX_PICTURE_BYTES = 9 * 1024;
/** A larger drawing hardly ever fits, and measuring it would delay every visitor. */
const MAX_DRAWING_LENGTH = 64 * 1024;
/** Takes under a millisecond; the best quality takes fifty. */
const FAST_BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 7 } };
const PICTURE_FRESH_MS = 300_000;
const pictureCache = new BoundedMap<string, { at: number; picture: Promise<Drawing | null | undefined> }>(MAX_CACHED);

/** Returns a drawing as a data URL that is safe inside an attribute. */
export const drawingAddress = (svg: string) =>
  `data:image/svg+xml,${svg.replace(/\s+/g, ' ').replace(/[%#"&]/g, encodeURIComponent)}`;

interface Drawing {
  address: string;
  /** compressed */
  bytes: number;
}

/** Fetches a drawing of the backend; null for any other or a large picture, undefined on failure or timeout. */
function fetchDrawing(url: string): Promise<Drawing | null | undefined> {
  const now = performance.now();
  const cached = pictureCache.get(url);
  if (cached && now - cached.at < PICTURE_FRESH_MS) return cached.picture;
  const picture = fetch(url, { signal: AbortSignal.timeout(SOURCE_BUDGET_MS) })
    .then(async (response) => {
      if (!response.ok || !response.headers.get('content-type')?.startsWith('image/svg+xml')) return null;
      const address = drawingAddress(await response.text());
      if (address.length > MAX_DRAWING_LENGTH) return null;
      return { address, bytes: brotliCompressSync(address, FAST_BROTLI).length };
    })
    .catch(() => {
      pictureCache.delete(url);
      return undefined;
    });
  pictureCache.set(url, { at: now, picture });
  return picture;
}

const eagerPicture = /<img [^>]*?src="(\/api\/media\/[^"]+)"[^>]*? loading="eager"/g;

/**
 * Inlines the first pictures, the largest of the screen, if they are small: they are painted with the text instead of a round
 * trip later. `data-src` has their URL, by which the app recognises them.
 */
async function withFirstPictures(first: string, backendUrl: string): Promise<{ first: string; expiresAt: number }> {
  const sources = [...new Set([...first.matchAll(eagerPicture)].map(([, src = '']) => src))];
  const addressOf = (src: string) => `${backendUrl}${src.replaceAll('&amp;', '&')}`;
  const drawings = await Promise.all(sources.map((src) => fetchDrawing(addressOf(src))));
  let remainingBytes = MAX_PICTURE_BYTES;
  let html = first;
  for (const [place, src] of sources.entries()) {
    const drawing = drawings[place];
    if (!drawing || drawing.bytes > remainingBytes) continue;
    remainingBytes -= drawing.bytes;
    html = html
      .replace(`<link rel="preload" as="image" href="${src}" fetchPriority="high"/>`, '')
      .replaceAll(`src="${src}"`, () => `src="${drawing.address}" data-src="${src}"`);
  }
  const until = drawings.includes(undefined) ? 0 : performance.now() + PICTURE_FRESH_MS;
  return { first: html, expiresAt: drawings.length > 0 ? until : Number.POSITIVE_INFINITY };
}

const buildFolder = (entry: string) => /^\/builds\/[^/]+\/[^/]+/.exec(entry)?.[0] ?? '';

async function textOf(releases: Releases, path: string): Promise<string | null> {
  const file = await releases.file(path);
  return file ? file.body.toString('utf8') : null;
}

async function templateOf(releases: Releases, entry: string, name: string): Promise<Template | null> {
  const text = await textOf(releases, `${buildFolder(entry)}/first/${name}.json`);
  // a team may have a file of its own there
  const template = v.safeParse(v.pipe(v.string(), v.parseJson(), templateSchema), text);
  return template.success ? template.output : null;
}

/** Each adds a hash to the page's policy, whose length is bounded. */
const MAX_INLINED = 8;

const cssAddress = /\burl\(\s*(?:"([^"]*)"|'([^']*)'|([^"'()\s]+))\s*\)|@import\s+(?:"([^"]*)"|'([^']*)')/gi;
const isAbsolute = /^(?:[a-z][a-z\d+.-]*:|\/|#|$)/i;

/** Rewrites a stylesheet for inlining: its URLs are relative to the file, not to the page. */
export const inlinedCss = (text: string, href: string): string =>
  text.replace(cssAddress, (whole, ...groups: (string | undefined)[]) => {
    const address = groups.slice(0, 5).find((each) => each !== undefined) ?? '';
    if (isAbsolute.test(address)) return whole;
    const { pathname, search, hash } = new URL(address, `http://localhost${href}`);
    return whole.replace(address, () => pathname + search + hash);
  });

function omitFields(answer: SourceBody, omit: string[]): SourceBody {
  const pickFields = (item: Record<string, unknown> | null) =>
    Object.fromEntries(Object.entries(item ?? {}).filter(([key]) => !omit.includes(key)));
  return Array.isArray(answer.data) ? { ...answer, data: answer.data.map(pickFields) } : answer;
}

/** The backend's capabilities beyond the specification, included in every page so that the app has them at the start. */
export const capabilitiesOf = (backendUrl: string) => publicAnswer(backendUrl, endpoints.capabilities);

/** A public response of the backend that fills a page; null if it failed or timed out. */
export interface BackendAnswer {
  address: string;
  answer: SourceBody | null;
}

async function publicAnswer(backendUrl: string, path: string): Promise<BackendAnswer> {
  const address = `${backendUrl}${API_BASE}${path}`;
  return { address, answer: await fetchPublicAnswer(address) };
}

export interface Screen {
  route: PageRoute;
  template: Template;
  /** Its public response; null if it needs none. */
  source: BackendAnswer | null;
}

/** The route at a path, its remote's template and the public response that fills it; null without a template. */
export async function screenAt(
  releases: Releases,
  pageSet: PageSet,
  path: string,
  backendUrl: string,
): Promise<Screen | null> {
  const route = routeAt(pageSet, path);
  const build = Object.values(pageSet.remotes).find(({ routes }) => routes.some(({ name }) => name === route?.name));
  const template = route && build ? await templateOf(releases, build.entry, route.name) : null;
  if (!route || !template) return null;
  if (!template.source) return { route, template, source: null };
  return { route, template, source: await publicAnswer(backendUrl, sourceAt(template.source, route.path, path)) };
}

async function screenContent(releases: Releases, { route, template, source }: Screen): Promise<PrerenderedPage> {
  const styles = route.preload.css
    .slice(0, MAX_INLINED)
    .map(async (href) => ({ href, text: inlinedCss((await textOf(releases, href)) ?? '', href) }));
  if (!source) return { first: template.html, inlineCss: await Promise.all(styles) };
  const { address, answer } = source;
  const filledHtml = answer && fill(template.html, answer);
  if (!filledHtml) return {};
  const withPictures = await withFirstPictures(filledHtml, new URL(address).origin);
  const data = [{ id: PAGE_ELEMENTS.first, json: omitFields(answer, template.omit ?? []) }];
  return { ...withPictures, inlineCss: await Promise.all(styles), data };
}

const isPicture = (address: string | null) =>
  address && URL.canParse(address, 'http://a') && new URL(address, 'http://a').protocol.startsWith('http');

/** The link card of this screen, as plain text; null without a card or a response. */
export function shareCard({ template: { card }, source }: Screen): ShareCard | null {
  const answer = source?.answer;
  if (!card || !answer) return null;
  const fillText = (text: string) => replaceTokens(text, answer, (value) => value);
  const [title, description] = [fillText(card.title), fillText(card.description)];
  const image = [card.image].flat().map(fillText).find(isPicture);
  return title && description && image ? { title, description, image } : null;
}

/** Shows the placeholders of slots that the set fills, to reserve room for the app's content. */
const withSlots = (html: string, { remotes }: PageSet) => {
  const filledSlots = Object.values(remotes).flatMap(({ slots }) => slots.map(({ name }) => name));
  return html.replace(/ data-slot="([^"]+)" hidden=""/g, (place, name) =>
    filledSlots.includes(name) ? ` data-slot="${name}"` : place,
  );
};

/** The frame with the screen's prerendered content, if there is any. Outside the shell there is no frame without content. */
export async function prerendered(
  releases: Releases,
  pageSet: PageSet,
  path: string,
  screen: Screen | null,
): Promise<PrerenderedPage> {
  const isOutsideShell = routeAt(pageSet, path)?.outsideShell ?? false;
  const name = isOutsideShell ? 'bare' : path.replaceAll('/', '');
  const frame = await templateOf(releases, pageSet.host.entry, name);
  if (!frame) return {};
  const content = screen ? await screenContent(releases, screen) : {};
  if (isOutsideShell && !content.first) return {};
  const framedHtml = frame.html.replace('lz-path-lz', () => escapeHtml(path));
  return { ...content, first: framedHtml.replace('lz-screen-lz', () => withSlots(content.first ?? '', pageSet)) };
}
