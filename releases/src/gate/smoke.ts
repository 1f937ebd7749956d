import { type Browser, type BrowserContext, chromium, type Page } from 'playwright';
import { buildFolder } from '../model/ids.ts';
import type { PageBuild } from '../model/set.ts';
import { launchOptions } from './chromium.ts';
import type { GateCheck, GateSubject } from './gate.ts';
import type { ServeSet } from './serveSet.ts';

const PARALLEL_PAGES = 3;
const LOAD_MILLISECONDS = 6000;
const QUIET_MILLISECONDS = 2500;
const MOST_ROUTES = 12;
const RETRY_CARD = '暂时打不开';

interface Visit {
  id: string;
  path: string;
  /** The container that must be there when the page stands; null where a page may ask for a login first. */
  global: string | null;
}

const visitOf = (build: PageBuild, route: PageBuild['routes'][number]): Visit => ({
  id: build.id,
  path: route.path.replace(/:\w+\??/g, '1').replace(/\/\*$/, ''),
  global: route.requiresAuth ? null : build.global,
});

/** Every route of the changed remotes; with a new host the first route of every remote. */
function visitsOf({ set, host, changed }: GateSubject): Visit[] {
  const isNew = (id: string) => changed.some((record) => record.id === id);
  const visits = Object.values(set.remotes).flatMap((build) => {
    const routes = isNew(build.id) ? build.routes : isNew(host.id) ? build.routes.slice(0, 1) : [];
    return routes.map((route) => visitOf(build, route));
  });
  return visits.slice(0, MOST_ROUTES);
}

/** Runs in the page. */
const watchPolicy = () =>
  document.addEventListener('securitypolicyviolation', (event) =>
    Reflect.get(globalThis, 'gateViolation')(`${event.violatedDirective} ${event.blockedURI}`),
  );

/** Hears everything that must not happen while a page opens; `thrown` resolves with the first error. */
async function watch(page: Page): Promise<{ seen: string[]; thrown: Promise<false> }> {
  const seen: string[] = [];
  await page.exposeFunction('gateViolation', (what: string) => {
    seen.push(`the content security policy was violated: ${what}`);
  });
  await page.addInitScript(watchPolicy);
  page.on('pageerror', (error) => seen.push(`an error was thrown: ${error.message.split('\n')[0]}`));
  page.on('response', (response) => {
    const { pathname } = new URL(response.url());
    if (pathname.startsWith('/builds/') && response.status() >= 400)
      seen.push(`${pathname} answered ${response.status()}`);
  });
  page.on('request', (request) => {
    if (!request.url().endsWith('/beacon')) return;
    const failure = /"failure":"([\w-]+)"/.exec(request.postData() ?? '')?.[1];
    if (failure) seen.push(`the page reported a failure: ${failure}`);
  });
  const thrown = new Promise<false>((resolve) => page.once('pageerror', () => resolve(false)));
  return { seen, thrown };
}

async function standing(page: Page, { global }: Visit, thrown: Promise<false>): Promise<string[]> {
  const loaded = (name: string) => name in globalThis;
  const ran = page.waitForFunction(loaded, global ?? 'document', { timeout: LOAD_MILLISECONDS }).then(
    () => true,
    () => false,
  );
  const isThere = await Promise.race([ran, thrown]);
  await page
    .waitForLoadState('networkidle', { timeout: QUIET_MILLISECONDS })
    .catch(() => 'a page that polls is never idle');
  const shown = await page.locator('body').ariaSnapshot();
  return [
    ...(isThere ? [] : ['its entry did not run: the page never saw its container']),
    ...(shown.trim() ? [] : ['the page stayed blank']),
    ...(shown.includes(RETRY_CARD) ? ['the page shows the retry card'] : []),
  ];
}

async function visit(context: BrowserContext, origin: string, target: Visit): Promise<string[]> {
  const page = await context.newPage();
  try {
    const { seen, thrown } = await watch(page);
    const response = await page.goto(origin + target.path, { waitUntil: 'load', timeout: LOAD_MILLISECONDS });
    if (!response?.ok()) return [`${target.id}: ${target.path} answered ${response?.status()}`];
    const problems = [...(await standing(page, target, thrown)), ...seen];
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

async function visitAll(browser: Browser, origin: string, visits: readonly Visit[]): Promise<string[]> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, serviceWorkers: 'block' });
  const waiting = [...visits];
  const problems: string[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      problems.push(...(await visit(context, origin, next)));
  };
  await Promise.all(Array.from({ length: PARALLEL_PAGES }, work));
  return problems;
}

/** Opens the changed remotes' routes of the set in a headless browser: everything loads, nothing throws, nothing is blocked. */
export const smoke = (serve: ServeSet, executablePath: string): GateCheck => ({
  name: 'headless smoke',
  run: async (subject) => {
    const served = await serve(subject.hash);
    try {
      const headers = await headersAsServed(served.origin, subject);
      const browser = await chromium.launch(launchOptions(executablePath));
      try {
        return [...headers, ...(await visitAll(browser, served.origin, visitsOf(subject)))];
      } finally {
        await browser.close();
      }
    } finally {
      await served.stop();
    }
  },
});
