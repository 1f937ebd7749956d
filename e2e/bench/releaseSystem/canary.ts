import { createHash } from 'node:crypto';
import { AUTO_STOP, verdictOn } from '../../../releases/src/health/autoStop.ts';
import type { Counts } from '../../../releases/src/health/figures.ts';
import { bucketOf, type Histogram, type Stratum, speedVerdict } from '../../../releases/src/health/vitals.ts';
import { bucket } from '../../../releases/src/serve/renderPage.ts';
import { createRandom } from '../../storm/random.ts';
import { quantile, type Row, row } from '../report.ts';

const VISITORS = 1_000_000;
const REQUESTED_PERCENTS = [0.1, 0.5, 1, 2, 5, 10, 20, 30, 40, 50];

/** The common method: an integer from 0 to 99, compared inclusively. */
const wholeBucket = (visitor: string): number => createHash('sha256').update(visitor).digest().readUInt32BE(0) % 100;

const worstDeviation = (places: Float64Array, isIn: (place: number, percent: number) => boolean): number =>
  Math.max(
    ...REQUESTED_PERCENTS.map((percent) => {
      let inside = 0;
      for (const place of places) if (isIn(place, percent)) inside += 1;
      return Math.abs((inside / VISITORS) * 100 - percent);
    }),
  );

/** Largest deviation of the served share from the requested share, for a million fixed visitor ids. */
export async function canaryShare(): Promise<Row[]> {
  const ours = new Float64Array(VISITORS);
  const usual = new Float64Array(VISITORS);
  for (let n = 0; n < VISITORS; n += 1) {
    ours[n] = bucket(`visitor-${n}`, 'bench-salt');
    usual[n] = wholeBucket(`visitor-${n}`);
  }
  const [worst, usualWorst] = [
    worstDeviation(ours, (place, percent) => place < percent),
    worstDeviation(usual, (place, percent) => place <= percent),
  ];
  const what = 'canary asked 0.1…50 %: worst distance, points';
  return [row(what, worst.toFixed(3), '≤ 0.1', worst <= 0.1, `${usualWorst.toFixed(2)} (whole buckets, inclusive)`)];
}

const RAMPS = 2_000;
const VISITORS_PER_LOOK = 20;
const LOOKS = 100;
/** stable visitors per candidate visitor, as at ten percent */
const CONTROL = 9;
const SOUND = [0.005, 0.02, 0.1];
/** the p-value that a naive observer accepts as proof */
const NAIVE_ALPHA = 0.05;

function arrive(group: Counts, visitors: number, failing: number, random: () => number) {
  group.visitors += visitors;
  for (let n = 0; n < visitors; n += 1) if (random() < failing) group.failedVisitors += 1;
}

/** Simulates one ramp, evaluated after every twenty visitors. Returns the candidate's visitors when it was stopped; null if it was not. */
function ramp(failing: { candidate: number; stable: number }, alpha: number, seed: number): number | null {
  const random = createRandom(seed).next;
  const candidate = { visitors: 0, failedVisitors: 0 };
  const stable = { visitors: 0, failedVisitors: 0 };
  for (let look = 0; look < LOOKS; look += 1) {
    arrive(candidate, VISITORS_PER_LOOK, failing.candidate, random);
    arrive(stable, VISITORS_PER_LOOK * CONTROL, failing.stable, random);
    const { enough, pValue } = verdictOn(candidate, stable);
    if (enough && pValue < alpha) return candidate.visitors;
  }
  return null;
}

const stopsOf = (failing: (n: number) => { candidate: number; stable: number }, alpha: number) =>
  Array.from({ length: RAMPS }, (_, n) => ramp(failing(n), alpha, n)).filter((at) => at !== null);

const percent = (count: number) => `${((count / RAMPS) * 100).toFixed(2)} %`;

/** Simulates how often the automatic stop ends a sound candidate, and how soon it ends a harmful one. */
export async function falseStops(): Promise<Row[]> {
  const alike = (n: number) => {
    const rate = SOUND[n % SOUND.length] ?? 0;
    return { candidate: rate, stable: rate };
  };
  const falseStopCount = stopsOf(alike, AUTO_STOP.alpha).length;
  const naive = stopsOf(alike, NAIVE_ALPHA).length;
  const harmfulStops = stopsOf(() => ({ candidate: 0.2, stable: 0.02 }), AUTO_STOP.alpha);
  return [
    row(
      `sound candidates stopped, of ${RAMPS} ramps looked at ${LOOKS} times each`,
      percent(falseStopCount),
      '< 1 %',
      falseStopCount / RAMPS < 0.01,
      `${percent(naive)} (the same test at p < ${NAIVE_ALPHA})`,
    ),
    row(
      'candidates that fail one visitor in five (stable: one in fifty), stopped',
      `${percent(harmfulStops.length)}, after ${quantile(harmfulStops, 0.5)} visitors (p95 ${quantile(harmfulStops, 0.95)})`,
      '100 %',
      harmfulStops.length === RAMPS,
    ),
  ];
}

/** Spread between readers, by device and network, and between two pages of one reader. */
const READER_SPREAD = 0.5;
const PAGE_SPREAD = 0.4;
/** ms of a page from the cache, and the factor of a first page */
const METRICS = { lcp: 1800, inp: 160, load: 400 } as const;
const COLD = 1.6;
/** Pages per reader that count: the first and a later one, or one on each of two days. */
const PAGES = 2;
const NEW_READERS = 0.3;

type JudgedMetric = keyof typeof METRICS;
const judgedMetrics = Object.keys(METRICS) as JudgedMetric[];

const emptyStrata = () => ({
  cold: { tried: new Map(), control: new Map() },
  warm: { tried: new Map(), control: new Map() },
});

/** A normally distributed number, by one half of Box-Muller. */
const normal = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Adds one reader's pages. Their device slows all of them, so that they prove less than pages of several readers. */
function addReader(
  strata: Record<JudgedMetric, ReturnType<typeof emptyStrata>>,
  group: keyof Stratum,
  slower: number,
  random: () => number,
) {
  const device = Math.exp(READER_SPREAD * normal(random));
  const isNew = random() < NEW_READERS;
  for (let page = 0; page < PAGES; page += 1) {
    const cache = page === 0 && isNew ? 'cold' : 'warm';
    // a returning visitor loads the candidate's files for the first time, so this page is not compared
    if (page === 0 && !isNew && group === 'tried') continue;
    for (const metric of judgedMetrics) {
      const page = Math.exp(PAGE_SPREAD * normal(random)) * (cache === 'cold' ? COLD : 1);
      const bucketIndex = bucketOf(metric, METRICS[metric] * device * page * slower);
      const histogram: Histogram = strata[metric][cache][group];
      histogram.set(bucketIndex, (histogram.get(bucketIndex) ?? 0) + 1);
    }
  }
}

/** Simulates one ramp. Returns the candidate's readers when it was stopped, and whether a naive observer would have stopped it. */
function speedRamp(slower: number, seed: number): { stopped: number | null; naive: boolean } {
  const random = createRandom(seed).next;
  const strata = { lcp: emptyStrata(), inp: emptyStrata(), load: emptyStrata() };
  let naive = false;
  for (let look = 1; look <= LOOKS; look += 1) {
    for (let n = 0; n < VISITORS_PER_LOOK; n += 1) addReader(strata, 'tried', slower, random);
    for (let n = 0; n < VISITORS_PER_LOOK * CONTROL; n += 1) addReader(strata, 'control', 1, random);
    const verdicts = judgedMetrics.map((metric) => speedVerdict(metric, [strata[metric].cold, strata[metric].warm]));
    naive ||= verdicts.some(({ enough, pValue }) => enough && pValue < NAIVE_ALPHA);
    if (verdicts.some((verdict) => verdict.slower)) return { stopped: look * VISITORS_PER_LOOK, naive };
  }
  return { stopped: null, naive };
}

const SPEED_RAMPS = 500;

/** Simulates how often the automatic stop ends a candidate as fast as stable, and how soon it ends a slower one. */
export async function falseSpeedStops(): Promise<Row[]> {
  const share = (count: number) => `${((count / SPEED_RAMPS) * 100).toFixed(2)} %`;
  const ramps = (slower: number) => Array.from({ length: SPEED_RAMPS }, (_, n) => speedRamp(slower, n));
  const equalRamps = ramps(1);
  const falseStopCount = equalRamps.filter(({ stopped }) => stopped !== null).length;
  const naive = equalRamps.filter((ramp) => ramp.naive).length;
  const slowStops = ramps(1.3).flatMap(({ stopped }) => stopped ?? []);
  return [
    row(
      `candidates as fast as stable stopped for slowness, of ${SPEED_RAMPS} ramps of three metrics looked at ${LOOKS} times each`,
      share(falseStopCount),
      '< 1 %',
      falseStopCount / SPEED_RAMPS < 0.01,
      `${share(naive)} (the same test at p < ${NAIVE_ALPHA}, no least difference)`,
    ),
    row(
      `candidates slower by 30 % (LCP around ${METRICS.lcp} ms), stopped`,
      `${share(slowStops.length)}, after ${quantile(slowStops, 0.5)} readers (p95 ${quantile(slowStops, 0.95)})`,
      '100 %',
      slowStops.length === SPEED_RAMPS,
    ),
  ];
}
