import type { CandidateHealth, Health } from './autoStop.ts';
import type { MetricVitals, SpeedVerdict, VitalsSeries } from './vitals.ts';

/**
 * Below this p-value a candidate is said to fail, and a schedule takes no further step. Higher than the automatic stop's, which is
 * tested continuously.
 */
export const STRIKING_P_VALUE = 0.01;

/** A metric with a candidate that is too slow. */
type SlowerMetric = MetricVitals & { candidate: VitalsSeries; verdict: SpeedVerdict };

/** A candidate that fails more often than stable, or is slower. */
export interface Trouble {
  builds: readonly string[];
  failing: CandidateHealth | null;
  slower: SlowerMetric[];
  /** The automatic stop ends it. */
  ends: boolean;
}

/** Judges the candidates, for the automatic stop and for everything that shows their health. */
export const troublesOf = ({ candidates, vitals = [] }: Pick<Health, 'candidates' | 'vitals'>): Trouble[] =>
  candidates.flatMap((candidate) => {
    const { builds, verdict } = candidate;
    const isSlower = (metric: MetricVitals): metric is SlowerMetric =>
      (metric.verdict?.slower && metric.candidate && builds.includes(metric.candidate.build)) ?? false;
    const slower = vitals.flatMap(({ metrics }) => metrics).filter(isSlower);
    const failing = verdict.worse || verdict.pValue < STRIKING_P_VALUE ? candidate : null;
    return failing || slower.length > 0 ? [{ builds, failing, slower, ends: verdict.worse || slower.length > 0 }] : [];
  });
