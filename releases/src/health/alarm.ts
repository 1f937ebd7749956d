import { changeChannel } from '../channel/changeChannel.ts';
import { currentDocument, readLog } from '../channel/readChannel.ts';
import { timeOf, type Writer } from '../channel/writer.ts';
import { type Counts, fisherWorse } from './figures.ts';

/**
 * The rule of the alarm, as stated in docs/deploying/watching.md. `alpha` is lower than the automatic stop's, because the test is
 * repeated every few minutes with new visitors.
 */
const ALARM = {
  /** Spans up to now in minutes, longest first. A short span detects a rise that a long one dilutes. */
  spans: [15, 5, 2],
  minimumVisitors: 20,
  minimumFailed: 5,
  share: 0.25,
  minimumBefore: 30,
  times: 2,
  alpha: 1e-5,
} as const;

const isEnough = ({ visitors, failedVisitors }: Counts): boolean =>
  visitors >= ALARM.minimumVisitors && failedVisitors >= ALARM.minimumFailed;

/** True if very many recent visitors fail, or significantly more than the same remote's visitors before. */
export function isAlarming(recent: Counts, before: Counts): boolean {
  if (!isEnough(recent)) return false;
  const { visitors, failedVisitors: failed } = recent;
  if (failed >= visitors * ALARM.share) return true;
  const isRise = failed * before.visitors >= ALARM.times * before.failedVisitors * visitors;
  return before.visitors >= ALARM.minimumBefore && isRise && fisherWorse(recent, before) < ALARM.alpha;
}

/** Recent visitors of a build, compared with earlier visitors of the same remote. */
export interface Rise {
  minutes: number;
  recent: Counts;
  before: Counts;
  alarm: boolean;
}

/**
 * Returns the first span that alarms, else the longest one. `recentIn` counts the visitors of the last minutes, `beforeOf` earlier ones.
 * There are many of these, so they are counted only if necessary.
 */
export function riseOf(recentIn: (minutes: number) => Counts, beforeOf: (minutes: number) => Counts): Rise {
  const [longest] = ALARM.spans;
  for (const minutes of ALARM.spans) {
    const recent = recentIn(minutes);
    if (!isEnough(recent)) continue;
    const before = beforeOf(minutes);
    if (isAlarming(recent, before)) return { minutes, recent, before, alarm: true };
  }
  return { minutes: longest, recent: recentIn(longest), before: beforeOf(longest), alarm: false };
}

/** An incident without an alarm for this long is over, and the next alarm begins a new one. */
export const INCIDENT_MS = 30 * 60_000;
const SEARCHED_ENTRIES = 50;

/**
 * Logs an alarm, which webhooks then deliver. Returns false if the log already has it, from another console or from this one before a
 * restart.
 */
export async function logAlarm(
  writer: Writer,
  { build, minutes, recent, before }: Rise & { build: string },
): Promise<boolean> {
  const document = await currentDocument(writer);
  const entries = await readLog(writer, document, SEARCHED_ENTRIES);
  const since = (await timeOf(writer)).getTime() - INCIDENT_MS;
  const isLogged = entries.some(
    ({ action, at }) => action.kind === 'alarm' && action.builds.includes(build) && Date.parse(at) >= since,
  );
  if (isLogged) return false;
  await changeChannel(writer, async () => ({
    action: { kind: 'alarm', builds: [build] },
    evidence: [{ kind: 'alarm', minutes, recent, before }],
  }));
  return true;
}
