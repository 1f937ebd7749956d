import { type FurtherOrigins, furtherOrigins, type GateFile, slotProblem } from '@liaozhai/shared/contract';
import type { Browser } from 'playwright';
import { gateFileOf } from '../builds/gateFile.ts';
import { messageOf, refused } from '../errors.ts';
import { buildFolder, type RemoteRecord } from '../model/build.ts';
import { say } from '../sentences.ts';
import { findSmokeBrowser, launchOptions, requireSmokeBrowser } from './chromium.ts';
import type { GateCheck, GateSubject } from './gate.ts';
import type { Site } from './pageWatch.ts';
import { type ServeSet, serveByCommand, serveInProcess } from './serveSet.ts';
import { type LateFile, tamper } from './tamper.ts';
import { tapThrough } from './taps.ts';
import { closedSlots, isScript, lateFiles, type Trial, unexplainedScripts, unopened, unseenSlots } from './unopened.ts';
import { contextOpener, type Visitor } from './visitors.ts';
import { pagesForSlots, visitsOf } from './visits.ts';
import { inParallel, startWalk, type Told, type Walk } from './walk.ts';

const isOf = (about: string, { id }: RemoteRecord) => about.includes(id) || about.includes(`/${buildFolder(id)}/`);

/** Whether this change is to blame: what another remote's build or page does is no finding, unless the host below it is new. */
function isOfChange({ remotes, changed, host }: GateSubject, { about, visit }: Told): boolean {
  const named = remotes.filter((remote) => isOf(about, remote));
  const isBlamed = named.some((remote) => changed.includes(remote));
  const isOwnPage = changed.some(({ id }) => id === visit.id);
  return changed.includes(host) || isBlamed || (isOwnPage && named.length === 0);
}

/** One line for each finding in a changed build, with the visitor where only one of them met it. */
function linesOf({ remotes, changed }: GateSubject, told: readonly Told[]): string[] {
  const findings = new Map<string, { build: string; path: string; seen: string; as: Set<Visitor> }>();
  for (const { line: seen, about, visit } of told) {
    const { id: build } = remotes.find((remote) => changed.includes(remote) && isOf(about, remote)) ?? visit;
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

/** One late script and one late stylesheet of a build, of those that pages asked for. */
function lateFilesToChange(subject: GateSubject, remote: RemoteRecord, ran: Walk['ranUnasked']): LateFile[] {
  const files = lateFiles(subject, remote).flatMap((path): LateFile[] => {
    const target = ran.get(path);
    return target ? [{ kind: isScript(path) ? 'script' : 'stylesheet', path, target }] : [];
  });
  const first = (kind: LateFile['kind']) => files.filter((file) => file.kind === kind).slice(0, 1);
  return [...first('script'), ...first('stylesheet')];
}

/** Opens what routes did not: slots on other remotes' pages, and by taps what a remote that tells the gate something has besides. */
async function openHidden(trial: Trial, remote: RemoteRecord, site: Site): Promise<void> {
  const { files, walk } = trial;
  const { id: by } = remote;
  const slots = () => closedSlots(trial, remote).map(({ name }) => name);
  const { likely, rest } = pagesForSlots(trial.subject, by, slots());
  await walk.open(likely);
  const tap =
    (isDone: () => boolean): Parameters<Walk['open']>[1] =>
    (page, visit, watched) =>
      tapThrough(page, site, visit, watched, isDone);
  const isDone = () => !files.get(remote) || unexplainedScripts(trial, remote).length === 0;
  if (!isDone()) {
    const folder = `/${buildFolder(by)}/`;
    const shown = [...walk.ran].filter(([path]) => path.startsWith(folder)).map(([, visit]) => visit);
    const byPath = new Map([...shown, ...likely].map((visit) => [visit.path, { ...visit, as: 'member' as const, by }]));
    await walk.open([...byPath.values()], tap(isDone));
  }
  // a slot that no page has is not looked for
  const areOpen = () => unseenSlots(trial, remote).every(({ name }) => slotProblem(name, remote.description.routes));
  if (slots().length > 0) await walk.open(rest, files.get(remote) && !areOpen() ? tap(areOpen) : undefined);
}

/** Globals of builds that browsers have already: the page would lose theirs. */
async function takenGlobals(browser: Browser, { remotes, changed }: GateSubject): Promise<string[]> {
  const page = await browser.newPage();
  const found = remotes
    .filter((each) => changed.includes(each) && !each.description.entryType)
    .map(async ({ id: build, description: { global, chunkGlobal = global } }) => {
      const taken = await page.evaluate((names) => names.filter((name) => name in globalThis), [global, chunkGlobal]);
      return [...new Set(taken)].map((name) => say('ofBuild', { build, problem: say('globalOfBrowser', { name }) }));
    });
  const problems = (await Promise.all(found)).flat();
  await page.close();
  return problems;
}

/** Everything that pages tell of the changed remotes: findings, notes, and late files that are worth a change on the way. */
async function tryOut(trial: Trial, site: Site): Promise<{ findings: string[]; notes: string[]; late: LateFile[] }> {
  const { subject, walk } = trial;
  const remotes = subject.remotes.filter((each) => subject.changed.includes(each));
  await walk.open(visitsOf(subject));
  for (const remote of remotes) await openHidden(trial, remote, site);
  const findings = walk.told.filter((each) => isOfChange(subject, each));
  const others = walk.told.filter((each) => !findings.includes(each));
  const closed = remotes.map((remote) => unopened(trial, remote));
  return {
    late: remotes.flatMap((remote) => lateFilesToChange(subject, remote, walk.ranUnasked)),
    findings: [...linesOf(subject, findings), ...closed.flatMap((each) => each.findings)],
    notes: [
      ...closed.flatMap((each) => each.notes),
      ...linesOf(subject, others).map((line) => `not of this change: ${line}`),
    ],
  };
}

/**
 * Opens the changed remotes of the set in a headless browser, as a guest and as a member whose calls their own files answer. It
 * opens every route, the slots and what a tap loads. Everything loads, nothing throws, nothing is blocked. One late script and one
 * late stylesheet of each are changed on the way and must take no effect.
 */
export const smoke = (serve: ServeSet, executablePath: string, connect: readonly string[] = []): GateCheck => ({
  name: 'headless smoke',
  run: async (subject, note) => {
    const served = await serve(subject.hash);
    const site = { origin: served.origin, host: subject.host };
    try {
      const headers = await headerProblems(served.origin, subject);
      const files = new Map<RemoteRecord, GateFile | null>();
      for (const remote of subject.remotes) files.set(remote, await gateFileOf(subject.store, remote));
      // loaded only here, since it takes longer than most commands
      const { chromium } = await import('playwright');
      const browser = await chromium.launch(launchOptions(executablePath));
      try {
        const taken = await takenGlobals(browser, subject);
        const fileOf = new Map([...files].map(([{ id }, file]) => [id, file]));
        const open = contextOpener(browser, { origin: served.origin, connect }, fileOf);
        const walk = startWalk(site, open);
        const { findings, notes, late } = await tryOut({ subject, walk, files }, site);
        for (const line of notes) note(line);
        const tampered: string[] = [];
        await inParallel(late, async (file) => {
          tampered.push(...(await tamper(site, await open(file.target), file)));
        });
        return [...headers, ...taken, ...findings, ...tampered];
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

function furtherIn(environment: NodeJS.ProcessEnv): FurtherOrigins {
  try {
    return furtherOrigins(environment);
  } catch (cause) {
    throw refused(messageOf(cause));
  }
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

/** Asks the real server for every script and stylesheet of the changed builds. Returns what is wrong with its answers. */
async function headerProblems(origin: string, { set, changed }: GateSubject): Promise<string[]> {
  const folders = changed.map(({ id }) => `/${buildFolder(id)}/`);
  const paths = Object.keys(set.hashes).filter((path) => folders.some((folder) => path.startsWith(folder)));
  const problems = paths.map(async (path) => {
    const { status, headers } = await fetch(origin + path, { method: 'GET', headers: { 'accept-encoding': 'br' } });
    const wrong = Object.entries(EXPECTED_HEADERS).filter(
      ([name, expected]) => !expected.test(headers.get(name) ?? ''),
    );
    return [
      ...(status === 200 ? [] : [say('servedStatus', { file: path, status })]),
      ...wrong.map(([name]) => say('servedHeader', { file: path, header: name, value: String(headers.get(name)) })),
    ];
  });
  return (await Promise.all(problems)).flat();
}
