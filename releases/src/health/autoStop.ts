import type { RemoteFailure } from '@liaozhai/shared/contract';
import type { Writer } from '../channel/changeChannel.ts';
import { requireChannel } from '../channel/readChannel.ts';
import type { Evidence } from '../model/action.ts';
import type { ChannelDocument } from '../model/channel.ts';
import { abort } from '../operations/switching.ts';
import type { HealthEvent, HealthReader } from './healthRecord.ts';

const logFactorials: number[] = [0];

function logFactorial(n: number): number {
  for (let known = logFactorials.length; known <= n; known += 1)
    logFactorials.push((logFactorials[known - 1] ?? 0) + Math.log(known));
  return logFactorials[n] ?? 0;
}

const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

/** How many failed of how many. */
export interface Sample {
  failed: number;
  total: number;
}

/**
 * Fisher's exact test, one-sided: how likely chance alone gives `tried` this many failures or more, if both groups fail alike.
 * 1 = no sign of harm.
 */
export function fisherWorse(tried: Sample, control: Sample): number {
  const total = tried.total + control.total;
  const failed = tried.failed + control.failed;
  const all = logChoose(total, tried.total);
  let sum = 0;
  for (let k = tried.failed; k <= Math.min(failed, tried.total); k += 1)
    if (tried.total - k <= total - failed)
      sum += Math.exp(logChoose(failed, k) + logChoose(total - failed, tried.total - k) - all);
  return Math.min(1, sum);
}

/** The rule of the automatic stop, as stated in docs/deploying.md. */
export const AUTO_STOP = { alpha: 1e-4, minimumVisitors: 30, minimumFailed: 5 } as const;

export interface Counts {
  visitors: number;
  failedVisitors: number;
}

export interface GroupHealth extends Counts {
  loads: number;
  failures: Partial<Record<RemoteFailure, number>>;
  p75LoadMilliseconds: number | null;
}

export interface Health {
  stable: GroupHealth;
  candidate: GroupHealth | null;
  /** Set only while a candidate runs. */
  verdict: { test: string; pValue: number; alpha: number; enough: boolean; worse: boolean } | null;
}

function p75(values: number[]): number | null {
  const sorted = values.sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.75) - 1] ?? null;
}

/** One vote per visitor and build: whoever failed once with a build counts as failed, however often it was tried. */
function groupHealth(events: Iterable<HealthEvent>): GroupHealth {
  const votes = new Map<string, HealthEvent>();
  for (const event of events) {
    const key = `${event.visitor} ${event.build}`;
    if (event.outcome === 'failed' || !votes.has(key)) votes.set(key, event);
  }
  const all = [...votes.values()];
  const failed = all.filter(({ outcome }) => outcome === 'failed');
  const failures: GroupHealth['failures'] = {};
  for (const { failure = 'unreachable' } of failed) failures[failure] = (failures[failure] ?? 0) + 1;
  const loads = all.flatMap(({ outcome, loadMilliseconds }) =>
    outcome === 'loaded' && loadMilliseconds !== undefined ? [loadMilliseconds] : [],
  );
  return {
    visitors: new Set(all.map(({ visitor }) => visitor)).size,
    failedVisitors: new Set(failed.map(({ visitor }) => visitor)).size,
    loads: all.length - failed.length,
    failures,
    p75LoadMilliseconds: p75(loads),
  };
}

export function verdictOn(candidate: Counts, control: Counts): NonNullable<Health['verdict']> {
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

/** With a candidate both groups are counted from its beginning, so that they meet the same hours. */
export const countedFrom = ({ stable, candidate }: ChannelDocument): string => candidate?.since ?? stable?.since ?? '';

/** How a channel's sets fare. */
export function summarise(events: readonly HealthEvent[], document: ChannelDocument): Health {
  const { stable, candidate } = document;
  const from = countedFrom(document);
  const recent = events.filter(({ at }) => at >= from);
  const control = groupHealth(recent.filter((event) => !event.candidate && event.set === stable?.set));
  if (!candidate) return { stable: control, candidate: null, verdict: null };
  const tried = groupHealth(recent.filter((event) => event.candidate && event.set === candidate.set));
  return { stable: control, candidate: tried, verdict: verdictOn(tried, control) };
}

const healthOf = (
  group: 'candidate' | 'control',
  { visitors, failedVisitors, failures, p75LoadMilliseconds }: GroupHealth,
): Evidence => ({ kind: 'health', group, visitors, failedVisitors, failures, p75LoadMilliseconds });

/** Ends the candidate if it fails more than stable beyond chance, with the figures in the audit. Returns whether it did. */
export async function stopIfWorse(writer: Writer, reader: HealthReader): Promise<boolean> {
  const { document } = await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  if (!document.candidate) return false;
  const health = summarise(await reader.events(countedFrom(document), writer.now()), document);
  if (!health.verdict?.worse || !health.candidate) return false;
  const { pValue, alpha } = health.verdict;
  const evidence: Evidence[] = [
    { kind: 'verdict', pValue, alpha },
    healthOf('candidate', health.candidate),
    healthOf('control', health.stable),
  ];
  await abort({ ...writer, who: 'auto-stop' }, { seq: document.seq, evidence });
  return true;
}
