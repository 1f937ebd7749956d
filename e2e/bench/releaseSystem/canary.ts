import { createHash } from 'node:crypto';
import { AUTO_STOP, type Counts, verdictOn } from '../../../releases/src/health/autoStop.ts';
import { bucket } from '../../../releases/src/serve/pageSet.ts';
import { type Measure, quantile } from './measure.ts';

const VISITORS = 1_000_000;
const ASKED = [0.1, 0.5, 1, 2, 5, 10, 20, 30, 40, 50];

/** The usual way: a whole number from 0 to 99, compared inclusively. */
const wholeBucket = (visitor: string): number => createHash('sha256').update(visitor).digest().readUInt32BE(0) % 100;

const worst = (places: Float64Array, isIn: (place: number, percent: number) => boolean): number =>
  Math.max(
    ...ASKED.map((percent) => {
      let inside = 0;
      for (const place of places) if (isIn(place, percent)) inside += 1;
      return Math.abs((inside / VISITORS) * 100 - percent);
    }),
  );

/** How far the share that is served is from the share that was asked, at a million fixed visitor ids. */
export async function canaryShare(): Promise<Measure[]> {
  const ours = new Float64Array(VISITORS);
  const usual = new Float64Array(VISITORS);
  for (let n = 0; n < VISITORS; n += 1) {
    ours[n] = bucket(`visitor-${n}`, 'bench-salt');
    usual[n] = wholeBucket(`visitor-${n}`);
  }
  const [off, usualOff] = [
    worst(ours, (place, percent) => place < percent),
    worst(usual, (place, percent) => place <= percent),
  ];
  let left = 0;
  for (const place of ours)
    for (let n = 1; n < ASKED.length; n += 1) if (place < (ASKED[n - 1] ?? 0) && place >= (ASKED[n] ?? 100)) left += 1;
  return [
    {
      what: 'canary asked 0.1…50 %: worst distance, points',
      baseline: `${usualOff.toFixed(2)} (whole buckets, inclusive)`,
      ours: off.toFixed(3),
      goal: '≤ 0.1',
      met: off <= 0.1,
    },
    {
      what: 'visitors who leave the candidate while it grows',
      baseline: '–',
      ours: `${left}`,
      goal: '0',
      met: left === 0,
    },
  ];
}

const RAMPS = 2_000;
const LOOK_EVERY = 20;
const LOOKS = 100;
/** visitors on stable for each one on the candidate, as at ten percent */
const CONTROL = 9;
const SOUND = [0.005, 0.02, 0.1];
/** what a naive watcher takes for proof */
const NAIVE_ALPHA = 0.05;

/** mulberry32: small, seeded, good enough to draw visitors */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function arrive(group: Counts, visitors: number, failing: number, random: () => number) {
  group.visitors += visitors;
  for (let n = 0; n < visitors; n += 1) if (random() < failing) group.failedVisitors += 1;
}

/** Plays one ramp, looked at after every twenty visitors; returns how many had tried the candidate when it was stopped. */
function ramp(failing: { candidate: number; stable: number }, alpha: number, seed: number): number | null {
  const random = seeded(seed);
  const candidate = { visitors: 0, failedVisitors: 0 };
  const stable = { visitors: 0, failedVisitors: 0 };
  for (let look = 0; look < LOOKS; look += 1) {
    arrive(candidate, LOOK_EVERY, failing.candidate, random);
    arrive(stable, LOOK_EVERY * CONTROL, failing.stable, random);
    const { enough, pValue } = verdictOn(candidate, stable);
    if (enough && pValue < alpha) return candidate.visitors;
  }
  return null;
}

const stopsOf = (failing: (n: number) => { candidate: number; stable: number }, alpha: number) =>
  Array.from({ length: RAMPS }, (_, n) => ramp(failing(n), alpha, n)).filter((at) => at !== null);

const percent = (count: number) => `${((count / RAMPS) * 100).toFixed(2)} %`;

/** How often the automatic stop ends a candidate that is as good as stable, and how soon it ends a bad one. Simulated. */
export async function falseStops(): Promise<Measure[]> {
  const alike = (n: number) => {
    const rate = SOUND[n % SOUND.length] ?? 0;
    return { candidate: rate, stable: rate };
  };
  const wrong = stopsOf(alike, AUTO_STOP.alpha).length;
  const naive = stopsOf(alike, NAIVE_ALPHA).length;
  const harmed = stopsOf(() => ({ candidate: 0.2, stable: 0.02 }), AUTO_STOP.alpha);
  return [
    {
      what: `sound candidates stopped, of ${RAMPS} ramps looked at ${LOOKS} times each`,
      baseline: `${percent(naive)} (the same test at p < ${NAIVE_ALPHA})`,
      ours: percent(wrong),
      goal: '< 1 %',
      met: wrong / RAMPS < 0.01,
    },
    {
      what: 'candidates that fail one visitor in five (stable: one in fifty), stopped',
      baseline: '–',
      ours: `${percent(harmed.length)}, after ${quantile(harmed, 0.5)} visitors (p95 ${quantile(harmed, 0.95)})`,
      goal: '100 %',
      met: harmed.length === RAMPS,
    },
  ];
}
