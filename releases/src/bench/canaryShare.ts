import { createHash } from 'node:crypto';
import { bucket } from '../page/bucket.ts';
import type { Measure } from './measure.ts';

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
