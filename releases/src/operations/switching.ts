import { randomBytes } from 'node:crypto';
import { type Change, changeChannel, type Decision, type Writer } from '../channel/changeChannel.ts';
import { type Composed, compose, type Plan, replan, storeSets } from '../channel/compose.ts';
import { findingLine } from '../english.ts';
import { refused, usage } from '../errors.ts';
import type { Evidence, Finding } from '../model/action.ts';
import type { ChannelDocument } from '../model/channel.ts';
import { mergeBuilds, nameOf } from '../model/ids.ts';

/** Says what speaks against a state that is about to go live: empty = nothing. */
export type Gate = (proposal: Proposal) => Promise<Finding[]>;

export interface Proposal {
  current: ChannelDocument;
  next: Composed;
  /** The set to be judged: what visitors of the change will run. */
  part: 'stable' | 'candidate';
  /** Builds that this change brings in. */
  changed: readonly string[];
}

export interface SwitchOptions {
  gate: Gate;
  why?: string;
  /** The state the caller saw; another writer's change since then is a conflict. */
  seq?: number;
  /** Goes on against the gate's word; needs `why`, and the problems go into the audit. */
  force?: boolean;
}

/** Runs the gate. Returns the evidence of a forced switch. Throws refused with every problem. */
async function passGate(options: SwitchOptions, proposal: Proposal): Promise<Evidence[]> {
  const findings = await options.gate(proposal);
  if (findings.length === 0) return [];
  const problems = findings.map(findingLine);
  const cure = 'Mend and publish again. To switch against these findings, use --force with --why.';
  if (!options.force) throw refused('the gate refused this set', cure, problems);
  if (!options.why)
    throw refused('--force needs --why', 'Say why the findings do not matter; the audit keeps it.', problems);
  return findings.map((finding) => ({ kind: 'finding', ...finding, forced: true }));
}

/** The former builds of the names that change become what a failing page falls back to. */
export function lastGoodAfter(current: ChannelDocument, changed: readonly string[]): Record<string, string> {
  const names = new Set(changed.map(nameOf));
  const replaced = (current.stable?.builds ?? []).filter((id) => names.has(nameOf(id)));
  return { ...current.lastGood, ...Object.fromEntries(replaced.map((id) => [nameOf(id), id])) };
}

/** A candidate that no longer passes over the new stable is dropped, never the other team's change. */
async function keepCandidate(
  writer: Writer,
  current: ChannelDocument,
  plan: Plan,
  gate: Gate,
): Promise<{ next: Composed; evidence: Evidence[] }> {
  const next = await compose(writer, current, plan);
  if (!next.candidate || !plan.candidate) return { next, evidence: [] };
  const builds = plan.candidate.builds;
  const findings = await gate({ current, next, part: 'candidate', changed: builds });
  if (findings.length === 0) return { next, evidence: [] };
  const against = findings.map((finding): Evidence => ({ kind: 'finding', ...finding, forced: false }));
  return {
    next: await compose(writer, current, { ...plan, candidate: null }),
    evidence: [{ kind: 'candidateDropped', builds: [...builds] }, ...against],
  };
}

/** A candidate's build that is activated over would come back with `promote`: it leaves the candidate, which ends with its last one. */
function candidateBeside(current: ChannelDocument, changed: readonly string[]) {
  const { candidate } = current;
  const names = new Set(changed.map(nameOf));
  const builds = candidate?.builds.filter((id) => !names.has(nameOf(id))) ?? [];
  const overtaken = candidate?.builds.filter((id) => names.has(nameOf(id)) && !changed.includes(id)) ?? [];
  return {
    candidate: candidate && builds.length > 0 ? { ...candidate, builds } : null,
    evidence: overtaken.map((build): Evidence => ({ kind: 'overtaken', build })),
  };
}

/** Gate, then one atomic switch of all named builds. Nothing new = no new state. */
export function activate(writer: Writer, builds: readonly string[], options: SwitchOptions): Promise<Change> {
  const decide = async (current: ChannelDocument): Promise<Decision | null> => {
    const live = current.stable?.builds ?? [];
    const changed = builds.filter((id) => !live.includes(id));
    if (changed.length === 0) return null;
    const rest = candidateBeside(current, changed);
    const parts = { stable: mergeBuilds(live, changed), lastGood: lastGoodAfter(current, changed) };
    const plan = replan(current, { ...parts, candidate: rest.candidate });
    const { next, evidence } = await keepCandidate(writer, current, plan, options.gate);
    const forced = await passGate(options, { current, next, part: 'stable', changed });
    return {
      prepare: () => storeSets(writer, next),
      state: next.state,
      action: { kind: 'activate', builds: changed },
      why: options.why,
      evidence: [...forced, ...rest.evidence, ...evidence],
    };
  };
  return changeChannel(writer, decide, options.seq);
}

const sameBuilds = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join() === [...b].sort().join();

function requireCandidate(current: ChannelDocument) {
  if (current.candidate) return current.candidate;
  throw refused(`${current.channel} has no candidate`, 'Start one with `canary <build…> --percent P`.');
}

/**
 * Runs builds for a share of visitors, in place of a former candidate. Changing only the percentage keeps everyone who stays
 * within it; other builds draw the visitors anew.
 */
export async function canary(
  writer: Writer,
  builds: readonly string[],
  percent: number,
  options: SwitchOptions,
): Promise<Change> {
  if (!(percent >= 0 && percent <= 100))
    throw usage(`${percent} is not a percentage`, 'Use a number from 0 to 100, e.g. --percent 5.');
  return changeChannel(
    writer,
    async (current) => {
      const live = current.stable?.builds ?? [];
      const over = builds.length > 0 ? builds.filter((id) => !live.includes(id)) : requireCandidate(current).builds;
      if (over.length === 0) throw refused('these builds are live for everyone already', 'See `status`.');
      const former = current.candidate;
      const ramp = former !== null && sameBuilds(former.builds, over);
      if (ramp && former.percent === percent) return null;
      const salt = ramp ? former.salt : randomBytes(12).toString('base64url');
      const next = await compose(writer, current, replan(current, { candidate: { builds: over, percent, salt } }));
      const evidence = ramp ? [] : await passGate(options, { current, next, part: 'candidate', changed: over });
      return {
        prepare: () => storeSets(writer, next),
        state: next.state,
        action: { kind: 'canary', builds: over, percent },
        why: options.why,
        evidence,
      };
    },
    options.seq,
  );
}

/** Makes the candidate live for everyone, over whatever became stable in the meantime. */
export function promote(writer: Writer, options: SwitchOptions): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const { builds } = requireCandidate(current);
      const stable = mergeBuilds(current.stable?.builds ?? [], builds);
      const next = await compose(
        writer,
        current,
        replan(current, { stable, lastGood: lastGoodAfter(current, builds), candidate: null }),
      );
      const evidence = await passGate(options, { current, next, part: 'stable', changed: builds });
      return {
        prepare: () => storeSets(writer, next),
        state: next.state,
        action: { kind: 'promote', builds },
        why: options.why,
        evidence,
      };
    },
    options.seq,
  );
}

export interface AbortOptions {
  why?: string;
  seq?: number;
  /** Figures that speak for it, kept in the audit. */
  evidence?: Evidence[];
}

/** Sends the candidate's visitors back to stable. */
export function abort(writer: Writer, { why, seq, evidence }: AbortOptions): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const { builds } = requireCandidate(current);
      const next = await compose(writer, current, replan(current, { candidate: null }));
      return {
        prepare: () => storeSets(writer, next),
        state: next.state,
        action: { kind: 'abort', builds },
        why,
        evidence,
      };
    },
    seq,
  );
}
