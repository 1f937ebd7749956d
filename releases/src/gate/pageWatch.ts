import { setTimeout as pause } from 'node:timers/promises';
import { backendSegments, beaconSchema, READY, type RemoteFailure, STORAGE_KEYS } from '@liaozhai/shared/contract';
import type { BrowserContext, Page, Request } from 'playwright';
import * as v from 'valibot';
import { buildFolder, type HostRecord } from '../model/build.ts';
import { say } from '../sentences.ts';
import type { Visitor } from './visitors.ts';

const BEAT_MS = 100;
/** Beats without progress after which a page counts as stalled: 6 s on an idle machine, longer under load. */
const STANDSTILL_BEATS = 60;
const SETTLED_BEATS = 5;
/** Limit of waiting for a quiet page, since a page that polls never is. */
const MOST_SETTLING_BEATS = 25;
/** Limit for a page that keeps making progress, in ms. */
export const LONGEST_MS = 60_000;

/** A running server of one set, and the host of its pages. */
export interface Site {
  origin: string;
  host: HostRecord;
}

export interface Visit {
  id: string;
  path: string;
  /** Container global that a loaded page must have; null for an ES module, or if a page may show a login instead. */
  global: string | null;
  as: Visitor;
  /** Build whose `answers` take precedence for a member. */
  by: string;
}

/**
 * Runs in the page. Intercepts beacons, because the browser does not expose their bodies to the driver. Has no named helpers: the
 * compiler of the command line wraps those in a function that does not exist in the page.
 */
const watchPage = () => {
  document.addEventListener('securitypolicyviolation', (event) =>
    Reflect.get(globalThis, 'gateViolation')(`${event.violatedDirective} ${event.blockedURI}`, event.sourceFile),
  );
  const send = navigator.sendBeacon.bind(navigator);
  navigator.sendBeacon = (address, data) => {
    void new Response(data).text().then(Reflect.get(globalThis, 'gateBeacon'));
    return send(address, data);
  };
  const warn = console.warn;
  // the host logs the error of a failed build as a warning before it sends the beacon
  console.warn = (...words) => {
    let cause = words.find((word) => word instanceof Error);
    while (cause?.cause instanceof Error) cause = cause.cause;
    if (cause) Reflect.get(globalThis, 'gateWarning')(String(words[0]), cause.message);
    warn(...words);
  };
  let changes = 0;
  new MutationObserver(() => {
    changes += 1;
    Reflect.set(globalThis, 'gateChanges', changes);
  }).observe(document, { childList: true, subtree: true, characterData: true });
};

/** Runs in the page. Keeps the quarantine per page, so that a failure on one page does not affect parallel pages. */
const keepApart = (quarantine: string) => {
  const { getItem, setItem } = Storage.prototype;
  Storage.prototype.getItem = function (key) {
    return getItem.call(key === quarantine ? sessionStorage : this, key);
  };
  Storage.prototype.setItem = function (key, value) {
    setItem.call(key === quarantine ? sessionStorage : this, key, value);
  };
};

/** Returns the failure and the build in a beacon, or null. */
function failureIn(beacon: string): { failure: RemoteFailure; build: string } | null {
  try {
    const parsed = v.safeParse(beaconSchema, JSON.parse(beacon));
    const { failure, build } = parsed.success ? parsed.output : {};
    return failure && build ? { failure, build } : null;
  } catch (cause) {
    if (cause instanceof SyntaxError) return null;
    throw cause;
  }
}

/** A fault seen on a page; `about` contains the addresses and builds that caused it. */
export interface SeenFault {
  line: string;
  about: string;
}

/** Record of a page while it opens. */
export interface Watched {
  seen: SeenFault[];
  thrown: boolean;
  /** Number of requests that began or ended. */
  requests: number;
}

/** First path segments where any response is accepted. */
const ANSWERED: readonly string[] = [...backendSegments, 'beacon', 'channels'];

/** True if a requested file is missing. Root files of the host's build do not count: only the product serves them. */
function isMissing(url: URL, status: number, { origin, host }: Site): boolean {
  const [, segment = ''] = url.pathname.split('/');
  if (url.origin !== origin || ANSWERED.includes(segment)) return false;
  if (segment === 'builds') return status >= 400;
  return status === 404 && !(segment in host.files);
}

/** Returns the first line of an error, or of the original error inside federation's own. */
const firstLine = (text: string): string =>
  text
    .replace(/^.*Original Error Message:/s, '')
    .trim()
    .split('\n')[0]
    ?.slice(0, 300) ?? '';

interface Recorded {
  seen: SeenFault[];
  /** Warnings of the host, with the message of the error. */
  warnings: { words: string; message: string }[];
}

const recorded = new WeakMap<Page, Recorded>();

/** Instruments the pages of a context to report what only they can observe. Per context, because Playwright's bindings are. */
export async function listenIn(context: BrowserContext): Promise<void> {
  const tell = (page: Page, line: string, about: string) => recorded.get(page)?.seen.push({ line, about });
  await context.exposeBinding('gateViolation', ({ page }, what: string, source: string) => {
    tell(page, say('violated', { what }), `${what} ${source}`);
  });
  await context.exposeBinding('gateWarning', ({ page }, words: string, message: string) => {
    recorded.get(page)?.warnings.push({ words, message });
  });
  await context.exposeBinding('gateBeacon', ({ page }, text: string) => {
    const { failure, build } = failureIn(text) ?? {};
    if (!failure || !build) return;
    const { message } = recorded.get(page)?.warnings.findLast(({ words }) => words.includes(build)) ?? {};
    const line = message ? say('failedWith', { failure, message: firstLine(message) }) : say('failed', { failure });
    tell(page, line, build);
  });
  await context.addInitScript(watchPage);
  await context.addInitScript(keepApart, STORAGE_KEYS.quarantine);
}

/** Records what a page does from now on. Its context must be prepared by `listenIn`. */
export function watch(page: Page, site: Site): Watched {
  const watched: Watched = { seen: [], thrown: false, requests: 0 };
  const { seen } = watched;
  recorded.set(page, { seen, warnings: [] });
  page.on('pageerror', (error) => {
    watched.thrown = true;
    seen.push({ line: say('threw', { message: firstLine(error.message) }), about: error.stack ?? '' });
  });
  page.on('response', (response) => {
    const url = new URL(response.url());
    const status = response.status();
    if (isMissing(url, status, site))
      seen.push({ line: say('answered', { path: url.pathname, status }), about: url.pathname });
  });
  const count = (request: Request) => {
    // pages poll with HEAD whether a server is reachable again
    if (request.method() !== 'HEAD') watched.requests += 1;
  };
  page.on('request', count);
  page.on('requestfinished', count);
  page.on('requestfailed', count);
  return watched;
}

interface Beat {
  /** The container exists and the document has loaded. */
  ran: boolean;
  /** The screen's module has not loaded: the host shows a skeleton and has measured no component of the build. */
  waits: boolean;
  /** Counts of requests and DOM changes until now. */
  progress: string;
}

/**
 * Waits for one response of page and server each, and at least `BEAT_MS`. Under load, beats take longer, so that timeouts counted in
 * beats adapt to the machine.
 */
export async function beat(page: Page, origin: string, { global, id }: Visit, watched: Watched): Promise<Beat> {
  const look = ({ name, ready }: Record<'name' | 'ready', string>) => ({
    ran: name in globalThis && document.readyState === 'complete',
    waits: document.querySelector('[data-skeleton]') !== null && performance.getEntriesByName(ready).length === 0,
    changes: Number(Reflect.get(globalThis, 'gateChanges') ?? 0),
  });
  const [{ changes, ...seen }] = await Promise.all([
    page.evaluate(look, { name: global ?? 'document', ready: READY + id }).catch((cause: Error) => {
      // the document is being replaced by another one
      if (/navigat|destroyed/.test(cause.message)) return { ran: false, waits: true, changes: -1 };
      throw cause;
    }),
    fetch(`${origin}/favicon.ico`, { method: 'HEAD' }).catch(() => null),
    pause(BEAT_MS),
  ]);
  return { ...seen, progress: `${watched.requests} ${changes}` };
}

/** Waits until `isFar` is true, the page stalls or an error is thrown. Returns whether `isFar` became true. */
async function reaches(isFar: (beat: Beat) => boolean, next: () => Promise<Beat>, watched: Watched): Promise<boolean> {
  const ends = performance.now() + LONGEST_MS;
  let last = '';
  for (let still = 0; still < STANDSTILL_BEATS && performance.now() < ends && !watched.thrown; still += 1) {
    const now = await next();
    if (isFar(now)) return true;
    if (now.progress !== last) still = 0;
    last = now.progress;
  }
  return false;
}

/** Waits until nothing has changed for a while. */
export async function settles(next: () => Promise<Beat>, enough = SETTLED_BEATS): Promise<void> {
  let last = '';
  for (let beats = 0, still = 0; beats < MOST_SETTLING_BEATS && still < enough; beats += 1) {
    const { progress } = await next();
    still = progress === last ? still + 1 : 0;
    last = progress;
  }
}

/** Waits until the page has loaded. Returns its faults. */
export async function standing(page: Page, origin: string, target: Visit, watched: Watched): Promise<SeenFault[]> {
  const next = () => beat(page, origin, target, watched);
  const isThere = await reaches(({ ran }) => ran, next, watched);
  await settles(next);
  // a guest sees no screen on pages that need a login
  const isComplete = target.as === 'guest' || watched.thrown || (await reaches(({ waits }) => !waits, next, watched));
  const shown = await page.locator('body').ariaSnapshot({ timeout: LONGEST_MS });
  const unchecked = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet][href]')]
      .filter(({ integrity }) => integrity === '')
      .map(({ href }) => new URL(href).pathname),
  );
  const lines = [
    ...unchecked
      .filter((path) => path.startsWith(`/${buildFolder(target.id)}/`))
      .map((path) => say('unchecked', { path })),
    ...(isThere ? [] : [say('neverRan')]),
    ...(isThere && !isComplete ? [say('neverCame')] : []),
    ...(shown.trim() ? [] : [say('blank')]),
  ];
  return lines.map((line) => ({ line, about: target.id }));
}
