import { randomBytes } from 'node:crypto';
import { assertRemote } from '../builds/catalog.ts';
import { passFreeze } from '../channel/changeAgenda.ts';
import { acceptFindings, type Change, changeChannel, type Decision } from '../channel/changeChannel.ts';
import {
  type Composed,
  type ComposedSet,
  compose,
  newMisfits,
  type Plan,
  type PlannedCandidate,
  replan,
} from '../channel/composeSet.ts';
import type { ChangeOptions, Writer } from '../channel/writer.ts';
import { findingLine } from '../english.ts';
import { refused } from '../errors.ts';
import { type Evidence, type Finding, findingsIn } from '../model/action.ts';
import { mergeBuilds, nameOf, sameBuilds } from '../model/build.ts';
import { type ChannelDocument, candidatesOf, liveIn } from '../model/channel.ts';
import type { Body } from '../requests.ts';
import { say } from '../sentences.ts';

/** Returns the problems of a proposed state; empty = none. `blind`: works without a browser. */
export type Gate = ((proposal: GateInput) => Promise<Finding[]>) & { blind?: boolean };

export interface GateInput {
  current: ChannelDocument;
  next: Composed;
  /** The set to judge: that of everybody, or one of the visitors of candidates. */
  judged: ComposedSet;
  /** Builds that the change adds. */
  changed: readonly string[];
}

export interface SwitchOptions extends ChangeOptions {
  gate: Gate;
  /** Overrides the gate. Needs `why`; the audit records the problems. */
  force?: boolean;
  /** Reason to switch during a freeze, recorded in the audit. */
  despiteFreeze?: string;
  /** Reasons for the change, recorded in the audit. */
  evidence?: readonly Evidence[];
}

/** Options of a switch that a person sets. */
export type SwitchRequest = Omit<SwitchOptions, 'gate' | 'evidence'>;

/** Runs the gate. Returns the evidence of a forced switch. Throws refused with every problem. */
async function passGate(options: SwitchOptions, proposal: GateInput): Promise<Evidence[]> {
  const findings = await options.gate(proposal);
  const unseenEvidence: Evidence[] = options.gate.blind ? [{ kind: 'unseen' }] : [];
  const forced = acceptFindings(findings, options, say('gateRefused'), say('gateCure'));
  return [...unseenEvidence, ...forced];
}

/** Makes the replaced builds the fallbacks of failing pages. */
export function lastGoodAfter(current: ChannelDocument, changed: readonly string[]): Record<string, string> {
  const names = new Set(changed.map(nameOf));
  const replacedBuilds = liveIn(current).filter((id) => names.has(nameOf(id)));
  return { ...current.lastGood, ...Object.fromEntries(replacedBuilds.map((id) => [nameOf(id), id])) };
}

/** Returns new problems of a state's candidates: rules for the set of each, the gate for all of them together. */
async function judgeCandidates(
  writer: Writer,
  current: ChannelDocument,
  next: Composed,
  gate: Gate | null,
): Promise<Finding[]> {
  const misfits = (await newMisfits(writer, current, next)).candidates;
  const judged = next.together ?? next.candidates[0];
  if (misfits.length > 0 || !judged || !gate) return misfits;
  const changed = next.candidates.flatMap(({ planned }) => planned.builds);
  const findings = await gate({ current, next, judged, changed });
  if (findings.length === 0) return [];
  const before = await compose(writer, current, replan(current, {}));
  const running = before.together ?? before.candidates[0];
  const findingsBefore = running
    ? (await gate({ current, next: before, judged: running, changed })).map(findingLine)
    : [];
  return findings.filter((finding) => !findingsBefore.includes(findingLine(finding)));
}

/** Drops candidates that fail over the new stable set, so that they never block another team. Without a gate, only rules apply. */
export async function dropFailingCandidates(
  writer: Writer,
  current: ChannelDocument,
  plan: Plan,
  gate: Gate | null,
): Promise<{ next: Composed; evidence: Evidence[] }> {
  const whole = await compose(writer, current, plan);
  if ((await judgeCandidates(writer, current, whole, gate)).length === 0) return { next: whole, evidence: [] };
  const evidence: Evidence[] = [];
  let composed = await compose(writer, current, { ...plan, candidates: [] });
  // oldest first, so that of two incompatible candidates the older one stays
  for (const { planned } of whole.candidates) {
    const candidates = [...composed.candidates.map((each) => each.planned), planned];
    const next = await compose(writer, current, { ...plan, candidates });
    const findings = await judgeCandidates(writer, current, next, gate);
    if (findings.length === 0) composed = next;
    else evidence.push({ kind: 'candidateDropped', builds: [...planned.builds] }, ...findingsIn(findings, false));
  }
  return { next: composed, evidence };
}

/** Removes builds of the changed names from candidates: `promote` would undo the change. A candidate without builds ends. */
function withoutOvertaken(current: ChannelDocument, changed: readonly string[]) {
  const names = new Set(changed.map(nameOf));
  const candidates = candidatesOf(current);
  const overtakenBuilds = candidates
    .flatMap(({ builds }) => builds)
    .filter((id) => names.has(nameOf(id)) && !changed.includes(id));
  return {
    candidates: candidates
      .map((candidate) => ({ ...candidate, builds: candidate.builds.filter((id) => !names.has(nameOf(id))) }))
      .filter(({ builds }) => builds.length > 0),
    evidence: overtakenBuilds.map((build): Evidence => ({ kind: 'overtaken', build })),
  };
}

interface NewStable {
  stable: readonly string[];
  /** Builds that the switch adds. */
  changed: readonly string[];
  /** Problems in addition to the gate's. */
  findings?: readonly Finding[];
}

/** Decides on a new stable set, all but the action: freeze, remaining candidates and gate. Throws refused. */
export async function switchStable(
  writer: Writer,
  current: ChannelDocument,
  { stable, changed, findings = [] }: NewStable,
  options: SwitchOptions,
): Promise<Omit<Decision, 'action'>> {
  const freezeEvidence = await passFreeze(writer, options.despiteFreeze);
  const remaining = withoutOvertaken(current, changed);
  const plan = replan(current, { stable, lastGood: lastGoodAfter(current, changed), candidates: remaining.candidates });
  const { next, evidence } = await dropFailingCandidates(writer, current, plan, options.gate);
  const judge = async (proposal: GateInput) => [...findings, ...(await options.gate(proposal))];
  const gate: Gate = Object.assign(judge, { blind: options.gate.blind });
  const gateEvidence = await passGate({ ...options, gate }, { current, next, judged: next.stable, changed });
  return {
    composed: next,
    force: options.force,
    why: options.why,
    evidence: [...(options.evidence ?? []), ...freezeEvidence, ...gateEvidence, ...remaining.evidence, ...evidence],
    forward: true,
  };
}

/** Passes the gate, then switches all builds in one atomic step. No new state if all of them are live. */
export function activate(writer: Writer, builds: readonly string[], options: SwitchOptions): Promise<Change> {
  const decide = async (current: ChannelDocument): Promise<Decision | null> => {
    const live = liveIn(current);
    const changed = builds.filter((id) => !live.includes(id));
    if (changed.length === 0) return null;
    const decision = await switchStable(writer, current, { stable: mergeBuilds(live, changed), changed }, options);
    return { ...decision, action: { kind: 'activate', builds: changed } };
  };
  return changeChannel(writer, decide, options.seq);
}

const formatCandidates = (candidates: readonly PlannedCandidate[]): string =>
  candidates.map(({ builds }) => builds.join(' ')).join(', ');

/** Returns the candidate with a build of this name, or the only candidate. Throws refused. */
export async function requireCandidate({ store }: Pick<Writer, 'store'>, current: ChannelDocument, name?: string) {
  const candidates = candidatesOf(current);
  const matching = name ? candidates.filter(({ builds }) => builds.some((id) => nameOf(id) === name)) : candidates;
  const [candidate] = matching;
  if (candidate && matching.length === 1) return candidate;
  if (candidate)
    throw refused(
      say('manyCandidates', { channel: current.channel, names: formatCandidates(matching) }),
      say('manyCandidatesCure'),
    );
  await assertRemote(store, name);
  const { channel } = current;
  throw refused(
    name ? say('noCandidateOf', { channel, name }) : say('noCandidate', { channel }),
    say('noCandidateCure'),
  );
}

/**
 * Delivers builds to a share of visitors. Replaces candidates with a build of the same name; those of other remotes continue.
 * Changing only the percentage keeps visitors who stay within it. Other builds draw the visitors again.
 */
export async function canary(
  writer: Writer,
  builds: readonly string[],
  percent: number,
  { name, ...options }: SwitchOptions & { name?: string },
): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const live = liveIn(current);
      const canaryBuilds =
        builds.length > 0
          ? builds.filter((id) => !live.includes(id))
          : (await requireCandidate(writer, current, name)).builds;
      if (canaryBuilds.length === 0) throw refused(say('liveAlready'), say('liveAlreadyCure'));
      const names = new Set(canaryBuilds.map(nameOf));
      const candidates = candidatesOf(current);
      const formerCandidate = candidates.find((candidate) => sameBuilds(candidate.builds, canaryBuilds));
      if (formerCandidate?.percent === percent) return null;
      const freezeEvidence =
        formerCandidate && percent < formerCandidate.percent ? [] : await passFreeze(writer, options.despiteFreeze);
      const others = candidates.filter((candidate) => !candidate.builds.some((id) => names.has(nameOf(id))));
      const newCandidate = { builds: canaryBuilds, percent, salt: randomBytes(12).toString('base64url') };
      const plannedCandidates = formerCandidate
        ? candidates.map((candidate) => (candidate === formerCandidate ? { ...formerCandidate, percent } : candidate))
        : [...others, newCandidate];
      const next = await compose(writer, current, replan(current, { candidates: plannedCandidates }));
      const evidence: Evidence[] = [];
      // a new candidate alone, and together with the others
      for (const judged of formerCandidate ? [] : [next.candidates.at(-1), next.together])
        if (judged) evidence.push(...(await passGate(options, { current, next, judged, changed: canaryBuilds })));
      const endedCandidates = formerCandidate ? [] : candidates.filter((candidate) => !others.includes(candidate));
      return {
        composed: next,
        action: { kind: 'canary', builds: canaryBuilds, percent },
        force: options.force,
        why: options.why,
        evidence: [
          ...(options.evidence ?? []),
          ...freezeEvidence,
          ...evidence,
          ...endedCandidates.map((candidate): Evidence => ({ kind: 'candidateEnded', builds: [...candidate.builds] })),
        ],
        forward: !formerCandidate || percent > formerCandidate.percent,
      };
    },
    options.seq,
  );
}

/** Makes a candidate live for everyone, over the present stable set. Other candidates continue. */
export function promote(writer: Writer, { name, ...options }: SwitchOptions & { name?: string }): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const { builds } = await requireCandidate(writer, current, name);
      const stable = mergeBuilds(liveIn(current), builds);
      const decision = await switchStable(writer, current, { stable, changed: builds }, options);
      return { ...decision, action: { kind: 'promote', builds } };
    },
    options.seq,
  );
}

/** Sends the visitors of the candidate of `name`, or of all of them, back to stable. */
export function abort(
  writer: Writer,
  { name, why, seq, evidence }: Body<'abort'> & Pick<SwitchOptions, 'evidence'>,
): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const candidates = candidatesOf(current);
      const endedCandidates =
        name || candidates.length === 0 ? [await requireCandidate(writer, current, name)] : candidates;
      const remaining = candidates.filter((candidate) => !endedCandidates.includes(candidate));
      const next = await compose(writer, current, replan(current, { candidates: remaining }));
      return {
        composed: next,
        action: { kind: 'abort', builds: endedCandidates.flatMap(({ builds }) => builds) },
        why,
        evidence,
      };
    },
    seq,
    { name },
  );
}
