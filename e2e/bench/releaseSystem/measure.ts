/** One line of a bench: what was measured, on the baseline of the same run and on ours. */
export interface Measure {
  what: string;
  baseline: string;
  ours: string;
  goal: string;
  met: boolean;
}

export type Bench = () => Promise<Measure[]>;

export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

export const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN;
