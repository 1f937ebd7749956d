export const median = (values: number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
};

/** Median, least and greatest of the pairwise ratios a/b. */
export function pairedRatio(a: number[], b: number[]): string {
  const ratios = a.map((value, index) => value / (b[index] ?? Number.NaN));
  const shown = (value: number) => value.toFixed(2);
  return `${shown(median(ratios))} (${shown(Math.min(...ratios))}–${shown(Math.max(...ratios))})`;
}

/** A Markdown table, so that it can be pasted into the docs as it is. */
export function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
