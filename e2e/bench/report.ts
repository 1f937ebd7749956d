import { loadavg } from 'node:os';

export interface Row {
  what: string;
  ours: string;
  goal: string;
  isMet: boolean;
  /** The same measure of a peer, or of the machine's limit, in the same run. */
  baseline: string;
  /** The baseline misses the goal as well, so the figure says nothing about the product. */
  isVoid: boolean;
}

export const row = (what: string, ours: string, goal: string, isMet: boolean, baseline = '–', isVoid = false): Row => ({
  what,
  ours,
  goal,
  isMet,
  baseline,
  isVoid,
});

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
};

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Median, minimum and maximum. */
export function spread(values: readonly number[], digits = 0): string {
  const [middle, least, most] = [median(values), Math.min(...values), Math.max(...values)].map((value) =>
    value.toFixed(digits),
  );
  return `${middle} (${least}–${most})`;
}

/** Spread of the pairwise ratios a/b. */
export const pairedRatio = (a: readonly number[], b: readonly number[]): string =>
  spread(
    a.map((value, index) => value / (b[index] ?? Number.NaN)),
    2,
  );

export function framesPerSecond(times: readonly number[]): number {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  return ((times.length - 1) * 1000) / (last - first);
}

export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

export const verdict = (isMet: boolean) => (isMet ? 'met' : '**missed**');

/** A Markdown table, which can be pasted into the docs. */
export function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Prints the rows as a table; a missed goal fails the process. */
export function printRows(rows: readonly Row[], baseline: string) {
  const cells = rows.map(({ what, ours, goal, isMet, isVoid, ...row }) => [
    what,
    ours,
    row.baseline,
    goal,
    goal === '–' ? '' : !isMet && isVoid ? 'void' : verdict(isMet),
  ]);
  console.log(table(['', 'ours', baseline, 'goal', ''], cells));
  if (rows.some(({ isMet, isVoid }) => !isMet && !isVoid)) process.exitCode = 1;
}

const load = () => loadavg()[0]?.toFixed(1);

/** Call before a run. The returned function, called after it, returns a line with the date and the machine's load. */
export function startRun(): () => string {
  const before = load();
  return () => `\n${new Date().toISOString().slice(0, 10)}, load ${before} → ${load()}`;
}

/** Parts named on the command line; default: all. Throws for an unknown name. */
export function selectParts<Part>(parts: Record<string, Part>): [string, Part][] {
  const selectedNames = process.argv.slice(3);
  const unknownNames = selectedNames.filter((name) => !(name in parts));
  if (unknownNames.length > 0)
    throw new Error(`no such part: ${unknownNames.join(', ')}. There are: ${Object.keys(parts).join(' ')}`);
  return Object.entries(parts).filter(([name]) => selectedNames.length === 0 || selectedNames.includes(name));
}
