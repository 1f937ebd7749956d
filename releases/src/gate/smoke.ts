import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { beaconSchema, type PageBuild, type RemoteFailure } from '@liaozhai/shared/contract';
import { type Context, Hono } from 'hono';
import type { Browser, BrowserContext, Page } from 'playwright';
import * as v from 'valibot';
import { refused } from '../errors.ts';
import { buildFolder, type RemoteRecord } from '../model/build.ts';
import type { ServedFile } from '../serve/buildFiles.ts';
import { openReleases, type ReleasesOptions } from '../serve/openReleases.ts';
import { renderPage } from '../serve/renderPage.ts';
import { findChromium, launchOptions, requireChromium } from './chromium.ts';
import type { GateCheck, GateSubject } from './gate.ts';

const PARALLEL_PAGES = 3;
const BEAT_MILLISECONDS = 100;
/** A page that makes no progress for so many beats stands still: six seconds on a machine that has time, longer on one that has none. */
const STANDSTILL_BEATS = 60;
const SETTLED_BEATS = 5;
/** A page that polls is never quiet. */
const MOST_SETTLING_BEATS = 25;
/** Ends what makes progress for ever. */
const LONGEST_MILLISECONDS = 60_000;

interface Visit {
  id: string;
  path: string;
  /** The container that must be there when the page stands; null for an ES module and where a page may ask for a login first. */
  global: string | null;
}

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

/**
 * Runs in the page. Beacons are intercepted here, since the browser does not expose their bodies to its driver. Without named helpers:
 * the command line's compiler wraps those in a function that the page does not have.
 */
const watchPage = () => {
  document.addEventListener('securitypolicyviolation', (event) =>
    Reflect.get(globalThis, 'gateViolation')(`${event.violatedDirective} ${event.blockedURI}`),
  );
  const send = navigator.sendBeacon.bind(navigator);
  navigator.sendBeacon = (address, data) => {
    void new Response(data).text().then(Reflect.get(globalThis, 'gateBeacon'));
    return send(address, data);
  };
  let changes = 0;
  new MutationObserver(() => {
    changes += 1;
    Reflect.set(globalThis, 'gateChanges', changes);
  }).observe(document, { childList: true, subtree: true, characterData: true });
};

/** The kind of failure that a beacon reports, or null. */
function failureIn(beacon: string): RemoteFailure | null {
  try {
    const parsed = v.safeParse(beaconSchema, JSON.parse(beacon));
    return parsed.success ? (parsed.output.failure ?? null) : null;
  } catch (cause) {
    if (cause instanceof SyntaxError) return null;
    throw cause;
  }
}

/** What is recorded of a page while it opens. */
interface Watched {
  /** What must not happen, and did. */
  seen: string[];
  thrown: boolean;
  /** Requests that began or ended. */
  requests: number;
}

async function watch(page: Page): Promise<Watched> {
  const watched: Watched = { seen: [], thrown: false, requests: 0 };
  const { seen } = watched;
  await page.exposeFunction('gateViolation', (what: string) => {
    seen.push(`the content security policy was violated: ${what}`);
  });
  await page.exposeFunction('gateBeacon', (text: string) => {
    const failure = failureIn(text);
    if (failure) seen.push(`a build failed: the page reported ${failure}`);
  });
  await page.addInitScript(watchPage);
  page.on('pageerror', (error) => {
    watched.thrown = true;
    seen.push(`an error was thrown: ${error.message.split('\n')[0]}`);
  });
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith('/builds/') && response.status() >= 400)
      seen.push(`${pathname} answered ${response.status()}`);
  });
  const count = () => {
    watched.requests += 1;
  };
  page.on('request', count);
  page.on('requestfinished', count);
  page.on('requestfailed', count);
  return watched;
}

interface Beat {
  /** The container is there and the document has loaded. */
  ran: boolean;
  /** Requests and changes of the page until now. */
  progress: string;
}

/**
 * Time as the page has it: page and server have each answered once. A machine under load beats slower, and so it gives what runs on
 * it the time that it takes there.
 */
async function beat(page: Page, origin: string, { global }: Visit, watched: Watched): Promise<Beat> {
  const look = (name: string) => ({
    ran: name in globalThis && document.readyState === 'complete',
    changes: Number(Reflect.get(globalThis, 'gateChanges') ?? 0),
  });
  const [{ ran, changes }] = await Promise.all([
    page.evaluate(look, global ?? 'document'),
    fetch(`${origin}/favicon.ico`, { method: 'HEAD' }).catch(() => null),
    pause(BEAT_MILLISECONDS),
  ]);
  return { ran, progress: `${watched.requests} ${changes}` };
}

/** Beats until the page runs, stands still or has thrown. Returns whether it runs. */
async function runs(next: () => Promise<Beat>, watched: Watched): Promise<boolean> {
  const ends = performance.now() + LONGEST_MILLISECONDS;
  let last = '';
  for (let still = 0; still < STANDSTILL_BEATS && performance.now() < ends && !watched.thrown; still += 1) {
    const { ran, progress } = await next();
    if (ran) return true;
    if (progress !== last) still = 0;
    last = progress;
  }
  return false;
}

/** Beats until nothing has changed for a while. */
async function settles(next: () => Promise<Beat>): Promise<void> {
  let last = '';
  for (let beats = 0, still = 0; beats < MOST_SETTLING_BEATS && still < SETTLED_BEATS; beats += 1) {
    const { progress } = await next();
    still = progress === last ? still + 1 : 0;
    last = progress;
  }
}

async function standing(page: Page, origin: string, target: Visit, watched: Watched): Promise<string[]> {
  const next = () => beat(page, origin, target, watched);
  const isThere = await runs(next, watched);
  await settles(next);
  const shown = await page.locator('body').ariaSnapshot({ timeout: LONGEST_MILLISECONDS });
  const unchecked = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet][href]')]
      .filter(({ integrity }) => integrity === '')
      .map(({ href }) => new URL(href).pathname),
  );
  return [
    ...unchecked
      .filter((path) => path.startsWith(`/${buildFolder(target.id)}/`))
      .map(
        (path) =>
          `${path} went past the host's asset loader, unchecked and loaded twice: name it by the href of a link element`,
      ),
    ...(isThere ? [] : ['its entry did not run: the page never saw its container']),
    ...(shown.trim() ? [] : ['the page stayed blank']),
  ];
}

/** Paths of scripts that pages ran, each with a visit that did. */
type Ran = Map<string, Visit>;

async function visit(context: BrowserContext, origin: string, target: Visit, ran: Ran): Promise<string[]> {
  const page = await context.newPage();
  page.on('request', (request) => {
    if (request.resourceType() === 'script') ran.set(new URL(request.url()).pathname, target);
  });
  try {
    const watched = await watch(page);
    const response = await page.goto(origin + target.path, { waitUntil: 'commit', timeout: LONGEST_MILLISECONDS });
    if (!response?.ok()) return [`${target.id}: ${target.path} answered ${response?.status()}`];
    const problems = [...(await standing(page, origin, target, watched)), ...watched.seen];
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

async function visitAll(browser: Browser, origin: string, visits: readonly Visit[], ran: Ran): Promise<string[]> {
  const context = await browser.newContext(VISITOR);
  const waiting = [...visits];
  const problems: string[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      problems.push(...(await visit(context, origin, next, ran)));
  };
  await Promise.all(Array.from({ length: PARALLEL_PAGES }, work));
  return problems;
}

const TAMPERED = 'gateTampered';

/** Opens a page with a changed script, which must not run: some browsers refuse only what the host's asset loader checks. */
async function tamper(browser: Browser, origin: string, path: string, target: Visit): Promise<string[]> {
  const context = await browser.newContext(VISITOR);
  try {
    await context.route(
      (url) => url.pathname === path,
      async (route) => {
        const body = `${await (await route.fetch()).text()}\n;globalThis.${TAMPERED} = true;`;
        await route.fulfill({ contentType: 'text/javascript', headers: { 'access-control-allow-origin': '*' }, body });
      },
    );
    const page = await context.newPage();
    const watched = await watch(page);
    await page.goto(origin + target.path, { waitUntil: 'load', timeout: LONGEST_MILLISECONDS });
    await settles(() => beat(page, origin, target, watched));
    const isRun = await page.evaluate((name) => name in globalThis, TAMPERED);
    return isRun
      ? [`${target.id}: ${path} ran with changed bytes: let the host load it, by the src of a script element`]
      : [];
  } finally {
    // a script may still be on its way
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.close();
  }
}

/** Scripts of a build that run after its entry and module. */
const lateScripts = ({ set }: GateSubject, { id, description }: RemoteRecord): string[] => {
  const folder = `/${buildFolder(id)}/`;
  const early = [description.entry, ...description.module.js].map((path) => folder + path);
  return Object.keys(set.hashes).filter(
    (path) => path.startsWith(folder) && /\.m?js$/.test(path) && !early.includes(path),
  );
};

/** Late scripts and slots that no page opened: what a tap loads and what another remote's page shows. */
function unseen(subject: GateSubject, remote: RemoteRecord, ran: Ran): string[] {
  const { id, description } = remote;
  const scripts = lateScripts(subject, remote).filter((path) => !ran.has(path));
  const slots = description.slots.filter(({ js }) => js.every((path) => !ran.has(`/${buildFolder(id)}/${path}`)));
  const lines = [
    ...slots.map(({ name }) => `slot ${name}`),
    ...scripts.map((path) => path.slice(buildFolder(id).length + 2)),
  ];
  return lines.length > 0 ? [`${id}: no page opened ${lines.join(', ')}`] : [];
}

/**
 * Opens the changed remotes' routes of the set in a headless browser: everything loads, nothing throws, nothing is blocked, and a late
 * script of each that was changed on the way does not run.
 */
export const smoke = (serve: ServeSet, executablePath: string): GateCheck => ({
  name: 'headless smoke',
  run: async (subject, note) => {
    const served = await serve(subject.hash);
    try {
      const headers = await headersAsServed(served.origin, subject);
      // loaded only here, since it takes longer than most commands
      const { chromium } = await import('playwright');
      const browser = await chromium.launch(launchOptions(executablePath));
      try {
        const ran: Ran = new Map();
        const problems = [...headers, ...(await visitAll(browser, served.origin, visitsOf(subject), ran))];
        for (const remote of subject.remotes.filter((each) => subject.changed.includes(each))) {
          for (const line of unseen(subject, remote, ran)) note(line);
          const late = lateScripts(subject, remote).find((path) => ran.has(path));
          const target = late && ran.get(late);
          if (target) problems.push(...(await tamper(browser, served.origin, late, target)));
        }
        return problems;
      } finally {
        await browser.close();
      }
    } finally {
      await served.stop();
    }
  },
});

const READY_MILLISECONDS = 20_000;
const ORIGIN = /http:\/\/(?:127\.0\.0\.1|localhost):\d+/;

/** A running server of one set. */
export interface ServedSet {
  origin: string;
  stop: () => Promise<void>;
}

/** Starts something that serves a stored set. */
export type ServeSet = (hash: string) => Promise<ServedSet>;

/**
 * A shell that runs the command and ends it, by SIGTERM and three seconds later by SIGKILL, when its own standard input closes: by
 * our hand, or because we were killed.
 */
const guarded = (command: string): string => `exec 3<&0
(exec ${command}) </dev/null 3<&- & command=$!
(read -r line <&3; kill $command; sleep 3; kill -9 $command) >/dev/null 2>&1 & guard=$!
wait $command; status=$?
kill $guard; exit $status`;

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin?.end();
  await ended;
}

function originOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const tooLate = setTimeout(
      () => reject(refused('the server of the set named no address in time', said.slice(-500))),
      READY_MILLISECONDS,
    );
    const hear = (piece: Buffer) => {
      said += piece.toString('utf8');
      const [origin] = ORIGIN.exec(said) ?? [];
      if (!origin) return;
      clearTimeout(tooLate);
      resolve(origin);
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('error', reject);
    child.once('exit', () => {
      clearTimeout(tooLate);
      reject(refused('the server of the set ended before it listened', said.slice(-500)));
    });
  });
}

/** Serves a set by a command, to which `--set <hash>` is added; it must print its address on loopback and end on SIGTERM. */
export function serveByCommand(command: string, environment: NodeJS.ProcessEnv): ServeSet {
  return async (hash) => {
    const child = spawn(guarded(`${command} --set ${hash}`), {
      shell: true,
      env: { ...environment, PORT: '0' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    try {
      return { origin: await originOf(child), stop: () => stop(child) };
    } catch (cause) {
      await stop(child);
      throw cause;
    }
  };
}

const answer = (context: Context, file: ServedFile | null) =>
  file ? context.body(new Uint8Array(file.body), 200, file.headers) : context.notFound();

/** Serves a stored set from this process, with an API that is down: every page must bear that. */
export function serveInProcess(options: Pick<ReleasesOptions, 'store' | 'channel'>): ServeSet {
  return async (set) => {
    const releases = await openReleases({ ...options, set });
    const app = new Hono();
    app.get('/builds/*', async (context) => answer(context, await releases.file(context.req.path)));
    app.get('/channels/*', async (context) => answer(context, await releases.channelFile()));
    app.get('/sw.js', async (context) => answer(context, await releases.serviceWorker()));
    app.post('/beacon', (context) => context.body(null, 204));
    app.all('/api/*', (context) => context.json({ message: '' }, 503));
    app.get('*', async (context) => {
      if (!context.req.header('accept')?.includes('text/html')) return context.notFound();
      const { pageSet, template } = await releases.pageFor({ id: 'gate' });
      const page = renderPage({ template, pageSet, path: context.req.path, config: {} });
      return context.body(page.html, 200, page.headers);
    });
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 });
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const stop = async () => {
      const closed = once(server, 'close');
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      await closed;
      await releases.close();
    };
    return { origin: `http://127.0.0.1:${port}`, stop };
  };
}

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
