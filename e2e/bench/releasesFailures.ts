import type { Browser, Page } from 'playwright';
import type { Fault, FaultyFront } from '../federation/site/faultyFront.ts';
import type { Measure } from './releaseSystem/measure.ts';
import { type Break, bootMs, slowDown, visit } from './releasesVisit.ts';

/** Where a contestant keeps the account remote's parts. */
export interface Parts {
  origin: string;
  entry: RegExp;
  late: RegExp;
  style: RegExp;
}

const waitMs = 10_000;
const script: Fault = { rewrite: (body) => `${body};globalThis.__tampered = true;` };
const style: Fault = { rewrite: (body) => `${body} :root { --tampered: yes; }` };

const fast = ({ entry, late, style: sheet }: Parts): Break[] => [
  [entry, { status: 404 }],
  [entry, { status: 503 }],
  [entry, script],
  [late, { status: 404 }],
  [sheet, { status: 404 }],
];
const hanging = ({ entry, late }: Parts): Break[] => [
  [entry, 'hang'],
  [late, 'hang'],
];

/** Waits until the app is idle, where it becomes so: its prefetch has asked for the kept screen's last file. */
async function opened(page: Page, front: FaultyFront, last: RegExp | null): Promise<boolean> {
  if ((await bootMs(page, true, waitMs)) === null) return false;
  const until = performance.now() + waitMs;
  while (last && performance.now() < until && !last.test(front.asked().join()))
    await page.waitForEvent('requestfinished', { timeout: 1_000 }).catch(() => null);
  return true;
}

/** Milliseconds from the tap on 我的 until its page stands; null = it does not within the wait. */
const recovery = (browser: Browser, parts: Parts, broken: Break, last: RegExp | null) =>
  visit(browser, parts.origin, [broken], async (page, front) => {
    if (!(await opened(page, front, last))) return null;
    await slowDown(page);
    const tappedAt = await page.evaluate(() => performance.now());
    await page.getByRole('navigation').getByRole('link', { name: '我的' }).click();
    const stood = page.waitForFunction(
      () => {
        const isThere = [...document.querySelectorAll('button')].some(
          (button) => button.textContent === '注册账号' && button.checkVisibility(),
        );
        const ran = Reflect.has(globalThis, '__tampered');
        return isThere && !ran ? performance.now() : null;
      },
      undefined,
      { timeout: waitMs },
    );
    return stood.then(
      async (handle) => Number(await handle.jsonValue()) - tappedAt,
      () => null,
    );
  });

const summary = (took: (number | null)[]) => {
  const back = took.filter((one) => one !== null);
  return `${back.length} of ${took.length}${back.length ? `, slowest ${(Math.max(...back) / 1000).toFixed(1)} s` : ''}`;
};

/** How many of the network's failure classes on the account remote heal by themselves, and how slowly. */
export async function measureFailures(browser: Browser, ours: Parts, stock: Parts): Promise<Measure[]> {
  const measures: Measure[] = [];
  for (const [what, classes, goalMs] of [
    ['fast failures', fast, 1_000],
    ['hangs', hanging, 3_500],
  ] as const) {
    const took: (number | null)[] = [];
    for (const broken of classes(ours)) took.push(await recovery(browser, ours, broken, ours.style));
    const stockTook = await Promise.all(classes(stock).map((broken) => recovery(browser, stock, broken, null)));
    measures.push({
      what: `${what} of a remote that heal by themselves`,
      baseline: summary(stockTook),
      ours: summary(took),
      goal: `all, ≤ ${(goalMs / 1000).toFixed(1)} s`,
      met: took.every((one) => one !== null && one <= goalMs),
    });
  }
  return measures;
}

type Outcome = 'changed' | 'refused' | 'not reached';

/** What becomes of a visitor whose remote is changed on its way. */
const outcomeOf = (browser: Browser, parts: Parts, breaks: Break[]) =>
  visit<Outcome>(browser, parts.origin, breaks, async (page) => {
    if ((await bootMs(page, true, waitMs)) === null) return 'not reached';
    await page.getByRole('navigation').getByRole('link', { name: '我的' }).click();
    const ended = page.waitForFunction(
      () => {
        const isChanged =
          Reflect.has(globalThis, '__tampered') ||
          getComputedStyle(document.documentElement).getPropertyValue('--tampered') !== '';
        if (isChanged) return 'changed';
        return document.body.textContent?.includes('暂时打不开') ? 'refused' : null;
      },
      undefined,
      { timeout: waitMs },
    );
    return ended.then(
      async (handle) => (await handle.jsonValue()) as Outcome,
      () => 'not reached' as const,
    );
  });

/** Whether changed bytes take effect; stock's manifest stands where ours has a signed channel. */
export async function measureTampering(browser: Browser, ours: Parts, stock: Parts): Promise<Measure> {
  const cases = (parts: Parts): Break[][] => [[[parts.entry, script]], [[parts.late, script]], [[parts.style, style]]];
  const manifest: Break[] = [
    [
      /\/account\/mf-manifest\.json/,
      { rewrite: (body) => body.replaceAll('"remoteEntry.js"', '"remoteEntry.js?other"') },
    ],
    [/remoteEntry\.js\?other/, script],
  ];
  const ourOutcomes: Outcome[] = [];
  const theirOutcomes: Outcome[] = [];
  for (const breaks of cases(ours)) ourOutcomes.push(await outcomeOf(browser, ours, breaks));
  for (const breaks of [...cases(stock), manifest]) theirOutcomes.push(await outcomeOf(browser, stock, breaks));
  const count = (outcomes: Outcome[], wanted: Outcome) => outcomes.filter((outcome) => outcome === wanted).length;
  const shown = (outcomes: Outcome[]) =>
    (['changed', 'refused', 'not reached'] as const)
      .map((wanted) => `${count(outcomes, wanted)} ${wanted}`)
      .filter((words) => !words.startsWith('0 '))
      .join(', ');
  return {
    what: 'files of a remote changed on their way: what becomes of the page',
    baseline: shown(theirOutcomes),
    ours: shown(ourOutcomes),
    goal: 'all refused',
    met: count(ourOutcomes, 'refused') === ourOutcomes.length,
  };
}
