import { table } from './statistics.ts';

export interface Row {
  what: string;
  /** – for a figure that only stands beside another */
  goal: string;
  figure: string;
  /** The same measure on an empty page in the same run, which shows what the machine itself could do. */
  machine?: string;
  isMet: boolean;
  /** The empty page misses the goal as well, so the figure judges the machine. */
  isVoid?: boolean;
}

const verdict = ({ goal, isMet, isVoid }: Row) => (goal === '–' ? '–' : isMet ? 'pass' : isVoid ? 'void' : '**miss**');

export const printRows = (rows: Row[]) =>
  console.log(
    table(
      ['', 'goal', 'figure', 'empty page, same run', ''],
      rows.map((row) => [row.what, row.goal, row.figure, row.machine ?? '–', verdict(row)]),
    ),
  );

export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Frames per second over the noted time. */
export function framesPerSecond(times: number[]): number {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  return ((times.length - 1) * 1000) / (last - first);
}
