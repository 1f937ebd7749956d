import type { BrowserContext, Page } from 'playwright';
import { say } from '../sentences.ts';
import { LONGEST_MS, type SeenFault, type Site, standing, type Visit, type Watched, watch } from './pageWatch.ts';

const PARALLEL_PAGES = 4;

/** Processes the items, `PARALLEL_PAGES` at a time. */
export async function inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const workThrough = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: PARALLEL_PAGES }, workThrough));
}

/** A fault, and the visit that saw it. */
export interface Told extends SeenFault {
  visit: Visit;
}

/** Opens pages in one browser and records what they load and report. */
export interface Walk {
  /** Paths of executed scripts and requested stylesheets, with the first visit of each. */
  readonly ran: ReadonlyMap<string, Visit>;
  /** Those that loaded without any interaction. */
  readonly ranUnasked: ReadonlyMap<string, Visit>;
  readonly told: readonly Told[];
  /** Opens pages in parallel; `then` continues with each loaded page. */
  open(visits: readonly Visit[], then?: (page: Page, visit: Visit, watched: Watched) => Promise<void>): Promise<void>;
}

/** Notes executed scripts, not those that are only preloaded. */
async function noteScripts(page: Page, note: (pathname: string) => void): Promise<void> {
  const session = await page.context().newCDPSession(page);
  session.on('Debugger.scriptParsed', ({ url }) => {
    if (url.startsWith('http')) note(new URL(url).pathname);
  });
  await session.send('Debugger.enable');
  await session.send('Debugger.setSkipAllPauses', { skip: true });
}

/** Starts a walk. `open` makes the context of a visit, which all visits of the same kind share. */
export function startWalk(site: Site, open: (visit: Visit) => Promise<BrowserContext>): Walk {
  const ran = new Map<string, Visit>();
  const ranUnasked = new Map<string, Visit>();
  const reports: Told[] = [];
  const contexts = new Map<string, Promise<BrowserContext>>();
  const contextOf = (visit: Visit) => {
    const kind = visit.as === 'guest' ? 'guest' : `member ${visit.by}`;
    const context = contexts.get(kind) ?? open(visit);
    contexts.set(kind, context);
    return context;
  };

  async function openOne(visit: Visit, then: Parameters<Walk['open']>[1]): Promise<void> {
    const page = await (await contextOf(visit)).newPage();
    let hasStood = false;
    const note = (pathname: string) => {
      // keeps the first page: later ones may load the file only after a tap
      if (!ran.has(pathname)) ran.set(pathname, visit);
      if (!hasStood) ranUnasked.set(pathname, visit);
    };
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.endsWith('.css')) note(pathname);
    });
    try {
      const watched = watch(page, site);
      await noteScripts(page, note);
      const address = site.origin + visit.path;
      const response = await page.goto(address, { waitUntil: 'commit', timeout: LONGEST_MS });
      if (!response?.ok()) {
        reports.push({ line: say('pageAnswered', { status: response?.status() ?? 0 }), about: visit.id, visit });
        return;
      }
      const seen = await standing(page, site.origin, visit, watched);
      hasStood = true;
      await then?.(page, visit, watched);
      reports.push(...[...seen, ...watched.seen].map((each) => ({ ...each, visit })));
    } finally {
      await page.close();
    }
  }

  return {
    ran,
    ranUnasked,
    told: reports,
    open: (visits, then) => inParallel(visits, (visit) => openOne(visit, then)),
  };
}
