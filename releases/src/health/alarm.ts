import { changeChannel } from '../channel/changeChannel.ts';
import { currentDocument, readLog } from '../channel/readChannel.ts';
import { timeOf, type Writer } from '../channel/writer.ts';
import { stateOf } from '../model/channel.ts';
import { type Counts, fisherWorse, sampleOf } from './figures.ts';

/**
 * The rule of the alarm, as stated in docs/deploying/watching.md. The bound is lower than the automatic stop's, since every few
 * minutes bring visitors who were not judged before.
 */
const ALARM = {
  /** Spans that end now, in minutes, the longest first: a short one sees a rise that a long one dilutes. */
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

/** Whether the visitors of the last minutes fail: very many of them, or far more than those of the same remote before, beyond chance. */
export function isAlarming(recent: Counts, before: Counts): boolean {
  if (!isEnough(recent)) return false;
  const [now, then] = [sampleOf(recent), sampleOf(before)];
  if (now.failed >= now.total * ALARM.share) return true;
  if (then.total < ALARM.minimumBefore || now.failed * then.total < ALARM.times * then.failed * now.total) return false;
  return fisherWorse(now, then) < ALARM.alpha;
}

/** How a build fares now, compared with the visitors of the same remote before. */
export interface Rise {
  minutes: number;
  recent: Counts;
  before: Counts;
  alarm: boolean;
}

interface Within {
  /** Who came in the last so many minutes. */
  recent: (minutes: number) => Counts;
  /** Everybody before them: very many, so counted only where it decides. */
  before: (minutes: number) => Counts;
}

/** The first span that alarms, else the longest. */
export function riseOf({ recent: recentIn, before: beforeOf }: Within): Rise {
  const [longest] = ALARM.spans;
  for (const minutes of ALARM.spans) {
    const recent = recentIn(minutes);
    if (!isEnough(recent)) continue;
    const before = beforeOf(minutes);
    if (isAlarming(recent, before)) return { minutes, recent, before, alarm: true };
  }
  return { minutes: longest, recent: recentIn(longest), before: beforeOf(longest), alarm: false };
}

type Alarming = Rise & { build: string };

/** An incident that was quiet for so long is over: what comes then is another one. */
export const INCIDENT_MS = 30 * 60_000;
const LOOKED_THROUGH = 50;

/**
 * Writes an alarm into the log, from where webhooks deliver it. Returns false where the log has it already: another console, or
 * this one before its restart.
 */
export async function logAlarm(writer: Writer, { build, minutes, recent, before }: Alarming): Promise<boolean> {
  const { store, key } = writer;
  const document = await currentDocument(writer);
  const entries = await readLog(store, document, key.publicKey, LOOKED_THROUGH);
  const since = (await timeOf(writer)).getTime() - INCIDENT_MS;
  const isLogged = entries.some(
    ({ action, at }) => action.kind === 'alarm' && action.builds.includes(build) && Date.parse(at) >= since,
  );
  if (isLogged) return false;
  await changeChannel(writer, async (current) => ({
    state: stateOf(current),
    action: { kind: 'alarm', builds: [build] },
    evidence: [{ kind: 'alarm', minutes, recent, before }],
  }));
  return true;
}
