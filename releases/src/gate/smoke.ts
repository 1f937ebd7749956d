import { type FurtherOrigins, furtherOrigins, type GateFile, slotProblem } from '@liaozhai/shared/contract';
import type { Browser } from 'playwright';
import { gateFileOf } from '../builds/gateFile.ts';
import { messageOf, refused } from '../errors.ts';
import { buildFolder, type RemoteRecord } from '../model/build.ts';
import { say } from '../sentences.ts';
import { inParallel } from '../store/store.ts';
import { findSmokeBrowser, launchOptions, requireSmokeBrowser } from './chromium.ts';
import type { GateCheck, GateSubject } from './gate.ts';
import type { Site, Visit } from './pageWatch.ts';
import { type ServeSet, serveByCommand, serveInProcess } from './serveSet.ts';
import { tapThrough } from './taps.ts';
import {
  closedSlots,
  isScript,
  lateFiles,
  pagesForSlots,
  type Trial,
  unexplainedScripts,
  unopened,
  unseenSlots,
  visitsOf,
} from './unopened.ts';
import { contextOpener, type Visitor } from './visitors.ts';
import { type LateFile, PARALLEL_PAGES, startWalk, tamper, type VisitFault, type Walk } from './walk.ts';

const isAbout = (about: string, { id }: RemoteRecord) => about.includes(id) || about.includes(`/${buildFolder(id)}/`);

/** True if this change is to blame. Faults of other remotes' builds or pages count only if the host is new. */
function isOfChange({ remotes, changed, host }: GateSubject, { about, visit }: VisitFault): boolean {
  const namedRemotes = remotes.filter((remote) => isAbout(about, remote));
  const isBlamed = namedRemotes.some((remote) => changed.includes(remote));
  const isOwnPage = changed.some(({ id }) => id === visit.id);
  return changed.includes(host) || isBlamed || (isOwnPage && namedRemotes.length === 0);
}

/** Returns one line per finding in a changed build, with the kind of visitor if only one is affected. */
function linesOf({ remotes, changed }: GateSubject, faults: readonly VisitFault[]): string[] {
  const findings = new Map<string, { build: string; path: string; seen: string; as: Set<Visitor> }>();
  for (const { line: seen, about, visit } of faults) {
    const { id: build } = remotes.find((remote) => changed.includes(remote) && isAbout(about, remote)) ?? visit;
    const { path } = visit;
    const key = [build, path, seen].join(' ');
    const finding = findings.get(key) ?? { build, path, seen, as: new Set() };
    findings.set(key, { ...finding, as: finding.as.add(visit.as) });
  }
  return [...findings.values()].map(({ build, path, seen, as: [visitor = 'guest', second] }) => {
    const problem = second ? say('onPage', { path, seen }) : say('onPageAs', { path, visitor, seen });
    return say('ofBuild', { build, problem });
  });
}

/** Returns a late script and a late stylesheet of a build, among those that pages requested. */
function lateFilesToChange(subject: GateSubject, remote: RemoteRecord, ran: Walk['initialPaths']): LateFile[] {
  const files = lateFiles(subject, remote).flatMap((path): LateFile[] => {
    const target = ran.get(path);
    return target ? [{ kind: isScript(path) ? 'script' : 'stylesheet', path, target }] : [];
  });
  const first = (kind: LateFile['kind']) => files.filter((file) => file.kind === kind).slice(0, 1);
  return [...first('script'), ...first('stylesheet')];
}

/** Opens slots on other remotes' pages and, for a remote with a gate file, taps through pages to open the rest. */
async function openHidden(trial: Trial, remote: RemoteRecord, site: Site): Promise<void> {
  const { files, walk } = trial;
  const { id: by } = remote;
  const slots = () => closedSlots(trial, remote).map(({ name }) => name);
  const { likely, rest } = pagesForSlots(trial.subject, by, slots());
  await walk.open(likely);
  /** Taps through every page first, and again with long presses if that opened too little: a press takes long. */
  const tapThroughAll = async (visits: readonly Visit[], isDone: () => boolean) => {
    for (const presses of [false, true])
      if (!isDone())
        await walk.open(visits, (page, visit, watched) => tapThrough(page, site, visit, watched, { isDone, presses }));
  };
  const isDone = () => !files.get(remote.id) || unexplainedScripts(trial, remote).length === 0;
  if (!isDone()) {
    const folder = `/${buildFolder(by)}/`;
    const shown = [...walk.loadedPaths].filter(([path]) => path.startsWith(folder)).map(([, visit]) => visit);
    const byPath = new Map([...shown, ...likely].map((visit) => [visit.path, { ...visit, as: 'member' as const, by }]));
    const isOwn = ({ id }: Visit) => Number(id === by);
    await tapThroughAll(
      [...byPath.values()].toSorted((one, other) => isOwn(other) - isOwn(one)),
      isDone,
    );
  }
  // a slot that no page has cannot be opened
  const areOpen = () => unseenSlots(trial, remote).every(({ name }) => slotProblem(name, remote.description.routes));
  if (slots().length > 0) await (files.get(remote.id) && !areOpen() ? tapThroughAll(rest, areOpen) : walk.open(rest));
}

/** Returns problems for globals of builds that would overwrite those of the browser. */
async function browserGlobalProblems(browser: Browser, { remotes, changed }: GateSubject): Promise<string[]> {
  const page = await browser.newPage();
  const checks = remotes
    .filter((each) => changed.includes(each) && !each.description.entryType)
    .map(async ({ id: build, description: { global, chunkGlobal = global } }) => {
      const clashes = await page.evaluate((names) => names.filter((name) => name in globalThis), [global, chunkGlobal]);
      return [...new Set(clashes)].map((name) => say('ofBuild', { build, problem: say('globalOfBrowser', { name }) }));
    });
  const problems = (await Promise.all(checks)).flat();
  await page.close();
  return problems;
}

/** Opens the pages of changed remotes. Returns findings, notes, and late files for the test with changed bytes. */
async function runTrial(trial: Trial, site: Site): Promise<{ findings: string[]; notes: string[]; late: LateFile[] }> {
  const { subject, walk } = trial;
  const remotes = subject.remotes.filter((each) => subject.changed.includes(each));
  await walk.open(visitsOf(subject));
  for (const remote of remotes) await openHidden(trial, remote, site);
  const findings = walk.faults.filter((each) => isOfChange(subject, each));
  const others = walk.faults.filter((each) => !findings.includes(each));
  const unopenedParts = remotes.map((remote) => unopened(trial, remote));
  // a page with a fault may not load a second time either
  const soundRemotes = remotes.filter(
    (remote) => !findings.some(({ about, visit }) => visit.id === remote.id || isAbout(about, remote)),
  );
  return {
    late: soundRemotes.flatMap((remote) => lateFilesToChange(subject, remote, walk.initialPaths)),
    findings: [...linesOf(subject, findings), ...unopenedParts.flatMap((each) => each.findings)],
    notes: [
      ...unopenedParts.flatMap((each) => each.notes),
      ...linesOf(subject, others).map((line) => `not of this change: ${line}`),
    ],
  };
}

/**
 * Opens the changed remotes in a headless browser, as a guest and as a member whose calls are mocked by their gate files. Opens every
 * route, the slots and what a tap loads. Everything must load without errors and violations. One late script and one late stylesheet of
 * each are changed in transit and must have no effect.
 */
export const smoke = (serve: ServeSet, executablePath: string, connect: readonly string[] = []): GateCheck => ({
  name: 'headless smoke',
  run: async (subject, note) => {
    const server = await serve(subject.hash);
    const site = { origin: server.origin, host: subject.host };
    try {
      const headers = await headerProblems(server.origin, subject);
      const files = new Map<string, GateFile | null>();
      for (const remote of subject.remotes) files.set(remote.id, await gateFileOf(subject.store, remote));
      // loaded on demand, because the import takes longer than most commands
      const { chromium } = await import('playwright');
      const browser = await chromium.launch(launchOptions(executablePath));
      try {
        const globalProblems = await browserGlobalProblems(browser, subject);
        const open = contextOpener(browser, { origin: server.origin, connect }, files);
        const walk = startWalk(site, open);
        const { findings, notes, late } = await runTrial({ subject, walk, files }, site);
        for (const line of notes) note(line);
        const tamperProblems: string[] = [];
        await inParallel(PARALLEL_PAGES, late, async (file) => {
          tamperProblems.push(...(await tamper(site, await open(file.target), file)));
        });
        return [...headers, ...globalProblems, ...findings, ...tamperProblems];
      } finally {
        await browser.close();
      }
    } finally {
      await server.stop();
    }
  },
});

export type SmokeMode = 'auto' | 'required' | 'off';

export interface SmokeOptions {
  mode: SmokeMode;
  store: string;
  channel: string;
  environment: NodeJS.ProcessEnv;
  /** Receives the note that the browser check is skipped. */
  note: (line: string) => void;
}

function furtherIn(environment: NodeJS.ProcessEnv): FurtherOrigins {
  try {
    return furtherOrigins(environment);
  } catch (cause) {
    throw refused(messageOf(cause));
  }
}

/** Returns the browser check for `mode`. Without a browser, skips it with a note, or throws refused if it is required. */
export async function chooseSmoke({
  mode,
  store,
  channel,
  environment,
  note,
}: SmokeOptions): Promise<GateCheck | null> {
  if (mode === 'off') return null;
  const chromium = mode === 'required' ? await requireSmokeBrowser(environment) : await findSmokeBrowser(environment);
  if (!chromium) {
    note('No Chromium found: the headless smoke is left out. Name one with CHROMIUM_PATH to have it.');
    return null;
  }
  const further = furtherIn(environment);
  const command = environment.RELEASES_SERVE;
  const serve = command
    ? serveByCommand(command, { ...environment, RELEASES_STORE: store, RELEASES_CHANNEL: channel, CHANNEL: channel })
    : serveInProcess({ store, channel, further });
  return smoke(serve, chromium, further.connect);
}

const EXPECTED_HEADERS: Record<string, RegExp> = {
  'content-type': /^text\/(javascript|css)/,
  'cache-control': /immutable/,
  'access-control-allow-origin': /^\*$/,
  'x-content-type-options': /^nosniff$/,
};

/** Requests every script and stylesheet of the changed builds from the real server. Returns problems of status and headers. */
async function headerProblems(origin: string, { set, changed }: GateSubject): Promise<string[]> {
  const folders = changed.map(({ id }) => `/${buildFolder(id)}/`);
  const paths = Object.keys(set.hashes).filter((path) => folders.some((folder) => path.startsWith(folder)));
  const problems = paths.map(async (path) => {
    const { status, headers } = await fetch(origin + path, { method: 'GET', headers: { 'accept-encoding': 'br' } });
    const failures = Object.entries(EXPECTED_HEADERS).filter(
      ([name, expected]) => !expected.test(headers.get(name) ?? ''),
    );
    return [
      ...(status === 200 ? [] : [say('servedStatus', { file: path, status })]),
      ...failures.map(([name]) => say('servedHeader', { file: path, header: name, value: String(headers.get(name)) })),
    ];
  });
  return (await Promise.all(problems)).flat();
}
