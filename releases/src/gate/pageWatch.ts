import { setTimeout as pause } from 'node:timers/promises';
import { backendSegments, beaconSchema, READY, type RemoteFailure, STORAGE_KEYS } from '@liaozhai/shared/contract';
import type { BrowserContext, Page, Request } from 'playwright';
import * as v from 'valibot';
import { buildFolder, type HostRecord } from '../model/build.ts';
import { say } from '../sentences.ts';
import type { Visitor } from './visitors.ts';

const BEAT_MS = 100;
/** A page that makes no progress for so many beats stands still: six seconds on a machine that has time, longer on one that has none. */
const STANDSTILL_BEATS = 60;
const SETTLED_BEATS = 5;
/** A page that polls is never quiet. */
const MOST_SETTLING_BEATS = 25;
/** Ends what makes progress for ever. */
export const LONGEST_MS = 60_000;

/** A running server of one set, and the host that its pages run. */
export interface Site {
  origin: string;
  host: HostRecord;
}

/** A page to open. */
export interface Visit {
  id: string;
  path: string;
  /** The container that must be there when the page stands; null for an ES module and where a page may ask for a login first. */
  global: string | null;
  as: Visitor;
  /** The build whose answers a member is given before those of others. */
  by: string;
}

/**
 * Runs in the page. Beacons are intercepted here, since the browser does not expose their bodies to its driver. Without named helpers:
 * the command line's compiler wraps those in a function that the page does not have.
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
  // the host warns of a build that failed, with the error, before its beacon
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

/** Runs in the page: what failed on one page is avoided there, and judged on those beside it. */
const keepApart = (quarantine: string) => {
  const { getItem, setItem } = Storage.prototype;
  Storage.prototype.getItem = function (key) {
    return getItem.call(key === quarantine ? sessionStorage : this, key);
  };
  Storage.prototype.setItem = function (key, value) {
    setItem.call(key === quarantine ? sessionStorage : this, key, value);
  };
};

/** The failure that a beacon reports and the build that it blames, or null. */
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

/** What must not happen on a page, and did; `about` names the addresses and builds that it came from. */
export interface SeenFault {
  line: string;
  about: string;
}

/** What is recorded of a page while it opens. */
export interface Watched {
  seen: SeenFault[];
  thrown: boolean;
  /** Requests that began or ended. */
  requests: number;
}

/** First segments that the server answers as it likes. */
const ANSWERED: readonly string[] = [...backendSegments, 'beacon', 'channels'];

/** Whether nobody serves an address that a page asked for; what lies at the root of the host's build is served by the product alone. */
function isMissing(url: URL, status: number, { origin, host }: Site): boolean {
  const [, segment = ''] = url.pathname.split('/');
  if (url.origin !== origin || ANSWERED.includes(segment)) return false;
  if (segment === 'builds') return status >= 400;
  return status === 404 && !(segment in host.files);
}

/** The first line; of federation's own error that of the error below it. */
const firstLine = (text: string): string =>
  text
    .replace(/^.*Original Error Message:/s, '')
    .trim()
    .split('\n')[0]
    ?.slice(0, 300) ?? '';

interface Recorded {
  seen: SeenFault[];
  /** What the host warned of, with the error's message. */
  warnings: { words: string; message: string }[];
}

const recorded = new WeakMap<Page, Recorded>();

/** Has the pages of a context tell what only they can see. Once for all of them: Playwright's own part of it is no page's alone. */
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

/** Records from now on what a page does, of a context that `listenIn` has prepared. */
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
    // pages ask with HEAD whether a server is back
    if (request.method() !== 'HEAD') watched.requests += 1;
  };
  page.on('request', count);
  page.on('requestfinished', count);
  page.on('requestfailed', count);
  return watched;
}

interface Beat {
  /** The container is there and the document has loaded. */
  ran: boolean;
  /** The module of the screen has not come: the host draws what is going to stand there, and measured no component of the build. */
  waits: boolean;
  /** Requests and changes of the page until now. */
  progress: string;
}

/**
 * Time as the page has it: page and server have each answered once. A machine under load beats slower, and so it gives what runs on
 * it the time that it takes there.
 */
export async function beat(page: Page, origin: string, { global, id }: Visit, watched: Watched): Promise<Beat> {
  const look = ({ name, ready }: Record<'name' | 'ready', string>) => ({
    ran: name in globalThis && document.readyState === 'complete',
    waits: document.querySelector('[data-skeleton]') !== null && performance.getEntriesByName(ready).length === 0,
    changes: Number(Reflect.get(globalThis, 'gateChanges') ?? 0),
  });
  const [{ changes, ...seen }] = await Promise.all([
    page.evaluate(look, { name: global ?? 'document', ready: READY + id }).catch((cause: Error) => {
      // a document that is just being replaced by another
      if (/navigat|destroyed/.test(cause.message)) return { ran: false, waits: true, changes: -1 };
      throw cause;
    }),
    fetch(`${origin}/favicon.ico`, { method: 'HEAD' }).catch(() => null),
    pause(BEAT_MS),
  ]);
  return { ...seen, progress: `${watched.requests} ${changes}` };
}

/** Beats until the page is so far, stands still or has thrown. Returns whether it is so far. */
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

/** Beats until nothing has changed for a while. */
export async function settles(next: () => Promise<Beat>, enough = SETTLED_BEATS): Promise<void> {
  let last = '';
  for (let beats = 0, still = 0; beats < MOST_SETTLING_BEATS && still < enough; beats += 1) {
    const { progress } = await next();
    still = progress === last ? still + 1 : 0;
    last = progress;
  }
}

/** Waits until the page stands. Returns what is wrong with it. */
export async function standing(page: Page, origin: string, target: Visit, watched: Watched): Promise<SeenFault[]> {
  const next = () => beat(page, origin, target, watched);
  const isThere = await reaches(({ ran }) => ran, next, watched);
  await settles(next);
  // a guest is shown no screen where a login is needed
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
