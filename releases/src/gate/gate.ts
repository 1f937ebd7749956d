import type { SetBody } from '@liaozhai/shared/contract';
import { misfitsNow, neighboursOf, storeSet } from '../channel/composeSet.ts';
import type { Writer } from '../channel/writer.ts';
import { messageOf, ReleaseError, refused } from '../errors.ts';
import type { Finding } from '../model/action.ts';
import { type BuildRecord, type HostRecord, isHost, isRemote, type RemoteRecord, setHash } from '../model/build.ts';
import { candidatesOf } from '../model/channel.ts';
import type { Gate, GateInput } from '../operations/switching.ts';
import { type Check, say } from '../sentences.ts';
import { cached, type Store } from '../store/store.ts';
import { STATIC_CHECKS } from './checks.ts';
import { misfitsAmong } from './fit.ts';

export interface GateSubject {
  store: Store;
  set: SetBody;
  hash: string;
  host: HostRecord;
  remotes: RemoteRecord[];
  /** Builds that the change adds. */
  changed: BuildRecord[];
  /** Builds that may share a page or a browser with those of the set: last good and live ones. */
  neighbours: BuildRecord[];
  /** Keys of misfits that exist without this change, such as forced ones, which must not block other teams. */
  knownMisfits: ReadonlySet<string>;
}

export interface GateCheck {
  name: Check;
  /** Returns one line per problem, with build and cure; empty = passed. `note` receives remarks that need no fix. */
  run(subject: GateSubject, note: (line: string) => void): Promise<string[]>;
}

export interface CheckResult {
  check: string;
  problems: string[];
  notes: string[];
  milliseconds: number;
}

async function runCheck(check: GateCheck, subject: GateSubject): Promise<CheckResult> {
  const startedAt = performance.now();
  const toProblems = (cause: unknown): string[] => {
    if (cause instanceof ReleaseError && cause.kind === 'unreachable') throw cause;
    return [say('unjudged', { cause: messageOf(cause) })];
  };
  const notes: string[] = [];
  const problems = await check.run(subject, (line) => notes.push(line)).catch(toProblems);
  return { check: check.name, problems, notes, milliseconds: Math.round(performance.now() - startedAt) };
}

async function subjectOf(writer: Writer, { current, next, judged, changed }: GateInput): Promise<GateSubject> {
  const isStable = judged === next.stable;
  const { records, body } = judged;
  const [host] = records.filter(isHost);
  if (!host) throw refused(say('noHost'), say('noHostCure'));
  const currentMisfits = await misfitsNow(writer, current);
  const neighbours = await neighboursOf(writer, current, next.state);
  const stableMisfits = isStable ? [] : misfitsAmong(next.stable.records, neighbours).map(({ key }) => key);
  return {
    store: writer.store,
    set: body,
    hash: setHash(body),
    host,
    remotes: records.filter(isRemote),
    changed: records.filter(({ id }) => changed.includes(id)),
    neighbours,
    knownMisfits: isStable ? currentMisfits.stable : new Set([...currentMisfits.candidates, ...stableMisfits]),
  };
}

export interface GateOptions {
  smoke: GateCheck | null;
  onResults?: (results: CheckResult[]) => void;
}

/** Judges a proposal by the static checks first, and in the browser only if it passed them. */
export async function judgeSet(writer: Writer, proposal: GateInput, smoke: GateCheck | null): Promise<CheckResult[]> {
  const subject = await subjectOf(writer, proposal);
  if (smoke) await storeSet(writer.store, subject.hash, subject.set);
  const results: CheckResult[] = [];
  for (const check of STATIC_CHECKS) results.push(await runCheck(check, subject));
  const hasPassed = results.every(({ problems }) => problems.length === 0);
  if (smoke && hasPassed) results.push(await runCheck(smoke, subject));
  return results;
}

/** Makes the gate for operations. Caches the verdict on a set, so that a retried switch does not judge it again. */
export function makeGate(writer: Writer, { smoke, onResults }: GateOptions): Gate {
  const verdicts = new Map<string, Promise<Finding[]>>();
  const judge = async (proposal: GateInput): Promise<Finding[]> => {
    const results = await judgeSet(writer, proposal, smoke);
    onResults?.(results);
    return results.flatMap(({ check, problems }) => problems.map((problem) => ({ check, problem })));
  };
  const cachedGate: Gate = (proposal) => {
    const { current, next, judged: set, changed } = proposal;
    const runningSets = [current.stable?.set, ...candidatesOf(current).map((candidate) => candidate.set)];
    const key = [
      set === next.stable,
      setHash(set.body),
      next.state.stable?.set,
      ...changed,
      'over',
      ...runningSets,
    ].join(' ');
    return cached(verdicts, key, () => judge(proposal));
  };
  return Object.assign(cachedGate, { blind: smoke === null });
}
