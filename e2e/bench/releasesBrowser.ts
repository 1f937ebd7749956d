import type { Browser, Page } from 'playwright';
import { type Fault, type FaultyFront, startFaultyFront } from '../federation/site/faultyFront.ts';
import { filesOf, startSite } from '../federation/site/site.ts';
import { launchChromium } from '../needs.ts';
import { emulate } from './device.ts';
import { median, type Row, row } from './report.ts';
import { startStockSite } from './stockSite.ts';

type Break = [path: RegExp, fault: Fault];

/** Paths of the account remote's files at a contestant. */
interface Parts {
  origin: string;
  entry: RegExp;
  late: RegExp;
  style: RegExp;
}

const victims = ['wallet', 'account', 'chat', 'stories'];
const visits = Number(process.env.BENCH_VISITS ?? 3);
const BOOT_MS = 15_000;
const WAIT_MS = 10_000;
const network = { latencyMs: 150, bytesPerSecond: 200_000, cpuSlowdown: 1 };
const script: Fault = { rewrite: (body) => `${body};globalThis.__tampered = true;` };
const style: Fault = { rewrite: (body) => `${body} :root { --tampered: yes; }` };

/** Files of one build; without `build`, of every build. */
const ourParts = (origin: string, build?: string): Parts => {
  const part = (name: string) => (build ? filesOf(build, name) : new RegExp(`/builds/account/.*${name}`));
  return { origin, entry: part('remoteEntry.js'), late: part('static/js/my.'), style: part('static/css/my.') };
};

const stockParts = (origin: string): Parts => ({
  origin,
  entry: /\/stock\/account\/remoteEntry\.js/,
  late: /\/stock\/account\/.*expose_my\..*\.js/,
  style: /\/stock\/account\/.*expose_my\..*\.css/,
});

const slowDown = async (page: Page) => emulate(await page.context().newCDPSession(page), network);

/** Makes one cold visit in a new context and through a new proxy, so that visits can run in parallel. */
async function visit<T>(
  browser: Browser,
  origin: string,
  breaks: readonly Break[],
  work: (page: Page, front: FaultyFront) => Promise<T>,
): Promise<T> {
  const front = await startFaultyFront(new URL(origin));
  for (const [path, fault] of breaks) front.breaks(path, fault);
  const viewport = { width: 390, height: 844 };
  const context = await browser.newContext({ viewport, baseURL: front.origin, serviceWorkers: 'block' });
  try {
    return await work(await context.newPage(), front);
  } finally {
    await context.close();
    await front.close();
  }
}

/** Polls `look` in the page until it returns a value; null after the time limit. */
const pollPage = <Value>(page: Page, look: (withCard: boolean) => Value | null, withCard = true, timeout = WAIT_MS) =>
  page.waitForFunction(look, withCard, { timeout }).then(
    async (handle) => (await handle.jsonValue()) as Value,
    () => null,
  );

/** Milliseconds from the start of navigation until the app reacts to taps and, if requested, shows a story card. */
async function boot(page: Page, withCard: boolean, timeout: number): Promise<number | null> {
  await page.goto('/explore', { waitUntil: 'commit' });
  const look = (wantsCard: boolean) => {
    const link = document.querySelector('nav a');
    // React has hydrated the server-rendered page
    const isAlive = link && Object.keys(link).some((key) => key.startsWith('__reactProps'));
    const hasCard = !document.querySelector('[data-first]') && document.querySelector('a[href^="/story/"]');
    return isAlive && (hasCard || !wantsCard) ? performance.now() : null;
  };
  return pollPage(page, look, withCard, timeout);
}

const bootWithout = (browser: Browser, origin: string, count: number, fault: Fault) => {
  const names = victims.slice(0, count).join('|');
  return visit(browser, origin, count ? [[new RegExp(`/(builds|stock)/(${names})/`), fault]] : [], async (page) => {
    await slowDown(page);
    return boot(page, count < victims.length, BOOT_MS);
  });
};

async function medianBoot(...args: Parameters<typeof bootWithout>): Promise<number | null> {
  const times: (number | null)[] = [];
  for (let round = 0; round < visits; round += 1) times.push(await bootWithout(...args));
  return times.every((one) => one !== null) ? median(times) : null;
}

const formatTimes = (times: (number | null)[]) =>
  times.map((one) => (one === null ? 'never (15 s)' : one.toFixed(0))).join(' / ');

/** Boot time with zero to four of four remotes dead or hung. */
async function measureBoot(browser: Browser, ours: string, stock: string): Promise<Row[]> {
  const [base, stockBase] = [await medianBoot(browser, ours, 0, 'hang'), await medianBoot(browser, stock, 0, 'hang')];
  const rows = [row('boot, all remotes well, ms', formatTimes([base]), '–', true, formatTimes([stockBase]))];
  const counts = victims.map((_, index) => index + 1);
  for (const [name, fault] of Object.entries<Fault>({ dead: { status: 404 }, hung: 'hang' })) {
    const times: (number | null)[] = [];
    for (const count of counts) times.push(await medianBoot(browser, ours, count, fault));
    const stockTimes = await Promise.all(counts.map((count) => bootWithout(browser, stock, count, fault)));
    const isMet = base !== null && times.every((one) => one !== null && one - base <= 300);
    const what = `boot with 1 / 2 / 3 / 4 of 4 remotes ${name}, ms`;
    rows.push(row(what, formatTimes(times), 'always, ≤ +300', isMet, formatTimes(stockTimes)));
  }
  return rows;
}

const openMy = (page: Page) => page.getByRole('navigation').getByRole('link', { name: '我的' }).click();

/** Milliseconds from the tap on 我的 until its page is visible; `last` is the last prefetched file. */
const recovery = (browser: Browser, parts: Parts, broken: Break, last: RegExp | null) =>
  visit(browser, parts.origin, [broken], async (page, front) => {
    if ((await boot(page, true, WAIT_MS)) === null) return null;
    const until = performance.now() + WAIT_MS;
    while (last && performance.now() < until && !last.test(front.asked().join()))
      await page.waitForEvent('requestfinished', { timeout: 1_000 }).catch(() => null);
    await slowDown(page);
    const tappedAt = await page.evaluate(() => performance.now());
    await openMy(page);
    const look = () => {
      const isVisible = [...document.querySelectorAll('button')].some(
        (button) => button.textContent === '注册账号' && button.checkVisibility(),
      );
      return isVisible && !Reflect.has(globalThis, '__tampered') ? performance.now() : null;
    };
    const shownAt = await pollPage(page, look);
    return shownAt === null ? null : shownAt - tappedAt;
  });

const failures = {
  'fast failures': {
    goalMs: 1_000,
    of: ({ entry, late, style: sheet }: Parts): Break[] => [
      [entry, { status: 404 }],
      [entry, { status: 503 }],
      [entry, script],
      [late, { status: 404 }],
      [sheet, { status: 404 }],
    ],
  },
  hangs: {
    goalMs: 3_500,
    of: ({ entry, late }: Parts): Break[] => [
      [entry, 'hang'],
      [late, 'hang'],
    ],
  },
};

const summary = (times: (number | null)[]) => {
  const recoveryTimes = times.filter((one) => one !== null);
  return `${recoveryTimes.length} of ${times.length}${recoveryTimes.length ? `, slowest ${(Math.max(...recoveryTimes) / 1000).toFixed(1)} s` : ''}`;
};

/** Number of network failures of the account remote that are repaired without the reader, and the slowest time. */
async function measureFailures(browser: Browser, ours: Parts, stock: Parts): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [what, { goalMs, of }] of Object.entries(failures)) {
    const times: (number | null)[] = [];
    for (const broken of of(ours)) times.push(await recovery(browser, ours, broken, ours.style));
    const stockTimes = await Promise.all(of(stock).map((broken) => recovery(browser, stock, broken, null)));
    const isMet = times.every((one) => one !== null && one <= goalMs);
    const goal = `all, ≤ ${(goalMs / 1000).toFixed(1)} s`;
    rows.push(row(`${what} of a remote that heal`, summary(times), goal, isMet, summary(stockTimes)));
  }
  return rows;
}

type Outcome = 'changed' | 'refused' | 'not reached';

/** Outcome for a visitor whose remote is changed in transit. */
const outcomeOf = (browser: Browser, { origin }: Parts, breaks: Break[]) =>
  visit<Outcome>(browser, origin, breaks, async (page) => {
    if ((await boot(page, true, WAIT_MS)) === null) return 'not reached';
    await openMy(page);
    const look = () => {
      const mark = getComputedStyle(document.documentElement).getPropertyValue('--tampered');
      if (Reflect.has(globalThis, '__tampered') || mark !== '') return 'changed';
      return document.body.textContent?.includes('暂时打不开') ? 'refused' : null;
    };
    return (await pollPage<Outcome>(page, look)) ?? 'not reached';
  });

/** Whether changed bytes take effect. Stock has a manifest instead of our signed channel. */
async function measureTampering(browser: Browser, ours: Parts, stock: Parts): Promise<Row> {
  const tamperings = (parts: Parts): Break[][] => [
    [[parts.entry, script]],
    [[parts.late, script]],
    [[parts.style, style]],
  ];
  const renamedEntry: Fault = { rewrite: (body) => body.replaceAll('"remoteEntry.js"', '"remoteEntry.js?other"') };
  const manifest: Break[] = [
    [/\/account\/mf-manifest\.json/, renamedEntry],
    [/remoteEntry\.js\?other/, script],
  ];
  const outcomes = async (parts: Parts, all: Break[][]) => {
    const collected: Outcome[] = [];
    for (const breaks of all) collected.push(await outcomeOf(browser, parts, breaks));
    return collected;
  };
  const ourOutcomes = await outcomes(ours, tamperings(ours));
  const peer = await outcomes(stock, [...tamperings(stock), manifest]);
  const counts = (found: Outcome[]) =>
    [...new Set(found)].map((one) => `${found.filter((other) => other === one).length} ${one}`).join(', ');
  const isMet = ourOutcomes.every((outcome) => outcome === 'refused');
  return row('files of a remote changed on their way', counts(ourOutcomes), 'all refused', isMet, counts(peer));
}

const edition = (says: string) => ({ remote: 'account', part: 'my', says });

/** Measures failing and changed remotes in one Chromium, for ours and for stock Module Federation. */
export async function measureInBrowser(): Promise<Row[]> {
  const site = await startSite();
  const { origin } = site.front;
  const stock = await startStockSite(origin);
  const browser = await launchChromium();
  try {
    const bootRows = await measureBoot(browser, origin, stock.origin);
    const newerBuild = await site.publish(edition('新的一版'));
    await site.succeed(await site.publish(edition('旧的一版')), newerBuild);
    const stockFiles = stockParts(stock.origin);
    const failureRows = await measureFailures(browser, ourParts(origin, newerBuild), stockFiles);
    return [...bootRows, ...failureRows, await measureTampering(browser, ourParts(origin), stockFiles)];
  } finally {
    await browser.close();
    await stock.stop();
    await site.stop();
  }
}
