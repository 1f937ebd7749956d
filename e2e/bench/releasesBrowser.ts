import { loadavg } from 'node:os';
import { filesOf, startSite } from '../federation/site/site.ts';
import { launchChromium } from '../needs.ts';
import type { Measure } from './releaseSystem/measure.ts';
import { measureBoot } from './releasesBoot.ts';
import { measureFailures, measureTampering, type Parts } from './releasesFailures.ts';
import { table } from './statistics.ts';
import { startStockSite } from './stockSite.ts';

const edition = (says: string) => ({ remote: 'account', part: 'my', says });

/** Finds the parts of one build, or with `build` left out those of every build. */
const ourParts = (origin: string, build?: string): Parts => {
  const part = (name: string) => (build ? filesOf(build, name) : new RegExp(`/builds/account/.*${name}`));
  return {
    origin,
    entry: part('remoteEntry.js'),
    late: part('static/js/my.'),
    style: part('static/css/my.'),
  };
};

const stockParts = (origin: string): Parts => ({
  origin,
  entry: /\/stock\/account\/remoteEntry\.js/,
  late: /\/stock\/account\/.*expose_my\..*\.js/,
  style: /\/stock\/account\/.*expose_my\..*\.css/,
});

/** Failing and changed remotes in one Chromium, ours and stock Module Federation in turn. Returns whether every goal is met. */
export async function measureInBrowser(): Promise<boolean> {
  const loads = [loadavg()[0]];
  process.stderr.write('browser …\n');
  const site = await startSite();
  const { origin } = site.front;
  const stock = await startStockSite(origin);
  const browser = await launchChromium();
  const measures: Measure[] = [];
  const add = (...added: Measure[]) => {
    measures.push(...added);
    for (const { what, baseline, ours } of added) process.stderr.write(`  ${what}: ${ours}; stock ${baseline}\n`);
  };
  try {
    add(...(await measureBoot(browser, origin, stock.origin)));
    const newer = await site.publish(edition('新的一版'));
    await site.succeed(await site.publish(edition('旧的一版')), newer);
    const theirs = stockParts(stock.origin);
    add(...(await measureFailures(browser, ourParts(origin, newer), theirs)));
    add(await measureTampering(browser, ourParts(origin), theirs));
  } finally {
    await browser.close();
    await stock.stop();
    await site.stop();
  }
  loads.push(loadavg()[0]);
  const shownLoads = loads.map((load) => load?.toFixed(1)).join(' → ');
  console.log(`\n${new Date().toISOString().slice(0, 10)}, load ${shownLoads}; 150 ms, 1.6 Mbit/s\n`);
  const rows = measures.map(({ what, baseline, ours, goal, met }) => [
    what,
    baseline,
    ours,
    goal,
    goal === '–' ? '' : met ? 'met' : 'MISSED',
  ]);
  console.log(table(['measure', 'stock Module Federation, same run', 'ours', 'goal', ''], rows));
  return measures.every(({ met }) => met);
}
