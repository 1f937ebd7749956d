import { createHash } from 'node:crypto';
import {
  contentSecurityPolicy,
  MODULE_PROBES,
  matchRoute,
  type PageBuild,
  type PageRoute,
  type PageSet,
  type SetBody,
} from '@liaozhai/shared/contract';
import type { Catalog } from '../builds/catalog.ts';
import { nullIfRefused, refused } from '../errors.ts';
import { misfitsAmong } from '../gate/fit.ts';
import { type BuildRecord, codeHashes, isHost, isRemote, nameOf, pageBuild } from '../model/build.ts';
import { type ChannelDocument, liveIn } from '../model/channel.ts';
import { sha256Source, sha384Integrity } from '../model/signing.ts';
import { brandedTemplate, escapeHtml, siteBrand, withBrandTexts } from './siteConfig.ts';

const quoted = (sources: readonly string[]): string[] => [...new Set(sources)].map((source) => `'${source}'`);

/** Origin of a dev server's WebSocket, which triggers reloads. */
const socketOf = (origin: string): string => origin.replace(/^http/, 'ws');

/**
 * Headers of the page's response; names in lower case. A dev server's files have no hashes, so the policy of a page with one lists
 * script origins instead of `strict-dynamic`.
 */
function pageHeaders(input: PageInput, importMap: string, preloadedHashes: readonly string[]): Record<string, string> {
  const { template, pageSet, inlineCss = [], connectSrc = [], imgOrigins = [], https } = input;
  const localOrigins = (pageSet.override?.local ?? []).map(({ origin }) => origin);
  const inlineScripts = [...inlineContents(template, 'script'), ...(importMap ? [importMap] : [])];
  const inlineStyles = [...inlineContents(template, 'style'), ...inlineCss.map(({ text }) => text)];
  return {
    'content-type': 'text/html; charset=utf-8',
    // a page with a dev server is never cached, because its permission may end
    'cache-control': localOrigins.length > 0 ? 'private, no-store' : 'private, no-cache',
    'content-security-policy': contentSecurityPolicy({
      scripts: [
        ...quoted([...inlineScripts.map(sha256Source), ...preloadedHashes]),
        ...(localOrigins.length > 0 ? ["'self'", ...localOrigins] : ["'strict-dynamic'"]),
      ],
      styles: [...quoted(inlineStyles.map(sha256Source)), ...localOrigins],
      connections: [...connectSrc, ...localOrigins, ...localOrigins.map(socketOf)],
      pictures: [...imgOrigins, ...localOrigins],
      fonts: localOrigins,
    }),
    // WebKit 2.50 ignores hashes in an import map, so with this header it would run no ES module
    ...(localOrigins.length > 0 || importMap ? {} : { 'integrity-policy': 'blocked-destinations=(script)' }),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=(), browsing-topics=()',
    ...(https ? { 'strict-transport-security': 'max-age=31536000; includeSubDomains' } : {}),
  };
}

export interface PageInput {
  template: string;
  pageSet: PageSet;
  /** Pathname of the shown screen (`/explore` for `/`), which decides what is preloaded. */
  path: string;
  /** Inlined as `liaozhai-config`. */
  config: Record<string, unknown>;
  title?: string;
  /** Trusted HTML for the head, e.g. share-card tags. */
  meta?: string;
  /** Trusted HTML of the prerendered content. */
  first?: string;
  /** Stylesheets of the route to inline, so that prerendered content is painted immediately. */
  inlineCss?: readonly { href: string; text: string }[];
  /** Further `application/json` elements. */
  data?: readonly { id: string; json: unknown }[];
  connectSrc?: readonly string[];
  imgOrigins?: readonly string[];
  /** Adds HSTS. */
  https?: boolean;
}

const PLACEHOLDERS = ['title', 'preloads', 'meta', 'first', 'set'] as const;
type Placeholder = (typeof PLACEHOLDERS)[number];

/** JSON that cannot close its script element. */
const jsonForHtml = (value: unknown): string =>
  JSON.stringify(value).replace(/[<\u2028\u2029]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** CSS that cannot close its style element. `<\/` is equivalent inside CSS strings. */
const styleForHtml = (css: string): string => css.replace(/<\/(?=style)/gi, '<\\/');

/** Import map with the integrity of each ES module; '' if no build has modules. */
function importMapFor({ remotes, hashes }: PageSet): string {
  const modules = Object.values(remotes)
    .flatMap((build) => [build, build.lastGood])
    .filter((build) => build?.entryType === 'module');
  const folders = modules.map((build) => build?.entry.slice(0, build.entry.split('/', 4).join('/').length + 1) ?? '');
  const moduleHashes = Object.entries(hashes).filter(([path]) => folders.some((folder) => path.startsWith(folder)));
  const source = MODULE_PROBES.right.replace(/^.*,/, '');
  const probe = sha384Integrity(Buffer.from(source));
  const integrity = {
    ...Object.fromEntries(moduleHashes.filter(([path]) => /\.m?js$/.test(path))),
    [MODULE_PROBES.right]: probe,
    [MODULE_PROBES.wrong]: probe,
  };
  return modules.length > 0 ? jsonForHtml({ integrity }) : '';
}

const jsonScript = (id: string, json: unknown): string =>
  `<script type="application/json" id="${escapeHtml(id)}">${jsonForHtml(json)}</script>`;

/** Returns the contents of inline elements that a policy must allow. JSON elements are not scripts. */
export function inlineContents(template: string, element: 'script' | 'style'): string[] {
  const matches = template.matchAll(new RegExp(`<${element}\\b([^>]*)>([\\s\\S]*?)</${element}>`, 'gi'));
  return [...matches]
    .filter(([, attributes = '']) => !/\bsrc\s*=|\btype\s*=\s*["']?application\/(?:ld\+)?json/i.test(attributes))
    .map(([, , content = '']) => content);
}

/** Returns names of placeholders that are not in a template exactly once. */
export const misplacedMarks = (template: string): Placeholder[] =>
  PLACEHOLDERS.filter((name) => template.split(`<!--lz:${name}-->`).length !== 2);

/** Limit of preloaded scripts: each has a hash in the policy, and nginx accepts 4 KiB of headers. Others load on demand. */
const MAX_PRELOADED = 16;

function preloadsFor({ pageSet, path, inlineCss = [] }: PageInput) {
  const route = routeAt(pageSet, path)?.preload ?? { js: [], css: [] };
  const integrity = (href: string): string => {
    const hash = pageSet.hashes[href];
    if (hash) return `integrity="${hash}" crossorigin="anonymous"`;
    throw refused(`the set has no hash for ${href}`, 'Activate the build again, or roll back.');
  };
  const preload = (as: string) => (href: string) =>
    `<link rel="preload" as="${as}" href="${escapeHtml(href)}" ${integrity(href)}>`;
  const scripts = [pageSet.host.entry, ...route.js].slice(0, MAX_PRELOADED);
  const html = [
    ...pageSet.host.css.map((href) => `<link rel="stylesheet" href="${escapeHtml(href)}" ${integrity(href)}>`),
    ...scripts.map(preload('script')),
    ...inlineCss.map(({ href, text }) => `<style data-href="${escapeHtml(href)}">${styleForHtml(text)}</style>`),
    ...route.css.filter((href) => !inlineCss.some((inlined) => inlined.href === href)).map(preload('style')),
  ].join('\n');
  return { html, hashes: scripts.map((href) => pageSet.hashes[href] ?? '') };
}

function titleFor({ template, title = '' }: PageInput): string {
  const isInsideTitle = /<title>\s*<!--lz:title-->/i.test(template);
  return isInsideTitle ? escapeHtml(title) : `<title>${escapeHtml(title)}</title>`;
}

/** Fills the host's template for one set and computes its headers. Throws refused for a broken template. */
export function renderPage(pageInput: PageInput) {
  const brand = siteBrand(pageInput.config.brand);
  const { colors: _, ...brandTexts } = brand;
  const input: PageInput = {
    ...pageInput,
    template: brandedTemplate(pageInput.template, brand),
    title: pageInput.title ?? brand.name,
    first: withBrandTexts(pageInput.first ?? '', brand),
    // the host already has the shipped brand
    config: pageInput.config.brand ? { ...pageInput.config, brand: brandTexts } : pageInput.config,
  };
  const misplaced = misplacedMarks(input.template);
  if (misplaced.length > 0)
    throw refused(`page.html needs <!--lz:${misplaced[0]}--> exactly once`, 'Mend the host build.');
  const preloads = preloadsFor(input);
  const importMap = importMapFor(input.pageSet);
  const scripts = [
    jsonScript('liaozhai-set', input.pageSet),
    jsonScript('liaozhai-config', input.config),
    ...(importMap ? [`<script type="importmap">${importMap}</script>`] : []),
  ];
  const parts: Record<Placeholder, string> = {
    title: titleFor(input),
    preloads: preloads.html,
    meta: input.meta ?? '',
    first: input.first ?? '',
    set: [...scripts, ...(input.data ?? []).map(({ id, json }) => jsonScript(id, json))].join('\n'),
  };
  const html = input.template.replace(
    /<!--lz:(title|preloads|meta|first|set)-->/g,
    (_, name: Placeholder) => parts[name],
  );
  return { html, headers: pageHeaders(input, importMap, preloads.hashes) };
}

const BUCKET_STEPS = 2 ** 48;

/** Stable position of a visitor for a salt: 0 (inclusive) to 100 (exclusive), evenly distributed over visitors. */
export const bucket = (visitor: string, salt: string): number =>
  (createHash('sha256').update(`${salt}:${visitor}`).digest().readUIntBE(0, 6) / BUCKET_STEPS) * 100;

/** True if a visitor gets the candidate. A higher percentage keeps all visitors of a lower one. */
export const isInCandidate = (visitor: string, candidate: { salt: string; percent: number }): boolean =>
  bucket(visitor, candidate.salt) < candidate.percent;

export const routeAt = ({ remotes }: Pick<PageSet, 'remotes'>, pathname: string): PageRoute | undefined =>
  matchRoute(
    Object.values(remotes).flatMap(({ routes }) => routes),
    pathname,
  );

export interface ChosenSet {
  hash: string;
  body: SetBody;
  candidate: boolean;
  candidateSets?: string[];
  override: PageSet['override'];
}

/**
 * Returns the fallback of each remote of the set. That is the stable build if the set has another one, because stable builds are proven by
 * their visitors. Otherwise it is the last good build. A fallback fits the rest of the set, and shares no globals with the failed build.
 * Damaged records leave the page without the fallback, not without the page.
 */
async function fallbackBuilds(catalog: Catalog, document: ChannelDocument, body: SetBody) {
  const live = new Map(liveIn(document).map((id) => [nameOf(id), id]));
  const fallbacksByName = new Map<string, { build: PageBuild; hashes: Record<string, string> }>();
  const ids = [body.host.id, ...Object.values(body.remotes).map(({ id }) => id)];
  const records = await catalog.records(ids).catch(nullIfRefused);
  if (!records) return fallbacksByName;
  const keys = new Set(misfitsAmong(records).map(({ key }) => key));
  const fallbacks: BuildRecord[] = [];
  for (const [name, activeBuild] of Object.entries(body.remotes)) {
    for (const id of [live.get(name), document.lastGood[name]]) {
      if (!id || id === activeBuild.id || fallbacksByName.has(name)) continue;
      const record = await catalog.record(id, document.digests[id]).catch(nullIfRefused);
      if (!record || !isRemote(record)) continue;
      const otherRecords = records.filter((each) => each.id !== activeBuild.id);
      const failedRecords = records.filter((each) => each.id === activeBuild.id);
      if (misfitsAmong([...otherRecords, record], failedRecords).some(({ key }) => !keys.has(key))) continue;
      // two remotes may fail on one page
      if (misfitsAmong([...records.filter(isHost), ...fallbacks, record]).some(({ key }) => !keys.has(key))) continue;
      fallbacks.push(record);
      fallbacksByName.set(name, { build: pageBuild(record), hashes: codeHashes(record) });
    }
  }
  return fallbacksByName;
}

/** Returns the builds that pages of the stable set fall back to. */
export async function stableFallbacks(catalog: Catalog, document: ChannelDocument): Promise<string[]> {
  const body = document.stable && (await catalog.set(document.stable.set).catch(nullIfRefused));
  return body ? [...(await fallbackBuilds(catalog, document, body)).values()].map(({ build }) => build.id) : [];
}

/** Returns the page's data for a chosen set. Lists killed builds, so that a page knows why it must leave one. */
export async function makePageSet(
  catalog: Catalog,
  document: ChannelDocument,
  publicKey: string,
  { hash, body, candidate, candidateSets, override }: ChosenSet,
): Promise<PageSet> {
  const fallbacks = await fallbackBuilds(catalog, document, body);
  const { id, entry, contract, css } = body.host;
  const remotes = Object.entries(body.remotes).map(([name, build]) => {
    return [name, { ...build, lastGood: fallbacks.get(name)?.build ?? null }] as const;
  });
  return {
    channel: document.channel,
    seq: document.seq,
    set: hash,
    candidate,
    ...(candidateSets ? { candidateSets } : {}),
    override,
    publicKey,
    host: { id, entry, contract, css },
    remotes: Object.fromEntries(remotes),
    hashes: Object.assign({}, body.hashes, ...[...fallbacks.values()].map(({ hashes }) => hashes)),
    killed: document.killed,
  };
}
