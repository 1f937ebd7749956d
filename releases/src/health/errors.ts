import type { Place, SourceMaps } from '../builds/sourceMaps.ts';
import { buildFolder, HOST_NAME, nameOf, parseBuildId } from '../model/build.ts';
import type { ErrorEvent, HealthEvent } from './healthRecord.ts';

/** Number of visitors by label, such as a browser or a route. */
export interface Portion {
  label: string;
  visitors: number;
}

export interface ErrorHealth {
  build: string;
  /** New pages do not get this build any more. */
  gone: boolean;
  name: string;
  /** The most frequent message, since messages differ between browsers. */
  message: string | null;
  kind: string;
  /** Places in the sources, innermost first; a position in the built file if no source map has it. */
  frames: { at: string; name: string | null }[];
  /** `ChatLog.tsx:88`; null if unknown. */
  where: string | null;
  first: string;
  last: string;
  visitors: number;
  /** Visitors of the build since shortly before the first error. */
  of: number;
  /** Sorted by visitors, descending, as are `routes`. */
  browsers: Portion[];
  routes: Portion[];
}

/** Pages opened up to this long before the first error count as exposed to it, in ms. */
const OPEN_MS = 15 * 60_000;
const MAX_SHOWN = 20;
/** Limit of distinct frames to look up. The others show their place in the built file. */
const MAX_LOOKED_UP = 500;

/** Strips the folder of the package manager: `react-dom/cjs/react-dom.js`. */
const withoutModules = (path: string): string => path.replace(/^.*\bnode_modules\//, '');

const baseName = (path: string): string => path.split('/').at(-1) ?? path;

/** True for a team's own source. Places in libraries do not help a team to fix the error. */
const isOwnSource = ({ source }: Place): boolean => !source.includes('node_modules');

function portions(events: readonly ErrorEvent[], label: (event: ErrorEvent) => string): Portion[] {
  const visitors = new Map<string, Set<string>>();
  for (const event of events) {
    const ids = visitors.get(label(event)) ?? new Set();
    visitors.set(label(event), ids.add(event.visitor));
  }
  return [...visitors]
    .map(([name, { size }]) => ({ label: name, visitors: size }))
    .sort((a, b) => b.visitors - a.visitors || a.label.localeCompare(b.label));
}

const mostFrequent = <Value>(values: readonly Value[]): Value | undefined => {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
};

interface Located extends ErrorEvent {
  places: (Place | null)[];
}

function whereOf({ build, frames, places }: Located): string | null {
  const folder = buildFolder(build).replace('builds/', '');
  const own = frames.map((frame, at) => ({ frame, place: places[at] })).filter(({ frame }) => frame.startsWith(folder));
  const { frame, place } = own.find(({ place: found }) => found && isOwnSource(found)) ?? own[0] ?? {};
  if (place) return `${baseName(place.source)}:${place.line}`;
  return frame === undefined ? null : baseName(frame);
}

/** Groups errors by build and place: running builds first, then by visitors. `events` are the votes of the same time. */
export async function summariseErrors(
  errors: readonly ErrorEvent[],
  events: readonly HealthEvent[],
  maps: Pick<SourceMaps, 'place'>,
  running: readonly string[],
): Promise<ErrorHealth[]> {
  const placesByFrame = new Map<string, Place | null>();
  for (const frame of errors.flatMap(({ frames }) => frames))
    if (!placesByFrame.has(frame) && placesByFrame.size < MAX_LOOKED_UP)
      placesByFrame.set(frame, await maps.place(frame));
  const groups = new Map<string, Located[]>();
  for (const error of errors) {
    if (!parseBuildId(error.build)) continue;
    const located = { ...error, places: error.frames.map((frame) => placesByFrame.get(frame) ?? null) };
    const key = `${error.build} ${error.name} ${whereOf(located) ?? error.kind}`;
    const group = groups.get(key);
    if (group) group.push(located);
    else groups.set(key, [located]);
  }
  const all = [...groups.values()].map((group) => describe(group, events, running));
  const order = (a: ErrorHealth, b: ErrorHealth) =>
    Number(a.gone) - Number(b.gone) || b.visitors - a.visitors || b.last.localeCompare(a.last);
  return all.sort(order).slice(0, MAX_SHOWN);
}

function describe(group: readonly Located[], events: readonly HealthEvent[], running: readonly string[]): ErrorHealth {
  const [head] = group as [Located];
  const times = group.map(({ at }) => at).sort();
  const [first = head.at, last = head.at] = [times[0], times.at(-1)];
  const failed = new Set(group.map(({ visitor }) => visitor));
  const since = new Date(Date.parse(first) - OPEN_MS).toISOString();
  // pages never vote on the host, and all of them run it
  const isOfBuild = ({ build }: HealthEvent) => nameOf(head.build) === HOST_NAME || build === head.build;
  const exposedVisitors = events.filter((event) => event.at >= since && isOfBuild(event)).map(({ visitor }) => visitor);
  return {
    build: head.build,
    gone: !running.includes(head.build),
    name: head.name,
    message: mostFrequent(group.map(({ message }) => message)) ?? null,
    kind: head.kind,
    frames: head.frames.map((frame, at) => {
      const place = head.places[at];
      return place
        ? { at: `${withoutModules(place.source)}:${place.line}`, name: place.name }
        : { at: frame, name: null };
    }),
    where: whereOf(head),
    first,
    last,
    visitors: failed.size,
    of: new Set([...exposedVisitors, ...failed]).size,
    browsers: portions(group, ({ browser }) => browser),
    routes: portions(group, ({ route }) => route),
  };
}
