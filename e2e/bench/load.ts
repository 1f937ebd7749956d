import { chromium } from 'playwright';
import { findChromium } from '../chromium.mjs';
import { type RunningProduct, startProduct } from '../product.ts';
import { measurePage, type Profile, rounds, type Sample, time } from './measurePage.ts';
import { median, pairedRatio, table } from './statistics.ts';
import { startStockSite } from './stockSite.ts';

const pairs = Number(process.env.BENCH_PAIRS ?? 5);
const card = 'a[href^="/story/"]';
const flags = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];

const contestants = ['ours', 'monolith', 'stock'] as const;

type Contestant = (typeof contestants)[number];
type Measured = Record<Contestant, Sample[]>;

async function interleaved(
  products: Record<Contestant, RunningProduct>,
  profile: Profile,
  count: number,
): Promise<Measured> {
  const browser = await chromium.launch({ executablePath: findChromium() ?? undefined, args: flags });
  const measured: Measured = { ours: [], monolith: [], stock: [] };
  for (let pair = 0; pair < count; pair += 1) {
    // A B C, C B A, so that a machine that warms up or slows down favours none
    const order = pair % 2 ? [...contestants].reverse() : contestants;
    for (const name of order)
      measured[name].push(await measurePage(browser, `${products[name].origin}/explore`, profile, card));
  }
  await browser.close();
  return measured;
}

const figures: { label: string; of: (sample: Sample) => number; show: (value: number) => string }[] = [
  { label: 'content visible, ms', of: (sample) => sample.contentMs, show: (value) => value.toFixed(0) },
  { label: 'app ready, ms', of: (sample) => sample.readyMs, show: (value) => value.toFixed(0) },
  { label: 'first paint, ms', of: (sample) => sample.firstPaintMs, show: (value) => value.toFixed(0) },
  { label: 'LCP, ms', of: (sample) => sample.lcpMs, show: (value) => value.toFixed(0) },
  { label: 'CLS', of: (sample) => sample.cls, show: (value) => value.toFixed(3) },
  { label: 'blocking time, ms', of: (sample) => sample.blockingMs, show: (value) => value.toFixed(0) },
  { label: 'requests to content', of: (sample) => sample.requests, show: (value) => value.toFixed(0) },
  { label: 'JS requests to content', of: (sample) => sample.jsRequests, show: (value) => value.toFixed(0) },
  { label: 'JS to content, KiB', of: (sample) => sample.jsBytes / 1024, show: (value) => value.toFixed(1) },
  { label: 'JS to app ready, KiB', of: (sample) => sample.jsBytesToReady / 1024, show: (value) => value.toFixed(1) },
  { label: 'all to content, KiB', of: (sample) => sample.bytes / 1024, show: (value) => value.toFixed(1) },
];

function printTimes({ ours, monolith, stock }: Measured) {
  const rows = figures.map(({ label, of, show }) => {
    const [a, b, c] = [ours.map(of), monolith.map(of), stock.map(of)];
    const ratio = (other: number[]) => (median(other) === 0 ? '–' : pairedRatio(a, other));
    return [label, show(median(a)), show(median(b)), show(median(c)), ratio(b), ratio(c)];
  });
  console.log(
    `\nT: ${time.latencyMs} ms, 1.44 Mbit/s, CPU ÷${time.cpuSlowdown}; cold; median of ${ours.length} pairs\n`,
  );
  console.log(
    table(['/explore', 'federated', 'monolith', 'stock', 'federated/monolith (min–max)', 'federated/stock'], rows),
  );
}

function printRounds({ ours, monolith, stock }: Measured) {
  const count = (samples: Sample[], of: (sample: Sample) => number) =>
    String(median(samples.map((sample) => Math.floor(of(sample) / rounds.latencyMs))));
  const row = (label: string, of: (sample: Sample) => number) => [
    label,
    count(ours, of),
    count(monolith, of),
    count(stock, of),
  ];
  console.log(`\nR: ${rounds.latencyMs} ms latency, no other limit; median of ${ours.length}\n`);
  console.log(
    table(
      ['rounds to', 'federated', 'monolith', 'stock'],
      [
        row('first paint', (s) => s.firstPaintMs),
        row('content', (s) => s.contentMs),
        row('app ready', (s) => s.readyMs),
      ],
    ),
  );
}

/** The first screen, federated and as one bundle of the same sources, interleaved in one run. */
export async function run() {
  const monolith = await startProduct({ LIAOZHAI_MONOLITH: '1' });
  const ours = await startProduct();
  const stock = await startStockSite(ours.origin);
  try {
    printRounds(await interleaved({ ours, monolith, stock }, rounds, 3));
    printTimes(await interleaved({ ours, monolith, stock }, time, pairs));
  } finally {
    await Promise.all([ours.stop(), monolith.stop(), stock.stop()]);
  }
}
