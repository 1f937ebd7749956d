import { frozenNow } from '../channel/changeAgenda.ts';
import { currentDocument, history } from '../channel/readChannel.ts';
import { timeOf, type Writer } from '../channel/writer.ts';
import type { Evidence } from '../model/action.ts';
import { candidateOf, type Schedule } from '../model/agenda.ts';
import { HOST_NAME, parseBuildId } from '../model/build.ts';
import {
  type Candidate,
  type ChannelDocument,
  candidatesOf,
  liveIn,
  runningBuilds,
  triedBuilds,
} from '../model/channel.ts';
import { abort } from '../operations/switching.ts';
import { type Rise, riseOf } from './alarm.ts';
import { type ErrorHealth, summariseErrors } from './errors.ts';
import {
  type Counts,
  fisherWorse,
  type GroupHealth,
  groupHealth,
  isSince,
  nameIn,
  type Reports,
  withoutFallbacks,
} from './figures.ts';
import type { HealthEvent, HealthReader } from './healthRecord.ts';
import { STRIKING_P_VALUE, type Trouble, troublesOf } from './troubles.ts';
import { type NameVitals, summariseVitals, type VitalsMinute } from './vitals.ts';

/** The rule of the automatic stop, as stated in docs/deploying/policies.md. */
export const AUTO_STOP = { alpha: 1e-4, minimumVisitors: 30, minimumFailed: 5 };

/** Health of a candidate, compared with visitors of the same remotes' live builds. */
export interface CandidateHealth {
  builds: string[];
  tried: GroupHealth;
  control: GroupHealth;
  verdict: Verdict;
}

type Verdict = ReturnType<typeof verdictOn>;

/** Health of one build, with its last minutes, and compared with another build of its name. */
export interface BuildHealth extends GroupHealth, Rise {
  build: string;
  group: 'stable' | 'candidate';
  /** For a live build, the one before it; for a candidate, the live one. Null without visitors within a day. */
  beside: (Counts & { build: string }) | null;
}

export interface Health {
  stable: GroupHealth;
  candidates: CandidateHealth[];
  builds: BuildHealth[];
  /** Web vitals by name. Missing in the response of an older console. */
  vitals?: NameVitals[];
  /** Errors in the code of builds, most visitors first. Missing in the response of an older console. */
  errors?: ErrorHealth[];
}

export function verdictOn(candidate: Counts, control: Counts) {
  const pValue = fisherWorse(candidate, control);
  const hasVisitors = Math.min(candidate.visitors, control.visitors) >= AUTO_STOP.minimumVisitors;
  const enough = hasVisitors && candidate.failedVisitors >= AUTO_STOP.minimumFailed;
  const { alpha } = AUTO_STOP;
  return { pValue, alpha, hasVisitors, enough, worse: enough && pValue < alpha };
}

/** Returns the health of a candidate since its start, compared with its control. */
function candidateHealth(
  { events, errors = [] }: Reports,
  document: ChannelDocument,
  { builds, set, since }: Candidate,
  now: Date,
): CandidateHealth {
  const names = new Set(builds.map(nameIn));
  const live = new Set(liveIn(document).filter((id) => names.has(nameIn(id))));
  const recent = events.filter(isSince(since, now));
  const thrown = errors.filter(isSince(since, now));
  // pages never report the host, and a remote without a live build has no control of its own
  const byRemote = !names.has(HOST_NAME) && live.size === names.size;
  const isAlone = candidatesOf(document).length === 1;
  const isTried = byRemote
    ? (event: HealthEvent) => event.candidate && builds.includes(event.build)
    : (event: HealthEvent) => event.candidate && (isAlone || event.set === set);
  const isControl = byRemote ? (event: HealthEvent) => live.has(event.build) : (event: HealthEvent) => !event.candidate;
  const tried = groupHealth(
    recent.filter(isTried),
    thrown.filter(({ build }) => builds.includes(build)),
  );
  const control = groupHealth(
    recent.filter(isControl),
    thrown.filter(({ build }) => live.has(build)),
  );
  return { builds, tried, control, verdict: verdictOn(tried, control) };
}

/** Pages never vote on the host, so each visitor with a page counts as a successful load of the host. */
const asVotesOnHost = (events: readonly HealthEvent[], build: string): HealthEvent[] =>
  events.map(({ failure: _, loadMilliseconds: __, ...event }) => ({ ...event, build, outcome: 'loaded' }));

/** Returns the last other live build of the same name. Ignores malformed ids, because anybody can send votes. */
function formerBuild(events: readonly HealthEvent[], build: string): string | undefined {
  const isFormer = (event: HealthEvent) =>
    !event.candidate &&
    event.build !== build &&
    nameIn(event.build) === nameIn(build) &&
    parseBuildId(event.build) !== null;
  return events.findLast(isFormer)?.build;
}

function buildHealth({ events, errors = [] }: Reports, document: ChannelDocument, now: Date): BuildHealth[] {
  const tried = triedBuilds(document);
  const live = liveIn(document);
  return [...live, ...tried].flatMap((build) => {
    const group = tried.includes(build) ? 'candidate' : 'stable';
    const name = nameIn(build);
    const thrown = errors.filter((error) => nameIn(error.build) === name);
    const isOwn = (report: { build: string }) => report.build === build;
    if (name === HOST_NAME && !thrown.some(isOwn)) return [];
    const votes =
      name === HOST_NAME
        ? asVotesOnHost(
            events.filter(({ candidate }) => candidate === (group === 'candidate')),
            build,
          )
        : events.filter((event) => nameIn(event.build) === name);
    if (!votes.some(isOwn) && !thrown.some(isOwn)) return [];
    const healthOfThose = (isMeant: (report: { build: string; at: string }) => boolean) =>
      groupHealth(votes.filter(isMeant), thrown.filter(isMeant));
    const isNow = (minutes: number) => {
      const isRecent = isSince(new Date(now.getTime() - minutes * 60_000).toISOString(), now);
      return (report: { build: string; at: string }) => isOwn(report) && isRecent(report);
    };
    const rise = riseOf(
      (minutes) => countsOf(healthOfThose(isNow(minutes))),
      (minutes) => {
        const isRecent = isNow(minutes);
        return countsOf(healthOfThose((report) => !tried.includes(report.build) && !isRecent(report)));
      },
    );
    const other = group === 'candidate' ? live.find((id) => nameIn(id) === name) : formerBuild(votes, build);
    const beside = other === undefined ? null : healthOfThose((report) => report.build === other);
    return [
      {
        build,
        group,
        ...healthOfThose(isOwn),
        ...rise,
        alarm: group === 'stable' && rise.alarm,
        beside: other && beside && beside.visitors > 0 ? { build: other, ...countsOf(beside) } : null,
      },
    ];
  });
}

const countsOf = ({ visitors, failedVisitors }: Counts): Counts => ({ visitors, failedVisitors });

/** Summarises the health of a channel from the reports and vitals of the last day. */
export function summarise(
  reports: Reports,
  document: ChannelDocument,
  now = new Date(),
  vitals: readonly VitalsMinute[] = [],
): Health {
  const { stable } = document;
  const isRecent = isSince(stable?.since ?? '', now);
  return {
    stable: groupHealth(
      reports.events.filter((event) => !event.candidate && event.set === stable?.set && isRecent(event)),
      reports.errors?.filter((error) => stable?.builds.includes(error.build) && isRecent(error)),
    ),
    candidates: candidatesOf(document).map((candidate) => candidateHealth(reports, document, candidate, now)),
    builds: buildHealth(reports, document, now),
    vitals: summariseVitals(vitals, document, now),
  };
}

const healthOf = (
  group: 'candidate' | 'control',
  { visitors, failedVisitors, failures, p75LoadMilliseconds }: GroupHealth,
): Evidence => ({ kind: 'health', group, visitors, failedVisitors, failures, p75LoadMilliseconds });

export async function readHealth(
  writer: Writer,
  reader: HealthReader,
): Promise<{ document: ChannelDocument; health: Health }> {
  const document = await currentDocument(writer);
  const now = await timeOf(writer);
  const { vitals, ...recorded } = await reader.record('', now);
  const { events, errors } = withoutFallbacks(recorded, document);
  const health = summarise({ events, errors }, document, now, vitals);
  const summaries = await summariseErrors(errors, events, reader.maps, runningBuilds(document));
  return { document, health: { ...health, errors: summaries } };
}

/**
 * Ends a candidate that fails significantly more than its control or is significantly slower. The audit records the figures. Returns
 * whether a candidate was ended.
 */
export async function stopIfWorse(writer: Writer, reader: HealthReader): Promise<boolean> {
  if (!(await currentDocument(writer)).candidate) return false;
  const { document, health } = await readHealth(writer, reader);
  const trouble = troublesOf(health).find(({ ends }) => ends);
  const [build] = trouble?.builds ?? [];
  if (!trouble || !build) return false;
  const request = { name: nameIn(build), seq: document.seq, evidence: evidenceOf(trouble) };
  await abort({ ...writer, who: 'auto-stop' }, request);
  return true;
}

function evidenceOf({ failing, slower }: Trouble): Evidence[] {
  if (failing?.verdict.worse) {
    const { tried, control, verdict } = failing;
    const { pValue, alpha } = verdict;
    return [{ kind: 'verdict', pValue, alpha }, healthOf('candidate', tried), healthOf('control', control)];
  }
  return slower.map(({ metric, candidate: { build }, verdict: { tried, control, pValue, alpha } }) => ({
    kind: 'slower',
    build,
    metric,
    pages: tried.pages,
    p75: tried.p75 ?? 0,
    stablePages: control.pages,
    stableP75: control.p75 ?? 0,
    pValue,
    alpha,
  }));
}

/** Why a due step waits. */
export type Waiting = Extract<Evidence, { kind: 'tooFew' | 'failing' | 'frozen' }>;

/** Returns since when visitors count for a step: since the step before, or since the live host was switched. */
async function stepSince(writer: Writer, document: ChannelDocument, since: string): Promise<string> {
  if (!document.stable || document.stable.since <= since) return since;
  const hostIn = (state: ChannelDocument) => liveIn(state, HOST_NAME).join();
  let { at } = document.action;
  for await (const state of history(writer, document)) {
    if (hostIn(state) !== hostIn(document)) return at;
    if (state.action.at <= since) break;
    at = state.action.at;
  }
  return since;
}

/** Returns the evidence for the next step, or why it waits. A first step has no visitors yet, so it is not judged. */
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
    const waiting: Waiting = { kind: 'frozen', reason: freeze.reason.slice(0, 150), until: until.toISOString() };
    return { waiting, evidence: [] };
  }
  const candidate = candidateOf(document, planned);
  if (!candidate) return { waiting: null, evidence: [] };
  const reports = withoutFallbacks(await reader.record('', now), document);
  const whole = candidateHealth(reports, document, candidate, now);
  // the audit may be damaged: what the set that runs has shown counts then
  const since = await stepSince(writer, document, planned.since).catch(() => document.stable?.since ?? planned.since);
  const { tried, control, verdict } = candidateHealth(reports, document, { ...candidate, since }, now);
  const evidence = [healthOf('candidate', tried), healthOf('control', control)];
  const worst = Math.min(whole.verdict.pValue, verdict.pValue);
  if (whole.verdict.worse || worst < STRIKING_P_VALUE)
    return { waiting: { kind: 'failing', pValue: worst, limit: STRIKING_P_VALUE }, evidence };
  const { enough } = planned;
  if (tried.visitors < enough || control.visitors < enough)
    return { waiting: { kind: 'tooFew', tried: tried.visitors, control: control.visitors, enough }, evidence };
  return { waiting: null, evidence };
}
