import {
  type CacheState,
  cacheStates,
  DAY_MS,
  dictionarySchema,
  instantSchema,
  MINUTE_MS,
  textSchema,
  type VitalMetric,
  type VitalsReport,
  vitalMetrics,
} from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { nameOf } from '../model/build.ts';
import { type Candidate, type ChannelDocument, candidatesOf, liveIn } from '../model/channel.ts';
import { isSince } from './figures.ts';

/** Bucket → number of values. A bucket is 5 % wide, so that a quantile is off by at most 2.5 %. */
export type Histogram = Map<number, number>;

const GROWTH = Math.log(1.05);
/** Smallest distinguished value. A layout shift of 0.1 has the resolution of 100 ms. */
const unitOf = (metric: VitalMetric): number => (metric === 'cls' ? 0.001 : 1);

/** Bucket 0 has values up to one unit, each further bucket 5 % more: 240 buckets for two minutes. */
export const bucketOf = (metric: VitalMetric, value: number): number =>
  Math.max(0, Math.ceil(Math.log(value / unitOf(metric)) / GROWTH));

const middleOf = (metric: VitalMetric, bucket: number): number =>
  bucket === 0 ? 0 : Math.exp((bucket - 0.5) * GROWTH) * unitOf(metric);

export const sizeOf = (histogram: Histogram): number => {
  let sum = 0;
  for (const count of histogram.values()) sum += count;
  return sum;
};

/** Adds another histogram, with each value multiplied by `weight`. */
function add(to: Histogram, from: Histogram, weight = 1): Histogram {
  for (const [bucket, count] of from) to.set(bucket, (to.get(bucket) ?? 0) + count * weight);
  return to;
}

/** The value that three quarters do not exceed; null without values. */
export function p75Of(metric: VitalMetric, histogram: Histogram): number | null {
  const targetCount = sizeOf(histogram) * 0.75;
  let runningCount = 0;
  for (const [bucket, count] of [...histogram].sort(([a], [b]) => a - b)) {
    runningCount += count;
    // tolerance for rounding errors in sums of weights
    if (runningCount >= targetCount - 1e-9) return middleOf(metric, bucket);
  }
  return null;
}

const counted = v.pipe(v.number(), v.safeInteger(), v.minValue(1));
const bucketKey = v.pipe(v.string(), v.regex(/^\d{1,3}$/));
const reportFields = { at: instantSchema, build: textSchema(140) };

/** Values of a build in one minute, as one line of the health record. */
export const vitalsLineSchema = v.object({
  ...reportFields,
  metric: v.picklist(vitalMetrics),
  cache: v.picklist(cacheStates),
  buckets: dictionarySchema(bucketKey, counted),
});

type VitalsLine = v.InferOutput<typeof vitalsLineSchema>;

export interface VitalsMinute {
  /** the minute's start */
  at: string;
  build: string;
  /** metric and cache state → values */
  values: Map<`${VitalMetric} ${CacheState}`, Histogram>;
}

const MAX_MINUTES = 20_000;

/** Sums values by build and minute, so that size grows with builds and time, not with visitors or servers. */
export class VitalsTally {
  readonly #minutes = new Map<string, VitalsMinute>();

  get minutes(): VitalsMinute[] {
    return [...this.#minutes.values()];
  }

  report({ vitals }: VitalsReport, at: Date): void {
    const minute = `${at.toISOString().slice(0, 16)}:00Z`;
    for (const { build, metric, cache, value } of vitals)
      this.addLine({ at: minute, build, metric, cache, buckets: { [bucketOf(metric, value)]: 1 } });
  }

  addLine(line: VitalsLine): void {
    const key = `${line.at} ${line.build}`;
    const stored = this.#minutes.get(key);
    if (!stored && this.#minutes.size >= MAX_MINUTES) return;
    const minute = stored ?? { at: line.at, build: line.build, values: new Map() };
    this.#minutes.set(key, minute);
    const kind = `${line.metric} ${line.cache}` as const;
    const buckets = Object.entries(line.buckets).map(([bucket, count]) => [Number(bucket), count] as const);
    minute.values.set(kind, add(minute.values.get(kind) ?? new Map(), new Map(buckets)));
  }

  lines(): VitalsLine[] {
    return this.minutes.flatMap(({ at, build, values }) =>
      [...values].map(([kind, histogram]) => {
        const [metric, cache] = kind.split(' ') as [VitalMetric, CacheState];
        return { at, build, metric, cache, buckets: Object.fromEntries(histogram) };
      }),
    );
  }
}

/** Upper tail of the standard normal distribution, accurate also for the large `z` at which the test decides. */
function upperTail(z: number): number {
  if (z < 0) return 1 - upperTail(-z);
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  if (z > 2) {
    let fraction = z;
    for (let k = 100; k > 0; k -= 1) fraction = z + k / fraction;
    return density / fraction;
  }
  let term = z;
  let sum = z;
  for (let k = 1; k < 60; k += 1) {
    term *= (z * z) / (2 * k + 1);
    sum += term;
  }
  return 0.5 - density * sum;
}

/** Comparable pages of both groups, such as those with a warm cache. */
export interface Stratum {
  tried: Histogram;
  control: Histogram;
}

/**
 * Stratified Mann-Whitney test (van Elteren), one-sided, with mid-ranks for ties: the probability that `tried` is this much larger if
 * both groups are alike. 1 = no sign of harm. Makes no assumption about the distribution of values.
 */
export function rankWorse(strata: readonly Stratum[]): number {
  let excess = 0;
  let variance = 0;
  for (const { tried, control } of strata) {
    const [m, n] = [sizeOf(tried), sizeOf(control)];
    const total = m + n;
    if (m === 0 || n === 0) continue;
    let before = 0;
    let ranks = 0;
    let ties = 0;
    for (const [bucket, count] of [...add(new Map(tried), control)].sort(([a], [b]) => a - b)) {
      ranks += (tried.get(bucket) ?? 0) * (before + (count + 1) / 2);
      ties += count ** 3 - count;
      before += count;
    }
    const weight = 1 / (total + 1);
    excess += weight * (ranks - (m * (total + 1)) / 2);
    variance += weight ** 2 * ((m * n) / 12) * (total + 1 - ties / (total * (total - 1)));
  }
  return variance > 0 ? upperTail(excess / Math.sqrt(variance)) : 1;
}

/** The rule by which a candidate is too slow, as stated in docs/deploying/watching.md. */
export const SLOWER = { alpha: 1e-6, minimumPages: 200, minimumAlike: 20, share: 0.2, milliseconds: 100 };

/** Metrics that can end a candidate: waiting times in ms. Layout shift is only displayed. */
const JUDGED: readonly VitalMetric[] = ['lcp', 'inp', 'load'];

export type SpeedVerdict = ReturnType<typeof speedVerdict>;

/** Judges whether a candidate's pages are slower than stable ones: significantly, and by an amount that users notice. */
export function speedVerdict(metric: VitalMetric, all: readonly Stratum[]) {
  const strata = all.filter(({ tried, control }) => sizeOf(tried) > 0 && sizeOf(control) >= SLOWER.minimumAlike);
  const [tried, weightedControl] = [new Map(), new Map()] as [Histogram, Histogram];
  let controlPages = 0;
  for (const stratum of strata) {
    const size = sizeOf(stratum.control);
    controlPages += size;
    add(tried, stratum.tried);
    add(weightedControl, stratum.control, sizeOf(stratum.tried) / size);
  }
  const triedPages = sizeOf(tried);
  const [triedP75, controlP75] = [p75Of(metric, tried), p75Of(metric, weightedControl)];
  const pValue = rankWorse(strata);
  const enough = Math.min(triedPages, controlPages) >= SLOWER.minimumPages;
  const more = (triedP75 ?? 0) - (controlP75 ?? 0);
  const isFelt = more >= SLOWER.milliseconds && more >= (controlP75 ?? 0) * SLOWER.share;
  return {
    tried: { pages: triedPages, p75: triedP75 },
    /** Weighted to the candidate's shares of cold and warm pages. */
    control: { pages: controlPages, p75: controlP75 },
    pValue,
    alpha: SLOWER.alpha,
    enough,
    slower: enough && isFelt && pValue < SLOWER.alpha,
  };
}

/** Fewest pages for which a figure, or a point of a chart, is shown. */
const SHOWN = { pages: 20, point: 5 } as const;
const POINTS = 12;

export interface VitalsSeries {
  build: string;
  pages: number;
  /** ms; for `cls` a score */
  p75: number | null;
  /** The p75 over time, oldest first; null for too few pages. */
  points: (number | null)[];
}

export interface MetricVitals {
  metric: VitalMetric;
  stable: VitalsSeries | null;
  candidate: VitalsSeries | null;
  /** Null without a candidate, and for metrics that cannot end one. */
  verdict: SpeedVerdict | null;
}

/** Vitals of the host or one remote: its stable build, and its candidate if there is one. */
export interface NameVitals {
  name: string;
  /** Start of the first point. */
  from: string;
  stepMinutes: number;
  metrics: MetricVitals[];
}

function collect(
  minutes: readonly VitalsMinute[],
  metric: VitalMetric,
  caches: readonly CacheState[] = cacheStates,
): Histogram {
  const histogram: Histogram = new Map();
  for (const { values } of minutes)
    for (const cache of caches) add(histogram, values.get(`${metric} ${cache}`) ?? new Map());
  return histogram;
}

function seriesOf(
  build: string,
  minutes: readonly VitalsMinute[],
  metric: VitalMetric,
  { from, step }: { from: number; step: number },
  caches: readonly CacheState[] | undefined,
) {
  const whole = collect(minutes, metric, caches);
  const pages = sizeOf(whole);
  const points = Array.from({ length: POINTS }, (_, n) => {
    const begins = from + n * step;
    const inside = minutes.filter(({ at }) => Date.parse(at) >= begins && Date.parse(at) < begins + step);
    const histogram = collect(inside, metric, caches);
    return sizeOf(histogram) < SHOWN.point ? null : p75Of(metric, histogram);
  });
  return { build, pages, p75: pages < SHOWN.pages ? null : p75Of(metric, whole), points };
}

function vitalsOfName(
  name: string,
  stable: string | undefined,
  { build: candidate, since }: { build?: string; since?: Candidate['since'] },
  all: readonly VitalsMinute[],
  now: Date,
): NameVitals {
  const day = now.getTime() - DAY_MS;
  // the first whole minute of the candidate: earlier values are not comparable
  const began = since === undefined || Date.parse(since) > now.getTime() ? day : Date.parse(since);
  const first = Math.max(day, Math.ceil(began / MINUTE_MS) * MINUTE_MS);
  const step = Math.max(1, Math.ceil((now.getTime() - first) / POINTS / MINUTE_MS)) * MINUTE_MS;
  const recent = all.filter(isSince(new Date(first).toISOString(), now));
  const of = (build?: string) => recent.filter((minute) => minute.build === build);
  const [control, tried] = [of(stable), of(candidate)];
  const comparable = ['cold', 'warm'] as const;
  const series = (build: string | undefined, minutes: readonly VitalsMinute[], metric: VitalMetric) =>
    build === undefined
      ? null
      : seriesOf(build, minutes, metric, { from: first, step }, candidate ? comparable : undefined);
  const strata = (metric: VitalMetric) =>
    comparable.map((cache) => ({
      tried: collect(tried, metric, [cache]),
      control: collect(control, metric, [cache]),
    }));
  return {
    name,
    from: new Date(first).toISOString(),
    stepMinutes: step / MINUTE_MS,
    metrics: vitalMetrics.map((metric) => ({
      metric,
      stable: series(stable, control, metric),
      candidate: series(candidate, tried, metric),
      verdict: stable && candidate && JUDGED.includes(metric) ? speedVerdict(metric, strata(metric)) : null,
    })),
  };
}

/** Summarises vitals by name, of the last day or since the start of the candidate. */
export function summariseVitals(minutes: readonly VitalsMinute[], document: ChannelDocument, now: Date): NameVitals[] {
  const live = new Map(liveIn(document).map((id) => [nameOf(id), id]));
  const tried = candidatesOf(document).flatMap(({ builds, since }) =>
    builds.map((build) => [nameOf(build), { build, since }] as const),
  );
  const candidates = new Map(tried);
  return [...new Set([...live.keys(), ...candidates.keys()])].map((name) =>
    vitalsOfName(name, live.get(name), candidates.get(name) ?? {}, minutes, now),
  );
}
