import { escapeHtml, type Releases, routeAt } from '@liaozhai/releases';
import { API_BASE, PAGE_ELEMENTS, type PageSet } from '@liaozhai/shared/contract';
import { currentTrace } from '@liaozhai/telemetry/tracing';

/** What stands in the page before any script runs. */
export interface PrerenderedPage {
  first?: string;
  inlineCss?: { href: string; text: string }[];
  data?: { id: string; json: unknown }[];
}

/** What a shared link to the screen shows; `image` is an address of the backend's. */
export interface ShareCard {
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
  const first = fill(screen.template.html, screen.answer);
  if (!first) return {};
  const styles = screen.route.preload.css.map(async (href) => ({ href, text: (await textOf(releases, href)) ?? '' }));
  const data = [{ id: PAGE_ELEMENTS.first, json: without(screen.answer, screen.template.omit ?? []) }];
  return { first, inlineCss: await Promise.all(styles), data };
}

/** The card of a link to this path, as plain text; null where there is none or the API does not answer in time. */
export async function shareCard(...where: Parameters<typeof screenAt>): Promise<ShareCard | null> {
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
export async function prerendered(
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
