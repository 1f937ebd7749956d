import { rounds, type Sample, type TabSample, type Transfer } from './measurePage.ts';

interface Goal {
  text: string;
  atMost: number;
  /** What is judged, made of our figure and the monolith's of the same pair; without it our figure is. */
  against?: (ours: number, monolith: number) => number;
}

/** One row of the table. */
export interface Figure<Measured = Sample> {
  label: string;
  of: (sample: Measured) => number;
  digits?: number;
  goal?: Goal;
}

const isScript = ({ path }: Transfer) => path.endsWith('.js');
const kib = (files: Transfer[]) => files.reduce((total, { bytes }) => total + bytes, 0) / 1024;
const scripts = (files: Transfer[]) => files.filter(isScript);
/** Of the remote that the page shows; a monolith has none. */
const ofStories = (files: Transfer[]) => files.filter(({ path }) => /^\/(builds|stock)\/stories\//.test(path));
const kibOrNone = (files: Transfer[]) => (files.length > 0 ? kib(files) : Number.NaN);

const atMost = (limit: number, unit = ''): Goal => ({ text: `≤ ${limit}${unit}`, atMost: limit });

const roundsTo = (label: string, of: (sample: Sample) => number, goal?: Goal): Figure => ({
  label: `rounds to ${label}`,
  of: (sample) => Math.floor(of(sample) / rounds.latencyMs),
  goal,
});

export const roundFigures: Figure[] = [
  roundsTo('first paint', ({ firstPaintMs }) => firstPaintMs, atMost(1)),
  roundsTo('content', ({ contentMs }) => contentMs, atMost(2)),
  roundsTo('app ready', ({ readyMs }) => readyMs),
];

export const coldFigures: Figure[] = [
  { label: 'first paint, ms', of: ({ firstPaintMs }) => firstPaintMs, goal: atMost(900) },
  { label: 'content visible, ms', of: ({ contentMs }) => contentMs },
  {
    label: 'LCP, ms',
    of: ({ lcpMs }) => lcpMs,
    goal: atMost(900),
  },
  {
    label: 'app ready, ms',
    of: ({ readyMs }) => readyMs,
    goal: { text: '≤ 1.00 of the monolith', atMost: 1, against: (ours, monolith) => ours / monolith },
  },
  { label: 'CLS', of: ({ cls }) => cls, digits: 3, goal: atMost(0.02) },
  { label: 'blocking time, ms', of: ({ blockingMs }) => blockingMs, goal: atMost(40) },
  { label: 'requests to content', of: ({ toContent }) => toContent.length },
  { label: 'JS requests to content', of: ({ toContent }) => scripts(toContent).length, goal: atMost(7) },
  { label: 'JS to content, KiB', of: ({ toContent }) => kib(scripts(toContent)), digits: 1, goal: atMost(130) },
  {
    label: 'JS to app ready, KiB',
    of: ({ toReady }) => kib(scripts(toReady)),
    digits: 1,
    goal: atMost(135),
  },
  { label: 'all to content, KiB', of: ({ toContent }) => kib(toContent), digits: 1 },
  {
    label: 'remoteEntry.js of one remote, KiB',
    of: ({ toReady }) => kibOrNone(ofStories(toReady).filter(({ path }) => path.endsWith('/remoteEntry.js'))),
    digits: 1,
    goal: atMost(7.5),
  },
  {
    label: 'what a release of the shown remote changes, KiB',
    of: ({ toReady }) => kibOrNone(ofStories(toReady)),
    digits: 1,
    goal: atMost(32),
  },
];

/** What a first visit to another screen is held to; its own bytes are few, so these are of what it waits for. */
export const screenFigures = coldFigures.filter(({ label }) =>
  ['first paint, ms', 'LCP, ms', 'app ready, ms', 'CLS', 'blocking time, ms', 'JS to app ready, KiB'].includes(label),
);

/** The same of a screen whose content is its reader's own. */
export const memberFigures: Figure[] = [
  ...screenFigures,
  { label: 'content visible, ms', of: ({ contentMs }) => contentMs },
  { label: 'requests to app ready', of: ({ toReady }) => toReady.length },
];

/** The scripts up to the app being ready, the largest first: `name`, KiB. */
export const scriptsToReady = ({ toReady }: Sample): [string, number][] =>
  scripts(toReady)
    .map(({ path, bytes }): [string, number] => [
      path
        .replace(/^\/builds\/([^/]+)\/[^/]+\//, '$1/')
        .replace('static/js/', '')
        .replace(/\.[0-9a-f]{8}\.js$/, '.js'),
      bytes / 1024,
    ])
    .sort(([, a], [, b]) => b - a);

export const warmFigures: Figure[] = [
  { label: 'requests to app ready', of: ({ toReady }) => toReady.length, goal: atMost(3) },
  { label: 'KiB to app ready', of: ({ toReady }) => kib(toReady), digits: 1, goal: atMost(5) },
  { label: 'content visible, ms', of: ({ contentMs }) => contentMs },
  { label: 'app ready, ms', of: ({ readyMs }) => readyMs },
];

/** What a service worker is there for: content before the page has answered. */
export const returnFigures: Figure[] = [
  { label: 'first paint, ms', of: ({ firstPaintMs }) => firstPaintMs },
  { label: 'content visible, ms', of: ({ contentMs }) => contentMs, goal: atMost(500) },
  { label: 'app ready, ms', of: ({ readyMs }) => readyMs },
  { label: 'CLS', of: ({ cls }) => cls, digits: 3, goal: atMost(0.02) },
];

/** A tap is answered immediately where everything it needs is there. */
export const tabFigures: Figure<TabSample>[] = [
  { label: 'tap to content, ms', of: ({ contentMs }) => contentMs, goal: atMost(900) },
  { label: 'blocking time, ms', of: ({ blockingMs }) => blockingMs, goal: atMost(40) },
  { label: 'requests', of: ({ loaded }) => loaded.length },
  { label: 'JS, KiB', of: ({ loaded }) => kib(scripts(loaded)), digits: 1, goal: atMost(135) },
];
