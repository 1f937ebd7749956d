import type { PageBuild } from '@liaozhai/shared/contract';
import type { Browser, BrowserContext } from 'playwright';
import { buildFolder, type RemoteRecord } from '../model/build.ts';
import { findChromium, launchOptions, requireChromium } from './chromium.ts';
import type { GateCheck, GateSubject } from './gate.ts';
import { LONGEST_MILLISECONDS, type Site, standing, type Visit, watch } from './pageWatch.ts';
import { type ServeSet, serveByCommand, serveInProcess } from './serveSet.ts';
import { type LateFile, tamper } from './tamper.ts';

const PARALLEL_PAGES = 3;

const visitOf = (build: PageBuild, route: PageBuild['routes'][number]): Visit => ({
  id: build.id,
  path: route.path.replace(/:\w+\??/g, '1').replace(/\/\*$/, ''),
  global: route.requiresAuth || build.entryType ? null : build.global,
});

/** Every route of the changed remotes; with a new host the first route of every remote. */
function visitsOf({ set, host, changed }: GateSubject): Visit[] {
  const isNew = (id: string) => changed.some((record) => record.id === id);
  return Object.values(set.remotes).flatMap((build) => {
    const routes = isNew(build.id) ? build.routes : isNew(host.id) ? build.routes.slice(0, 1) : [];
    return routes.map((route) => visitOf(build, route));
  });
}

/** Paths of scripts and stylesheets that pages asked for, each with a visit that did. */
type Ran = Map<string, Visit>;

async function visit(context: BrowserContext, site: Site, target: Visit, ran: Ran): Promise<string[]> {
  const page = await context.newPage();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.resourceType() === 'script' || pathname.endsWith('.css')) ran.set(pathname, target);
  });
  try {
    const watched = await watch(page, site);
    const address = site.origin + target.path;
    const response = await page.goto(address, { waitUntil: 'commit', timeout: LONGEST_MILLISECONDS });
    if (!response?.ok()) return [`${target.id}: ${target.path} answered ${response?.status()}`];
    const problems = [...(await standing(page, site.origin, target, watched)), ...watched.seen];
    return [...new Set(problems)].map((line) => `${target.id}: on ${target.path} ${line}`);
  } finally {
    await page.close();
  }
}

const EXPECTED_HEADERS: Record<string, RegExp> = {
  'content-type': /^text\/(javascript|css)/,
  'cache-control': /immutable/,
  'access-control-allow-origin': /^\*$/,
  'x-content-type-options': /^nosniff$/,
};

/** Asks the real server for every script and stylesheet of the changed builds. */
async function headersAsServed(origin: string, { set, changed }: GateSubject): Promise<string[]> {
  const folders = changed.map(({ id }) => `/${buildFolder(id)}/`);
  const paths = Object.keys(set.hashes).filter((path) => folders.some((folder) => path.startsWith(folder)));
  const problems = paths.map(async (path) => {
    const { status, headers } = await fetch(origin + path, { method: 'GET', headers: { 'accept-encoding': 'br' } });
    const wrong = Object.entries(EXPECTED_HEADERS).filter(
      ([name, expected]) => !expected.test(headers.get(name) ?? ''),
    );
    return [
      ...(status === 200 ? [] : [`${path} is served with status ${status}`]),
      ...wrong.map(([name]) => `${path} is served with ${name}: ${headers.get(name)}`),
    ];
  });
  return (await Promise.all(problems)).flat();
}

const VISITOR = { viewport: { width: 390, height: 844 }, serviceWorkers: 'block' } as const;

const openContext = (browser: Browser) => browser.newContext(VISITOR);

async function visitAll(browser: Browser, site: Site, visits: readonly Visit[], ran: Ran): Promise<string[]> {
  const context = await openContext(browser);
  const waiting = [...visits];
  const problems: string[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      problems.push(...(await visit(context, site, next, ran)));
  };
  await Promise.all(Array.from({ length: PARALLEL_PAGES }, work));
  return problems;
}

/** Scripts and stylesheets of a build that come after its entry and module. */
const lateFiles = ({ set }: GateSubject, { id, description }: RemoteRecord): string[] => {
  const folder = `/${buildFolder(id)}/`;
  const early = [description.entry, ...description.module.js, ...description.module.css].map((path) => folder + path);
  return Object.keys(set.hashes).filter((path) => path.startsWith(folder) && !early.includes(path));
};

const isScript = (path: string) => /\.m?js$/.test(path);

/** One late script and one late stylesheet of a build, of those that pages asked for. */
function lateFilesToChange(subject: GateSubject, remote: RemoteRecord, ran: Ran): LateFile[] {
  const files = lateFiles(subject, remote).flatMap((path): LateFile[] => {
    const target = ran.get(path);
    return target ? [{ kind: isScript(path) ? 'script' : 'stylesheet', path, target }] : [];
  });
  const first = (kind: LateFile['kind']) => files.filter((file) => file.kind === kind).slice(0, 1);
  return [...first('script'), ...first('stylesheet')];
}

/** Late scripts and slots that no page opened: what a tap loads and what another remote's page shows. */
function unseen(subject: GateSubject, remote: RemoteRecord, ran: Ran): string[] {
  const { id, description } = remote;
  const scripts = lateFiles(subject, remote).filter((path) => isScript(path) && !ran.has(path));
  const slots = description.slots.filter(({ js }) => js.every((path) => !ran.has(`/${buildFolder(id)}/${path}`)));
  const lines = [
    ...slots.map(({ name }) => `slot ${name}`),
    ...scripts.map((path) => path.slice(buildFolder(id).length + 2)),
  ];
  return lines.length > 0 ? [`${id}: no page opened ${lines.join(', ')}`] : [];
}

/**
 * Opens the changed remotes' routes of the set in a headless browser: everything loads, nothing throws, nothing is blocked, and a late
 * script and a late stylesheet of each that were changed on the way take no effect.
 */
export const smoke = (serve: ServeSet, executablePath: string): GateCheck => ({
  name: 'headless smoke',
  run: async (subject, note) => {
    const served = await serve(subject.hash);
    const site = { origin: served.origin, host: subject.host };
    try {
      const headers = await headersAsServed(served.origin, subject);
      // loaded only here, since it takes longer than most commands
      const { chromium } = await import('playwright');
      const browser = await chromium.launch(launchOptions(executablePath));
      try {
        const ran: Ran = new Map();
        const problems = await visitAll(browser, site, visitsOf(subject), ran);
        const remotes = subject.remotes.filter((each) => subject.changed.includes(each));
        for (const line of remotes.flatMap((remote) => unseen(subject, remote, ran))) note(line);
        const late = remotes.flatMap((remote) => lateFilesToChange(subject, remote, ran));
        const tampered = await Promise.all(late.map((file) => tamper(browser, site, openContext, file)));
        return [...headers, ...problems, ...tampered.flat()];
      } finally {
        await browser.close();
      }
    } finally {
      await served.stop();
    }
  },
});

export type SmokeMode = 'auto' | 'required' | 'off';

export interface SmokeOptions {
  mode: SmokeMode;
  store: string;
  channel: string;
  environment: NodeJS.ProcessEnv;
  /** Receives the note that the browser check is left out. */
  note: (line: string) => void;
}

/** The browser check as asked for; without a browser it is left out with a note, or refused where it is required. */
export async function chooseSmoke({
  mode,
  store,
  channel,
  environment,
  note,
}: SmokeOptions): Promise<GateCheck | null> {
  if (mode === 'off') return null;
  const chromium = mode === 'required' ? await requireChromium(environment) : await findChromium(environment);
  if (!chromium) {
    note('No Chromium found: the headless smoke is left out. Name one with CHROMIUM_PATH to have it.');
    return null;
  }
  const command = environment.RELEASES_SERVE;
  const serve = command
    ? serveByCommand(command, { ...environment, RELEASES_STORE: store, RELEASES_CHANNEL: channel, CHANNEL: channel })
    : serveInProcess({ store, channel });
  return smoke(serve, chromium);
}
