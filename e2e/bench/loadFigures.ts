import type { Sample, TabSample, Transfer } from './measurePage.ts';

interface Goal {
  text: string;
  atMost: number;
  /** Computes the judged value from our figure and the monolith's of the same pair. Default: our figure. */
  against?: (ours: number, monolith: number) => number;
}

export interface Figure<Measured = Sample> {
  label: string;
  of: (sample: Measured) => number;
  digits?: number;
  goal?: Goal;
}

const kib = (files: Transfer[]) => files.reduce((total, { bytes }) => total + bytes, 0) / 1024;
const scripts = (files: Transfer[]) => files.filter(({ path }) => path.endsWith('.js'));
const atMost = (limit: number): Goal => ({ text: `≤ ${limit}`, atMost: limit });

export const coldFigures: Figure[] = [
  { label: 'first paint, ms', of: ({ firstPaintMs }) => firstPaintMs, goal: atMost(900) },
  { label: 'content visible, ms', of: ({ contentMs }) => contentMs },
  { label: 'LCP, ms', of: ({ lcpMs }) => lcpMs, goal: atMost(900) },
  {
    label: 'app ready, ms',
    of: ({ readyMs }) => readyMs,
    goal: { text: '≤ 0.85 of the monolith', atMost: 0.85, against: (ours, monolith) => ours / monolith },
  },
  { label: 'CLS', of: ({ cls }) => cls, digits: 3, goal: atMost(0.02) },
  { label: 'blocking time, ms', of: ({ blockingMs }) => blockingMs, goal: atMost(40) },
  { label: 'requests to app ready', of: ({ toReady }) => toReady.length },
  { label: 'JS to app ready, KiB', of: ({ toReady }) => kib(scripts(toReady)), digits: 1, goal: atMost(148) },
];

/** Figures of a repeated visit, in which a service worker shows content before the server responds. */
export const returnFigures: Figure[] = [
  { label: 'first paint, ms', of: ({ firstPaintMs }) => firstPaintMs },
  { label: 'content visible, ms', of: ({ contentMs }) => contentMs, goal: atMost(500) },
  { label: 'app ready, ms', of: ({ readyMs }) => readyMs },
  { label: 'CLS', of: ({ cls }) => cls, digits: 3, goal: atMost(0.02) },
];

export const tabFigures: Figure<TabSample>[] = [
  { label: 'tap to content, ms', of: ({ contentMs }) => contentMs, goal: atMost(900) },
  { label: 'blocking time, ms', of: ({ blockingMs }) => blockingMs, goal: atMost(40) },
  { label: 'requests', of: ({ loaded }) => loaded.length },
  { label: 'JS, KiB', of: ({ loaded }) => kib(scripts(loaded)), digits: 1, goal: atMost(135) },
];
