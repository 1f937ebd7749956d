import type { CacheState, VitalMetric } from '@liaozhai/shared/contract';
import { MINUTE_MS } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { evidenceLines } from '../english.ts';
import { readAction } from '../model/action.ts';
import { abort, canary } from '../operations/switching.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { readHealth, stopIfWorse } from './autoStop.ts';
import { HealthReader, HealthRecorder } from './healthRecord.ts';
import {
  bucketOf,
  type Histogram,
  p75Of,
  rankWorse,
  SLOWER,
  type Stratum,
  sizeOf,
  speedVerdict,
  VitalsTally,
} from './vitals.ts';

const histogramOf = (values: readonly number[], metric: VitalMetric = 'lcp'): Histogram => {
  const histogram: Histogram = new Map();
  for (const value of values) {
    const bucket = bucketOf(metric, value);
    histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1);
  }
  return histogram;
};

/** Values spread evenly from half to one and a half times `middle`. */
const around = (middle: number, count: number): number[] =>
  Array.from({ length: count }, (_, n) => middle * (0.5 + (n + 0.5) / count));

describe('the digest', () => {
  test.each([
    ['lcp', 2500],
    ['inp', 40],
    ['load', 119_000],
    ['cls', 0.13],
  ] as const)('has the p75 of %s within 2.5 %', (metric, middle) => {
    const values = around(middle, 1001);
    const [exact = 0] = values.slice(750, 751);
    expect(p75Of(metric, histogramOf(values, metric)) ?? 0).toBeGreaterThan(exact * 0.974);
    expect(p75Of(metric, histogramOf(values, metric)) ?? 0).toBeLessThan(exact * 1.026);
  });

  test('has no value without pages, and zero for pages without shifts', () => {
    expect(p75Of('lcp', new Map())).toBeNull();
    expect(p75Of('cls', histogramOf([0, 0, 0], 'cls'))).toBe(0);
  });

  test('of many servers equals that of one, and does not grow with visitors', () => {
    const [whole, first, second] = [new VitalsTally(), new VitalsTally(), new VitalsTally()];
    const at = new Date('2026-11-22T10:00:30Z');
    for (const [n, value] of around(1200, 5000).entries()) {
      const report = { vitals: [{ build: 'b', metric: 'lcp', cache: 'warm', value }] } as const;
      whole.report({ vitals: [...report.vitals] }, at);
      (n % 3 === 0 ? first : second).report({ vitals: [...report.vitals] }, at);
    }
    const added = new VitalsTally();
    for (const line of [...first.lines(), ...second.lines()]) added.addLine(line);
    expect(added.minutes).toEqual(whole.minutes);
    expect(sizeOf(added.minutes[0]?.values.get('lcp warm') ?? new Map())).toBe(5000);
    expect(JSON.stringify(whole.lines()).length).toBeLessThan(600);
  });
});

describe('the rank test', () => {
  test.each([
    ['pages that are all slower', { tried: new Map([[9, 5]]), control: new Map([[1, 5]]) }, 0.00135],
    ['pages that are all faster', { tried: new Map([[1, 5]]), control: new Map([[9, 5]]) }, 0.99865],
    ['pages that are all the same', { tried: new Map([[4, 50]]), control: new Map([[4, 50]]) }, 1],
    ['pages without a control', { tried: new Map([[4, 50]]), control: new Map() }, 1],
  ] as [string, Stratum, number][])('of %s returns the probability of chance', (_, stratum, expected) => {
    expect(rankWorse([stratum])).toBeCloseTo(expected, 5);
  });

  test('compares cold pages with cold pages only', () => {
    const [cold, warm] = [around(3000, 900), around(1000, 900)];
    const strata = [
      { tried: histogramOf(cold), control: histogramOf(cold.slice(0, 900)) },
      { tried: histogramOf(warm.filter((_, n) => n % 9 === 0)), control: histogramOf(warm) },
    ];
    const pooled = [
      { tried: histogramOf([...cold, ...warm.slice(0, 100)]), control: histogramOf([...cold, ...warm, ...warm]) },
    ];
    expect(rankWorse(pooled)).toBeLessThan(SLOWER.alpha);
    expect(rankWorse(strata)).toBeGreaterThan(0.3);
    const { tried, control, slower } = speedVerdict('lcp', strata);
    expect([slower, Math.abs((tried.p75 ?? 0) / (control.p75 ?? 1) - 1) < 0.06]).toEqual([false, true]);
  });
});

describe('a candidate', () => {
  const strata = (tried: number[], control: number[], metric: VitalMetric = 'lcp') => [
    { tried: histogramOf(tried, metric), control: histogramOf(control, metric) },
  ];

  test.each([
    ['half as slow again, by many pages, is too slow', around(3000, 200), around(2000, 2000), true],
    ['of few pages is not judged', around(3000, SLOWER.minimumPages - 1), around(2000, 2000), false],
    ['without control is not judged', around(3000, 2000), around(2000, SLOWER.minimumAlike - 1), false],
    ['slower by a tenth, however surely, is left alone', around(2200, 9000), around(2000, 9000), false],
    ['slower by half of very little is left alone', around(150, 2000), around(100, 2000), false],
    ['faster is left alone', around(1000, 2000), around(2000, 2000), false],
  ])('%s', (_, tried, control, expected) => {
    expect(speedVerdict('lcp', strata(tried, control)).slower).toBe(expected);
  });
});

test('a candidate as fast as stable is not stopped in a hundred ramps with repeated checks', () => {
  let seed = 11;
  const random = () => {
    seed = (seed * 1664525 + 1013904223) % 4294967296;
    return seed / 4294967296;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const read = (histogram: Histogram, readers: number) => {
    for (let reader = 0; reader < readers; reader += 1) {
      const device = Math.exp(0.5 * normal());
      for (let page = 0; page < 2; page += 1) {
        const bucket = bucketOf('lcp', 1800 * device * Math.exp(0.4 * normal()));
        histogram.set(bucket, (histogram.get(bucket) ?? 0) + 1);
      }
    }
  };
  let [stopped, doubted] = [0, 0];
  for (let ramp = 0; ramp < 100; ramp += 1) {
    const stratum: Stratum = { tried: new Map(), control: new Map() };
    const seen = { slower: false, doubtful: false };
    for (let look = 0; look < 20; look += 1) {
      read(stratum.tried, 20);
      read(stratum.control, 60);
      const { slower, pValue } = speedVerdict('lcp', [stratum]);
      seen.slower ||= slower;
      seen.doubtful ||= pValue < 0.05;
    }
    stopped += Number(seen.slower);
    doubted += Number(seen.doubtful);
  }
  expect(stopped).toBe(0);
  // with p < 0.05 as the limit, one in five would be stopped
  expect(doubted).toBeGreaterThan(15);
});

let at: TestStore;

/** Opens a store with a new candidate of `stories` for each test. */
function withCandidate() {
  beforeEach(async () => {
    at = await openTestStore();
    await at.activate(await at.host(), await at.remote('stories'));
    await canary(at.writer, [await at.remote('stories', '1.1.0')], 10, { gate: openGate });
  });
  afterEach(() => at.remove());
}

/** Records pages of a build, by default two minutes from now. */
async function pages(build: string, values: readonly number[], cache: CacheState = 'warm', later = 2 * MINUTE_MS) {
  const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
  for (const value of values)
    recorder.recordVitals({ vitals: [{ build, metric: 'lcp', value, cache }] }, new Date(Date.now() + later));
  await recorder.flush();
}

async function storiesBuilds() {
  const { stable, candidate } = await at.current();
  const of = (builds: readonly string[] = []) => builds.find((id) => id.startsWith('stories@')) ?? '';
  return { live: of(stable?.builds), tried: of(candidate?.builds) };
}

const reader = () => new HealthReader(at.store, 'production');
const later = () => at.after(10 * MINUTE_MS);

async function lcpOfStories() {
  const { vitals = [] } = (await readHealth(later(), reader())).health;
  const stories = vitals.find(({ name }) => name === 'stories');
  return { stories, lcp: stories?.metrics.find(({ metric }) => metric === 'lcp') };
}

describe('the vitals in the status', () => {
  withCandidate();

  test('show stable and candidate over time, with errors by kind', async () => {
    const { live, tried } = await storiesBuilds();
    await pages(live, around(1000, 60));
    await pages(tried, around(2000, 30));
    await pages(tried, around(9000, 500), 'mixed');
    const { lcp } = await lcpOfStories();
    expect(lcp?.stable).toMatchObject({ build: live, pages: 60 });
    expect(lcp?.stable?.p75 ?? 0).toBeCloseTo(1250, -2);
    // pages with a cached host but a remote from the network (`mixed`) are not comparable
    expect(lcp?.candidate).toMatchObject({ build: tried, pages: 30 });
    expect(lcp?.candidate?.points.filter((point) => point !== null)).toHaveLength(1);
  });

  test('omit few pages and those from before the candidate', async () => {
    const { live, tried } = await storiesBuilds();
    await pages(live, around(1000, 500), 'warm', -5 * MINUTE_MS);
    await pages(tried, around(1000, 19));
    const { lcp } = await lcpOfStories();
    expect(lcp?.stable).toMatchObject({ pages: 0, p75: null });
    expect(lcp?.candidate).toMatchObject({ pages: 19, p75: null });
  });

  test('cover the last day without a candidate, cached or not', async () => {
    const { live } = await storiesBuilds();
    await pages(live, around(1000, 40), 'mixed', -5 * MINUTE_MS);
    await abort(at.writer, {});
    const { lcp } = await lcpOfStories();
    expect(lcp).toMatchObject({ stable: { pages: 40 }, candidate: null, verdict: null });
  });
});

describe('the automatic stop', () => {
  withCandidate();

  test('ends a significantly slower candidate with a plain reason', async () => {
    const { live, tried } = await storiesBuilds();
    await pages(live, around(1000, 900));
    await pages(tried, around(1500, 250));
    expect(await stopIfWorse(later(), reader())).toBe(true);
    const { candidate, action } = await at.current();
    expect(candidate).toBeNull();
    expect(action).toMatchObject({ verb: 'abort', who: 'auto-stop' });
    expect(readAction(action).evidence).toMatchObject([
      { kind: 'slower', build: tried, metric: 'lcp', pages: 250, stablePages: 900, alpha: SLOWER.alpha },
    ]);
    expect(evidenceLines(action)[0]).toMatch(
      /^stories@1\.1\.0\S* is slower than stable, beyond chance: LCP p75 1\.\d\d s \(250 pages\) against 1\.\d\d s \(900 pages\), \+\d\d %; rank test/,
    );
  });

  test('does not end one that is slower on first downloads only', async () => {
    const { live, tried } = await storiesBuilds();
    await pages(live, around(1000, 900));
    await pages(tried, around(3000, 900), 'mixed');
    await pages(tried, around(1000, 250));
    expect(await stopIfWorse(later(), reader())).toBe(false);
  });
});
