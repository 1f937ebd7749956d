import { frozenNow } from '../channel/changeAgenda.ts';
import type { Writer } from '../channel/changeChannel.ts';
import { requireChannel } from '../channel/readChannel.ts';
import type { Evidence } from '../model/action.ts';
import { candidateOf, type Schedule } from '../model/agenda.ts';
import { HOST_NAME } from '../model/build.ts';
import { type Candidate, type ChannelDocument, candidatesOf } from '../model/channel.ts';
import { abort } from '../operations/switching.ts';
import { type ErrorHealth, summariseErrors } from './errors.ts';
import { type Counts, fisherWorse, type GroupHealth, groupHealth, type Sample } from './figures.ts';
import type { HealthEvent, HealthReader } from './healthRecord.ts';
import { type MetricVitals, type NameVitals, summariseVitals, type VitalsMinute } from './vitals.ts';

/** The rule of the automatic stop, as stated in docs/deploying/policies.md. */
export const AUTO_STOP = { alpha: 1e-4, minimumVisitors: 30, minimumFailed: 5 } as const;

/** How a candidate fares beside those who run what everybody runs of the same remotes. */
export interface CandidateHealth {
  builds: string[];
  tried: GroupHealth;
  control: GroupHealth;
  verdict: Verdict;
}

export interface Verdict {
  test: string;
  pValue: number;
  alpha: number;
  enough: boolean;
  worse: boolean;
}

/** How one build fares, with its last quarter of an hour. */
export interface BuildHealth extends GroupHealth {
  build: string;
  group: 'stable' | 'candidate';
  recent: Counts;
  /** It is live for everybody, and its visitors fail. */
  alarm: boolean;
}

export interface Health {
  stable: GroupHealth;
  candidates: CandidateHealth[];
  builds: BuildHealth[];
  /** What readers felt, by name. Missing where the console is older. */
  vitals?: NameVitals[];
  /** Errors in the code of builds, those of the most visitors first. Missing where the console is older. */
  errors?: ErrorHealth[];
}

export function verdictOn(candidate: Counts, control: Counts): Verdict {
  const pValue = fisherWorse(
    { failed: candidate.failedVisitors, total: candidate.visitors },
    { failed: control.failedVisitors, total: control.visitors },
  );
  const enough =
    candidate.visitors >= AUTO_STOP.minimumVisitors &&
    control.visitors >= AUTO_STOP.minimumVisitors &&
    candidate.failedVisitors >= AUTO_STOP.minimumFailed;
  return {
    test: 'Fisher exact, one-sided',
    pValue,
    alpha: AUTO_STOP.alpha,
    enough,
    worse: enough && pValue < AUTO_STOP.alpha,
  };
}

/** The rule of the alarm, as stated in docs/deploying/watching.md. */
const ALARM = { minutes: 15, minimumVisitors: 20, minimumFailed: 5, share: 0.25, minimumBefore: 30 } as const;

const sampleOf = ({ failedVisitors, visitors }: Counts): Sample => ({ failed: failedVisitors, total: visitors });

/** Whether the visitors of the last minutes fail: very many of them, or more than those of the same remote before, beyond chance. */
function isAlarming(recent: Counts, before: Counts): boolean {
  const { failedVisitors, visitors } = recent;
  if (visitors < ALARM.minimumVisitors || failedVisitors < ALARM.minimumFailed) return false;
  if (failedVisitors >= visitors * ALARM.share) return true;
  return before.visitors >= ALARM.minimumBefore && fisherWorse(sampleOf(recent), sampleOf(before)) < AUTO_STOP.alpha;
}

const nameIn = (build: string): string => build.split('@')[0] ?? build;

/** How a candidate's visitors fare since it began, beside those of its control. */
function candidateHealth(
  events: readonly HealthEvent[],
  document: ChannelDocument,
  { builds, set, since }: Candidate,
): CandidateHealth {
  const names = new Set(builds.map(nameIn));
  const live = new Set((document.stable?.builds ?? []).filter((id) => names.has(nameIn(id))));
  const recent = events.filter(({ at }) => at >= since);
  // pages report remotes, never the host; and a remote of which nothing is live has no control of its own
  const byRemote = !names.has(HOST_NAME) && live.size === names.size;
  const isAlone = candidatesOf(document).length === 1;
  const isTried = byRemote
    ? (event: HealthEvent) => event.candidate && builds.includes(event.build)
    : (event: HealthEvent) => event.candidate && (isAlone || event.set === set);
  const isControl = byRemote ? (event: HealthEvent) => live.has(event.build) : (event: HealthEvent) => !event.candidate;
  const [tried, control] = [groupHealth(recent.filter(isTried)), groupHealth(recent.filter(isControl))];
  return { builds, tried, control, verdict: verdictOn(tried, control) };
}

function buildHealth(events: readonly HealthEvent[], document: ChannelDocument, now: Date): BuildHealth[] {
  const quarter = new Date(now.getTime() - ALARM.minutes * 60_000).toISOString();
  const tried = candidatesOf(document).flatMap(({ builds }) => builds);
  const live = document.stable?.builds ?? [];
  return [...live, ...tried].flatMap((build) => {
    const own = events.filter((event) => event.build === build);
    if (own.length === 0) return [];
    const group = tried.includes(build) ? 'candidate' : 'stable';
    const recent = groupHealth(own.filter(({ at }) => at >= quarter));
    const before = events.filter(
      (event) => event.at < quarter && !event.candidate && nameIn(event.build) === nameIn(build),
    );
    const { visitors, failedVisitors } = recent;
    const alarm = group === 'stable' && isAlarming(recent, groupHealth(before));
    return [{ build, group, ...groupHealth(own), recent: { visitors, failedVisitors }, alarm }];
  });
}

/** How a channel's sets fare, by the events of the last day and what readers felt in it. */
export function summarise(
  events: readonly HealthEvent[],
  document: ChannelDocument,
  now = new Date(),
  vitals: readonly VitalsMinute[] = [],
): Health {
  const { stable } = document;
  const isStable = ({ candidate, set, at }: HealthEvent) =>
    !candidate && set === stable?.set && (at >= stable.since || stable.since > now.toISOString());
  return {
    stable: groupHealth(events.filter(isStable)),
    candidates: candidatesOf(document).map((candidate) => candidateHealth(events, document, candidate)),
    builds: buildHealth(events, document, now),
    vitals: summariseVitals(vitals, document, now),
  };
}

/** A group's figures, as the audit keeps them. */
const healthOf = (
  group: 'candidate' | 'control',
  { visitors, failedVisitors, failures, p75LoadMilliseconds }: GroupHealth,
): Evidence => ({ kind: 'health', group, visitors, failedVisitors, failures, p75LoadMilliseconds });

/** Reads how a channel fares. */
export async function readHealth(
  writer: Writer,
  reader: HealthReader,
): Promise<{ document: ChannelDocument; health: Health }> {
  const { document } = await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  const now = writer.now();
  const { events, errors, vitals } = await reader.record('', now);
  const health = summarise(events, document, now, vitals);
  return { document, health: { ...health, errors: await summariseErrors(errors, events, reader.maps) } };
}

/**
 * Ends a candidate that fails more than its control, or is slower, beyond chance, with the figures in the audit. Returns whether
 * there was one.
 */
export async function stopIfWorse(writer: Writer, reader: HealthReader): Promise<boolean> {
  const current = await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  if (!current.document.candidate) return false;
  const { document, health } = await readHealth(writer, reader);
  const found = failing(health) ?? slow(health);
  if (!found) return false;
  await abort(
    { ...writer, who: 'auto-stop' },
    { name: nameIn(found.build), seq: document.seq, evidence: found.evidence },
  );
  return true;
}

interface Harmful {
  build: string;
  evidence: Evidence[];
}

function failing({ candidates }: Health): Harmful | null {
  const harmful = candidates.find(({ verdict }) => verdict.worse);
  const [build] = harmful?.builds ?? [];
  if (!harmful || !build) return null;
  const { pValue, alpha } = harmful.verdict;
  const groups = [healthOf('candidate', harmful.tried), healthOf('control', harmful.control)];
  return { build, evidence: [{ kind: 'verdict', pValue, alpha }, ...groups] };
}

/** The first build whose pages are too slow, with every figure that says so. */
function slow({ vitals = [] }: Health): Harmful | null {
  for (const { metrics } of vitals) {
    const evidence = metrics.flatMap(slowerEvidence);
    const build = metrics.flatMap(({ candidate }) => candidate?.build ?? []).at(0);
    if (build && evidence.length > 0) return { build, evidence };
  }
  return null;
}

function slowerEvidence({ metric, candidate, verdict }: MetricVitals): Evidence[] {
  if (!candidate || !verdict?.slower) return [];
  const { tried, control, pValue, alpha } = verdict;
  const figures = { pages: tried.pages, p75: tried.p75 ?? 0, stablePages: control.pages, stableP75: control.p75 ?? 0 };
  return [{ kind: 'slower', build: candidate.build, metric, ...figures, pValue, alpha }];
}

/** `stories@1.4.2+…: 40 of 90 visitors failed in the last 15 minutes (hang 38)` */
export const alarmLine = ({ build, recent, failures }: BuildHealth): string =>
  `${build}: ${recent.failedVisitors} of ${recent.visitors} visitors failed in the last ${ALARM.minutes} minutes (${Object.entries(
    failures,
  )
    .map(([failure, count]) => `${failure} ${count}`)
    .join(', ')} in all)`;

/** A step goes on while chance explains a candidate's failures with at least this probability. It is asked once a step, not for ever as the stop. */
const STEP_LIMIT = 0.01;

/** Why a step that is due is not taken yet. */
export type Waiting = Extract<Evidence, { kind: 'tooFew' | 'failing' | 'frozen' }>;

/** What speaks for the next step, or why it waits. A first step begins a candidate and is judged by nobody. */
export async function judgeStep(
  writer: Writer,
  reader: HealthReader,
  planned: Schedule,
  document: ChannelDocument,
  now: Date,
): Promise<{ waiting: Waiting | null; evidence: Evidence[] }> {
  const frozen = await frozenNow(writer);
  if (frozen) {
    const { freeze, until } = frozen;
    return {
      waiting: { kind: 'frozen', reason: freeze.reason.slice(0, 150), until: until.toISOString() },
      evidence: [],
    };
  }
  const candidate = candidateOf(document, planned);
  if (!candidate) return { waiting: null, evidence: [] };
  const events = await reader.events('', now);
  const whole = candidateHealth(events, document, candidate);
  const { tried, control, verdict } = candidateHealth(events, document, { ...candidate, since: planned.since });
  const evidence = [healthOf('candidate', tried), healthOf('control', control)];
  const worst = Math.min(whole.verdict.pValue, verdict.pValue);
  if (whole.verdict.worse || worst < STEP_LIMIT)
    return { waiting: { kind: 'failing', pValue: worst, limit: STEP_LIMIT }, evidence };
  const { enough } = planned;
  if (tried.visitors < enough || control.visitors < enough)
    return { waiting: { kind: 'tooFew', tried: tried.visitors, control: control.visitors, enough }, evidence };
  return { waiting: null, evidence };
}
