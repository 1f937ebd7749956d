import { loadavg } from 'node:os';
import { launchChromium } from '../needs.ts';
import { type RunningSite, startProduct } from '../product.ts';
import { coldFigures, type Figure, roundFigures, screenFigures, scriptsToReady, warmFigures } from './loadFigures.ts';
import { measurePage, type Profile, rounds, type Sample, time, type Visits } from './measurePage.ts';
import { median, pairedRatio, table } from './statistics.ts';
import { startStockSite } from './stockSite.ts';

const pairs = Number(process.env.BENCH_PAIRS ?? 5);
/** A screen, and what stands on it once it has its content. */
interface Screen {
  path: string;
  content: string;
}

const explore: Screen = { path: '/explore', content: 'a[href^="/story/"]' };
/** Screens that a link leads to. Who is not signed in finds an invitation on 聊过. */
const linked: Screen[] = [
  { path: '/story/nie-xiaoqian', content: 'img[class*="image_"]' },
  { path: '/conversations', content: '#root svg[class*="drawing_"]' },
];

const contestants = ['ours', 'monolith', 'stock'] as const;

type Contestant = (typeof contestants)[number];
type Measured = Record<Contestant, Visits[]>;

async function interleaved(
  products: Record<Contestant, RunningSite>,
  profile: Profile,
  count: number,
  { path, content }: Screen = explore,
): Promise<Measured> {
  const browser = await launchChromium();
  const measured: Measured = { ours: [], monolith: [], stock: [] };
  for (let pair = 0; pair < count; pair += 1) {
    // A B C, C B A, so that a machine that warms up or slows down favours none
    const order = pair % 2 ? [...contestants].reverse() : contestants;
    for (const name of order)
      measured[name].push(await measurePage(browser, `${products[name].origin}${path}`, profile, content));
  }
  await browser.close();
  return measured;
}

function verdict({ goal, digits = 0 }: Figure, values: Record<Contestant, number[]>): [string, string] {
  if (!goal) return ['–', ''];
  const figure = goal.against
    ? median(values.ours.map((value, pair) => goal.against?.(value, values.monolith[pair] ?? Number.NaN) ?? value))
    : median(values.ours);
  const shown = goal.against ? ` (${figure.toFixed(2)})` : '';
  return [
    `${goal.text}${shown}`,
    Number(figure.toFixed(goal.against ? 2 : digits)) <= goal.atMost ? 'met' : '**missed**',
  ];
}

function print(title: string, figures: Figure[], visits: Record<Contestant, Sample[]>) {
  const rows = figures.map((figure) => {
    const of = (name: Contestant) => visits[name].map(figure.of);
    const values = { ours: of('ours'), monolith: of('monolith'), stock: of('stock') };
    const show = (list: number[]) => (Number.isNaN(median(list)) ? '–' : median(list).toFixed(figure.digits ?? 0));
    const ratio = (other: number[]) => (median(other) > 0 ? pairedRatio(values.ours, other) : '–');
    const shown = contestants.map((name) => show(values[name]));
    return [figure.label, ...shown, ratio(values.monolith), ratio(values.stock), ...verdict(figure, values)];
  });
  const head = ['ours', 'monolith', 'stock', 'ours/monolith (min–max)', 'ours/stock', 'goal', ''];
  console.log(`\n${table([title, ...head], rows)}`);
  if (rows.some((row) => row.at(-1) === '**missed**')) process.exitCode = 1;
}

const only = (measured: Measured, which: keyof Visits): Record<Contestant, Sample[]> => ({
  ours: measured.ours.map((visits) => visits[which]),
  monolith: measured.monolith.map((visits) => visits[which]),
  stock: measured.stock.map((visits) => visits[which]),
});

const load = () => loadavg()[0]?.toFixed(1);

/** The first screen: federated, as one bundle, and as stock Module Federation, of the same sources and interleaved in one run. */
export async function run() {
  const monolith = await startProduct({ LIAOZHAI_MONOLITH: '1' });
  const ours = await startProduct();
  const stock = await startStockSite(ours.origin);
  const before = load();
  try {
    const counted = await interleaved({ ours, monolith, stock }, rounds, 3);
    const timed = await interleaved({ ours, monolith, stock }, time, pairs);
    console.log(`\n${new Date().toISOString().slice(0, 10)}, load ${before} → ${load()}`);
    print(`R: ${rounds.latencyMs} ms latency, no other limit; median of 3`, roundFigures, only(counted, 'cold'));
    const line = `T: ${time.latencyMs} ms, 1.44 Mbit/s, CPU ÷${time.cpuSlowdown}; median of ${pairs}`;
    print(`${line}, cold`, coldFigures, only(timed, 'cold'));
    print(`${line}, warm`, warmFigures, only(timed, 'warm'));
    for (const name of ['ours', 'monolith'] as const) {
      const [sample] = timed[name];
      const files = sample ? scriptsToReady(sample.cold).map(([file, kib]) => `${file} ${kib.toFixed(1)}`) : [];
      console.log(`\nscripts to app ready, ${name}, KiB: ${files.join(', ')}`);
    }
    for (const screen of linked) {
      const visits = await interleaved({ ours, monolith, stock }, time, pairs, screen);
      print(`${screen.path}, ${line}, cold`, screenFigures, only(visits, 'cold'));
    }
  } finally {
    await Promise.all([ours.stop(), monolith.stop(), stock.stop()]);
  }
}
