import type { BrowserContext, Page, Route } from 'playwright';
import { say } from '../sentences.ts';
import { inParallel } from '../store/store.ts';
import {
  type Activity,
  beat,
  type PageFault,
  type Site,
  TIMEOUT_MS,
  track,
  untilStuck,
  type Visit,
  waitForIdle,
  waitForLoad,
} from './pageWatch.ts';

/** Pages of one browser at a time. */
export const PARALLEL_PAGES = 4;

export interface VisitFault extends PageFault {
  visit: Visit;
}

export type Walk = ReturnType<typeof startWalk>;

/** Continues with a loaded page. */
type Then = (page: Page, visit: Visit, activity: Activity) => Promise<void>;

/** Notes executed scripts, not those that are only preloaded. */
async function noteScripts(page: Page, note: (pathname: string) => void): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on('Debugger.scriptParsed', ({ url }) => {
    if (url.startsWith('http')) note(new URL(url).pathname);
  });
  await session.send('Debugger.enable');
  await session.send('Debugger.setSkipAllPauses', { skip: true });
}

/** Opens pages in one browser and records what they load and report. `open` makes the context of a visit, which all visits of the same kind share. */
export function startWalk(site: Site, open: (visit: Visit) => Promise<BrowserContext>) {
  /** Paths of executed scripts and requested stylesheets, with the first visit of each. */
  const loadedPaths = new Map<string, Visit>();
  /** Those that loaded without any interaction. */
  const initialPaths = new Map<string, Visit>();
  const faults: VisitFault[] = [];
  const contexts = new Map<string, Promise<BrowserContext>>();
  const contextOf = (visit: Visit) => {
    const kind = visit.as === 'guest' ? 'guest' : `member ${visit.by}`;
    const context = contexts.get(kind) ?? open(visit);
    contexts.set(kind, context);
    return context;
  };

  async function openVisit(visit: Visit, then?: Then): Promise<void> {
    const page = await (await contextOf(visit)).newPage();
    const activity = track(page, site);
    const note = (pathname: string) => {
      // keeps the first page: later ones may load the file only after a tap
      if (!loadedPaths.has(pathname)) loadedPaths.set(pathname, visit);
      if (!activity.hasLoaded) initialPaths.set(pathname, visit);
    };
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.endsWith('.css')) note(pathname);
    });
    const addFault = (line: string, about = visit.id) => faults.push({ line, about, visit });
    const show = async (): Promise<string> => {
      await noteScripts(page, note);
      const address = site.origin + visit.path;
      const response = await page.goto(address, { waitUntil: 'commit', timeout: TIMEOUT_MS });
      if (!response?.ok()) return say('pageAnswered', { status: response?.status() ?? 0 });
      activity.faults.unshift(...(await waitForLoad(page, site.origin, visit, activity)));
      activity.hasLoaded = true;
      await then?.(page, visit, activity);
      return '';
    };
    try {
      const fault = await Promise.race([show(), untilStuck(page, site.origin)]);
      for (const { line, about } of activity.faults) addFault(line, about);
      if (fault) addFault(fault);
    } finally {
      await page.close();
    }
  }

  return {
    loadedPaths,
    initialPaths,
    faults,
    open: (visits: readonly Visit[], then?: Then) =>
      inParallel(PARALLEL_PAGES, visits, (visit) => openVisit(visit, then)),
  };
}

/** Marker in a changed file: a global or custom property that shows that the file took effect. */
const TAMPER_MARKER = 'gateTampered';
const CHANGES = {
  script: { type: 'text/javascript', said: 'changedScriptRan', text: `\n;globalThis.${TAMPER_MARKER} = true;` },
  stylesheet: { type: 'text/css', said: 'changedStyleHeld', text: `\n:root{--${TAMPER_MARKER}:1}` },
} as const;

/** A file of a build that loads after its entry and module. */
export interface LateFile {
  kind: keyof typeof CHANGES;
  path: string;
  target: Visit;
}

/**
 * Opens a page with a changed file, which must not take effect. Some browsers check only files loaded by the host's asset loader. Closes
 * the context.
 */
export async function tamper(site: Site, context: BrowserContext, { kind, path, target }: LateFile): Promise<string[]> {
  const change = async (route: Route) => {
    const body = (await (await route.fetch()).text()) + CHANGES[kind].text;
    const headers = { 'access-control-allow-origin': '*' };
    await route.fulfill({ contentType: CHANGES[kind].type, headers, body });
  };
  try {
    await context.route((url) => url.pathname === path, change);
    const page = await context.newPage();
    const activity = track(page, site);
    const show = async () => {
      await page.goto(site.origin + target.path, { waitUntil: 'load', timeout: TIMEOUT_MS });
      await waitForIdle(() => beat(page, site.origin, target, activity));
      return page.evaluate(
        (name) => name in globalThis || getComputedStyle(document.documentElement).getPropertyValue(`--${name}`) !== '',
        TAMPER_MARKER,
      );
    };
    // the walk has reported a page that is stuck
    const isEffective = (await Promise.race([show(), untilStuck(page, site.origin)])) === true;
    return isEffective ? [say('ofBuild', { build: target.id, problem: say(CHANGES[kind].said, { path }) })] : [];
  } finally {
    // a context does not close while a page of it is stuck
    for (const page of context.pages()) await page.close();
    // a file may still be loading
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
}
