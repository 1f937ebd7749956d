import type { Browser } from 'playwright';
import type { Fault } from '../federation/site/faultyFront.ts';
import type { Measure } from './releaseSystem/measure.ts';
import { bootMs, slowDown, visit } from './releasesVisit.ts';
import { median } from './statistics.ts';

const victims = ['wallet', 'account', 'chat', 'stories'];
const visits = Number(process.env.BENCH_VISITS ?? 3);
const addedGoalMs = 300;
const faults: Record<string, Fault> = { dead: { status: 404 }, hung: 'hang' };

const bootWith = (browser: Browser, origin: string, count: number, fault: Fault) => {
  const lost = victims.slice(0, count).join('|');
  return visit(browser, origin, count ? [[new RegExp(`/(builds|stock)/(${lost})/`), fault]] : [], async (page) => {
    await slowDown(page);
    return bootMs(page, count < victims.length);
  });
};

async function medianBoot(...of: Parameters<typeof bootWith>): Promise<number | null> {
  const took: number[] = [];
  for (let round = 0; round < visits; round += 1) {
    const one = await bootWith(...of);
    if (one === null) return null;
    took.push(one);
  }
  return median(took);
}

const shown = (took: (number | null)[]) =>
  took.map((one) => (one === null ? 'never (15 s)' : one.toFixed(0))).join(' / ');

/** Boot with none to all four of the remotes dead or hung, ours and stock. */
export async function measureBoot(browser: Browser, ours: string, stock: string): Promise<Measure[]> {
  const measures: Measure[] = [];
  const [calm, stockCalm] = [await medianBoot(browser, ours, 0, 'hang'), await medianBoot(browser, stock, 0, 'hang')];
  measures.push({
    what: 'boot, all remotes well, ms',
    baseline: shown([stockCalm]),
    ours: shown([calm]),
    goal: '–',
    met: true,
  });
  const counts = victims.map((_, index) => index + 1);
  for (const [name, fault] of Object.entries(faults)) {
    const took: (number | null)[] = [];
    for (const count of counts) took.push(await medianBoot(browser, ours, count, fault));
    const stockTook = await Promise.all(counts.map((count) => bootWith(browser, stock, count, fault)));
    measures.push({
      what: `boot with 1 / 2 / 3 / 4 of 4 remotes ${name}, ms`,
      baseline: shown(stockTook),
      ours: shown(took),
      goal: `always, ≤ +${addedGoalMs}`,
      met: calm !== null && took.every((one) => one !== null && one - calm <= addedGoalMs),
    });
  }
  return measures;
}
