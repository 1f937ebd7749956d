import { type RemoteFailure, scriptErrors } from '@liaozhai/shared/contract';
import { CLOCK_TOLERANCE_MS } from '../channel/writer.ts';
import { type ChannelDocument, triedBuilds } from '../model/channel.ts';
import type { ErrorEvent, HealthEvent } from './healthRecord.ts';

type ScriptError = (typeof scriptErrors)[number];

const isScriptError = (kind: ErrorEvent['kind']): kind is ScriptError => scriptErrors.some((one) => one === kind);

export interface Counts {
  visitors: number;
  failedVisitors: number;
}

export interface GroupHealth extends Counts {
  loads: number;
  failures: Partial<Record<RemoteFailure | ScriptError, number>>;
  p75LoadMilliseconds: number | null;
}

function p75(values: number[]): number | null {
  const sorted = values.sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.75) - 1] ?? null;
}

/**
 * Counts one vote per visitor and build. A visitor with at least one failure counts as failed, as does one whose page threw an uncaught
 * error.
 */
export function groupHealth(events: Iterable<HealthEvent>, errors: Iterable<ErrorEvent> = []): GroupHealth {
  const votes = new Map<string, HealthEvent>();
  for (const event of events) {
    const key = `${event.visitor} ${event.build}`;
    if (event.outcome === 'failed' || !votes.has(key)) votes.set(key, event);
  }
  const all = [...votes.values()];
  const failed = all.filter(({ outcome }) => outcome === 'failed');
  const failures: GroupHealth['failures'] = {};
  for (const { failure = 'unreachable' } of failed) failures[failure] = (failures[failure] ?? 0) + 1;
  const visitors = new Set(all.map(({ visitor }) => visitor));
  const failedVisitors = new Set(failed.map(({ visitor }) => visitor));
  const thrown = new Set<string>();
  for (const { kind, visitor, build } of errors) {
    const key = `${kind} ${visitor} ${build}`;
    // an error that kept a remote from running is already counted as a failed vote
    if (!isScriptError(kind) || thrown.has(key)) continue;
    thrown.add(key);
    visitors.add(visitor);
    failedVisitors.add(visitor);
    failures[kind] = (failures[kind] ?? 0) + 1;
  }
  const loads = all.flatMap(({ outcome, loadMilliseconds }) =>
    outcome === 'loaded' && loadMilliseconds !== undefined ? [loadMilliseconds] : [],
  );
  return {
    visitors: visitors.size,
    failedVisitors: failedVisitors.size,
    loads: all.length - failed.length,
    failures,
    p75LoadMilliseconds: p75(loads),
  };
}

export const nameIn = (build: string): string => build.split('@')[0] ?? build;

/**
 * Selects the reports since an instant. One ahead of now has no meaning, because the clock was set back since: such a start is ignored,
 * and such a report does not count.
 */
export function isSince(start: string, now: Date): (report: { at: string }) => boolean {
  const from = start > now.toISOString() ? '' : start;
  const until = new Date(now.getTime() + CLOCK_TOLERANCE_MS).toISOString();
  return ({ at }) => at >= from && at <= until;
}

/** Votes on builds, and errors of the same time. */
export interface Reports {
  events: readonly HealthEvent[];
  errors?: readonly ErrorEvent[];
}

/**
 * Leaves out votes on live builds that ran as fallbacks, in pages of other sets whose own build had failed. These visitors count for the
 * failed build, which may also have broken the page for its fallback.
 */
export function withoutFallbacks(
  { events, errors = [] }: Reports,
  document: Pick<ChannelDocument, 'stable' | 'lastGood' | 'candidate' | 'moreCandidates'>,
): Required<Reports> {
  const { stable, lastGood } = document;
  const live = new Set(stable?.builds);
  const tried = new Set(triedBuilds(document));
  const pageOf = ({ visitor, set, build }: HealthEvent) => `${visitor} ${set} ${nameIn(build)}`;
  // the last good build is itself a fallback, unless it is a candidate
  const isOwn = ({ build }: HealthEvent) => tried.has(build) || lastGood[nameIn(build)] !== build;
  const isForeign = ({ build, set }: HealthEvent) => !live.has(build) && set !== stable?.set;
  const others = new Set(
    events.filter((event) => event.outcome === 'failed' && isForeign(event) && isOwn(event)).map(pageOf),
  );
  const voteOf = ({ visitor, build }: { visitor: string; build: string }) => `${visitor} ${build}`;
  const own: HealthEvent[] = [];
  const fallbacks = new Set<string>();
  for (const event of events) {
    if (others.size > 0 && live.has(event.build) && others.has(pageOf(event))) fallbacks.add(voteOf(event));
    else own.push(event);
  }
  for (const event of own) fallbacks.delete(voteOf(event));
  return { events: own, errors: errors.filter((error) => !fallbacks.has(voteOf(error))) };
}

const logFactorials: number[] = [0];

function logFactorial(n: number): number {
  for (let next = logFactorials.length; next <= n; next += 1)
    logFactorials.push((logFactorials[next - 1] ?? 0) + Math.log(next));
  return logFactorials[n] ?? 0;
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/**
 * Fisher's exact test, one-sided: the probability that `tried` has this many failures or more if both groups fail equally often. 1 = no
 * sign of harm.
 */
export function fisherWorse(tried: Counts, control: Counts): number {
  const drawn = tried.visitors;
  const total = drawn + control.visitors;
  const failed = tried.failedVisitors + control.failedVisitors;
  const all = logChoose(total, drawn);
  let sum = 0;
  for (let k = tried.failedVisitors; k <= Math.min(failed, drawn); k += 1)
    if (drawn - k <= total - failed) sum += Math.exp(logChoose(failed, k) + logChoose(total - failed, drawn - k) - all);
  return Math.min(1, sum);
}
