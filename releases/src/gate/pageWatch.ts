import { setTimeout as pause } from 'node:timers/promises';
import { backendSegments, beaconSchema, READY, STORAGE_KEYS } from '@liaozhai/shared/contract';
import type { BrowserContext, Page, Request } from 'playwright';
import { buildFolder, type HostRecord } from '../model/build.ts';
import { parseOrNull } from '../model/documents.ts';
import { say } from '../sentences.ts';
import type { Visitor } from './visitors.ts';

const BEAT_MS = 100;
/** Beats without progress after which a page counts as stalled: 6 s on an idle machine, longer under load. */
const STANDSTILL_BEATS = 60;
const SETTLED_BEATS = 5;
/** Limit of waiting for a quiet page, since a page that polls never is. */
const MAX_SETTLING_BEATS = 25;
/** Beats without an answer after which a page counts as stuck: 18 s on an idle machine. */
const STUCK_BEATS = 180;
/** Documents that a page may load, reopened ones of `tapThrough` included. */
const MAX_DOCUMENTS = 40;
/** Limit for a page that keeps making progress, in ms. */
export const TIMEOUT_MS = 60_000;

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
  let dialogs = 0;
  // the driver would close a dialog unseen, and does not name its script
  for (const name of ['alert', 'confirm', 'prompt', 'print'])
    Reflect.set(globalThis, name, () => {
      dialogs += 1;
      if (dialogs === 1) Reflect.get(globalThis, 'gateDialog')(name, new Error().stack);
      return name === 'confirm' ? false : null;
    });
  let entries = 0;
  for (const name of ['pushState', 'replaceState'] as const) {
    const write = history[name].bind(history);
    history[name] = (...words) => {
      entries += 1;
      if (entries === 100) Reflect.get(globalThis, 'gateHistory')(new Error().stack);
      write(...words);
    };
  }
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
const isolateQuarantine = (quarantine: string) => {
  const { getItem, setItem } = Storage.prototype;
  Storage.prototype.getItem = function (key) {
    return getItem.call(key === quarantine ? sessionStorage : this, key);
  };
  Storage.prototype.setItem = function (key, value) {
    setItem.call(key === quarantine ? sessionStorage : this, key, value);
  };
};

/** A fault seen on a page; `about` contains the addresses and builds that caused it. */
export interface PageFault {
  line: string;
  about: string;
}

/** Record of a page while it opens. */
export interface Activity {
  faults: PageFault[];
  hasThrown: boolean;
  hasLoaded: boolean;
  requests: number;
}

/** First path segments where any response is accepted. */
const UNCHECKED_SEGMENTS: readonly string[] = [...backendSegments, 'beacon', 'channels'];

/** True if a requested file is missing. Root files of the host's build do not count: only the product serves them. */
function isMissing(url: URL, status: number, { origin, host }: Site): boolean {
  const [, segment = ''] = url.pathname.split('/');
  if (url.origin !== origin || UNCHECKED_SEGMENTS.includes(segment)) return false;
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

/** Warnings are the host's, with the message of the error. */
const reportsByPage = new WeakMap<Page, { activity: Activity; warnings: { words: string; message: string }[] }>();

/** Instruments the pages of a context to report what only they can observe. Per context, because Playwright's bindings are. */
export async function instrumentContext(context: BrowserContext): Promise<void> {
  const report = (page: Page, line: string, about: string) =>
    reportsByPage.get(page)?.activity.faults.push({ line, about });
  await context.exposeBinding('gateViolation', ({ page }, what: string, source: string) => {
    report(page, say('violated', { what }), `${what} ${source}`);
  });
  // after a tap, a visitor may expect it
  const reportLoading = (page: Page, line: string, about: string) => {
    if (!reportsByPage.get(page)?.activity.hasLoaded) report(page, line, about);
  };
  await context.exposeBinding('gateDialog', ({ page }, name: string, stack: string) =>
    reportLoading(page, say('dialog', { name }), stack),
  );
  await context.exposeBinding('gateHistory', ({ page }, stack: string) =>
    reportLoading(page, say('manyEntries'), stack),
  );
  await context.exposeBinding('gateWarning', ({ page }, words: string, message: string) => {
    reportsByPage.get(page)?.warnings.push({ words, message });
  });
  await context.exposeBinding('gateBeacon', ({ page }, text: string) => {
    const { failure, build } = parseOrNull(beaconSchema, text) ?? {};
    if (!failure || !build) return;
    const { message } = reportsByPage.get(page)?.warnings.findLast(({ words }) => words.includes(build)) ?? {};
    const line = message ? say('failedWith', { failure, message: firstLine(message) }) : say('failed', { failure });
    report(page, line, build);
  });
  await context.addInitScript(watchPage);
  await context.addInitScript(isolateQuarantine, STORAGE_KEYS.quarantine);
}

/** Records what a page does from now on. Its context must be prepared by `instrumentContext`. */
export function track(page: Page, site: Site): Activity {
  const activity: Activity = { faults: [], hasThrown: false, hasLoaded: false, requests: 0 };
  const { faults } = activity;
  reportsByPage.set(page, { activity, warnings: [] });
  page.on('pageerror', (error) => {
    activity.hasThrown = true;
    faults.push({ line: say('threw', { message: firstLine(error.message) }), about: error.stack ?? '' });
  });
  page.on('response', (response) => {
    const url = new URL(response.url());
    const status = response.status();
    if (isMissing(url, status, site))
      faults.push({ line: say('answered', { path: url.pathname, status }), about: url.pathname });
  });
  const count = (request: Request) => {
    // pages poll with HEAD whether a server is reachable again
    if (request.method() !== 'HEAD') activity.requests += 1;
  };
  page.on('request', count);
  page.on('requestfinished', count);
  page.on('requestfailed', count);
  return activity;
}

interface Beat {
  isLoaded: boolean;
  /** The screen's module has not loaded: the host shows a skeleton and has measured no component of the build. */
  isWaiting: boolean;
  /** Counts of requests and DOM changes until now. */
  progress: string;
}

/** Waits for a response of the server, and at least `BEAT_MS`. */
const pulse = (origin: string) =>
  Promise.all([fetch(`${origin}/favicon.ico`, { method: 'HEAD' }).catch(() => null), pause(BEAT_MS)]);

/** True if a page's document was replaced by another one while it was read. */
const isReplaced = (cause: unknown) => cause instanceof Error && /navigat|destroyed/.test(cause.message);

/** Reads a page, again if its document is replaced meanwhile. `untilStuck` ends a page that replaces it again and again. */
async function readPage<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (cause) {
    if (isReplaced(cause)) return readPage(read);
    throw cause;
  }
}

/** Resolves with the fault of a page that answers nothing any more, or reloads again and again; '' once it is closed. */
export async function untilStuck(page: Page, origin: string): Promise<string> {
  let documents = 0;
  page.on('domcontentloaded', () => {
    documents += 1;
  });
  while (!page.isClosed()) {
    let hasAnswered = false;
    const answer = page.evaluate(() => true).catch(() => true);
    void answer.then(() => {
      hasAnswered = true;
    });
    for (let beats = 0; !hasAnswered && beats < STUCK_BEATS; beats += 1) await Promise.race([answer, pulse(origin)]);
    if (!hasAnswered) return say('stuck');
    if (documents > MAX_DOCUMENTS) {
      // Chromium may hang when it closes a page that is loading
      const session = await page.context().newCDPSession(page);
      await session.send('Emulation.setScriptExecutionDisabled', { value: true });
      await page.goto('about:blank').catch(() => null);
      return say('reloads');
    }
    await pulse(origin);
  }
  return '';
}

/**
 * Waits for one response of page and server each, and at least `BEAT_MS`. Under load, beats take longer, so that timeouts counted in
 * beats adapt to the machine.
 */
export async function beat(page: Page, origin: string, { global, id }: Visit, activity: Activity): Promise<Beat> {
  const inspectPage = ({ name, ready }: Record<'name' | 'ready', string>) => ({
    isLoaded: name in globalThis && document.readyState === 'complete',
    isWaiting: document.querySelector('[data-skeleton]') !== null && performance.getEntriesByName(ready).length === 0,
    changes: Number(Reflect.get(globalThis, 'gateChanges') ?? 0),
  });
  const [{ changes, ...state }] = await Promise.all([
    page.evaluate(inspectPage, { name: global ?? 'document', ready: READY + id }).catch((cause: unknown) => {
      if (isReplaced(cause)) return { isLoaded: false, isWaiting: true, changes: -1 };
      throw cause;
    }),
    pulse(origin),
  ]);
  return { ...state, progress: `${activity.requests} ${changes}` };
}

/** Waits until `isDone` is true, the page stalls or an error is thrown. Returns whether `isDone` became true. */
async function waitFor(
  isDone: (beat: Beat) => boolean,
  next: () => Promise<Beat>,
  activity: Activity,
): Promise<boolean> {
  const deadline = performance.now() + TIMEOUT_MS;
  let last = '';
  for (let idle = 0; idle < STANDSTILL_BEATS && performance.now() < deadline && !activity.hasThrown; idle += 1) {
    const now = await next();
    if (isDone(now)) return true;
    if (now.progress !== last) idle = 0;
    last = now.progress;
  }
  return false;
}

export async function waitForIdle(next: () => Promise<Beat>, idleBeats = SETTLED_BEATS): Promise<void> {
  let last = '';
  for (let beats = 0, idle = 0; beats < MAX_SETTLING_BEATS && idle < idleBeats; beats += 1) {
    const { progress } = await next();
    idle = progress === last ? idle + 1 : 0;
    last = progress;
  }
}

export async function waitForLoad(page: Page, origin: string, target: Visit, activity: Activity): Promise<PageFault[]> {
  const next = () => beat(page, origin, target, activity);
  const hasRun = await waitFor(({ isLoaded }) => isLoaded, next, activity);
  await waitForIdle(next);
  // a guest sees no screen on pages that need a login
  const isComplete =
    target.as === 'guest' || activity.hasThrown || (await waitFor(({ isWaiting }) => !isWaiting, next, activity));
  // the driver would wait for a body that a script removed
  const hasBody = await readPage(() => page.evaluate(() => document.body !== null));
  const ariaSnapshot = hasBody ? await page.locator('body').ariaSnapshot({ timeout: TIMEOUT_MS }) : '';
  const findUncheckedPaths = () =>
    [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet][href]')]
      .filter(({ integrity }) => integrity === '')
      .map(({ href }) => new URL(href).pathname);
  const uncheckedPaths = await readPage(() => page.evaluate(findUncheckedPaths));
  const lines = [
    ...uncheckedPaths
      .filter((path) => path.startsWith(`/${buildFolder(target.id)}/`))
      .map((path) => say('unchecked', { path })),
    ...(hasRun ? [] : [say('neverRan')]),
    ...(hasRun && !isComplete ? [say('neverCame')] : []),
    ...(ariaSnapshot.trim() ? [] : [say('blank')]),
  ];
  return lines.map((line) => ({ line, about: target.id }));
}
