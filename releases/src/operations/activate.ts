import { putOver } from '../channel/catalog.ts';
import { type Change, changeChannel, type Decision, type Writer } from '../channel/changeChannel.ts';
import { type Composed, compose, type Plan, replan, storeSets } from '../channel/compose.ts';
import { refused } from '../errors.ts';
import type { ChannelDocument } from '../model/channel.ts';
import { nameOf } from '../model/ids.ts';

/** Says what speaks against a state that is about to go live: one line per problem, empty = nothing. */
export type Gate = (proposal: Proposal) => Promise<string[]>;

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
export async function passGate(options: SwitchOptions, proposal: Proposal): Promise<string[]> {
  const problems = await options.gate(proposal);
  if (problems.length === 0) return [];
  const cure = 'Mend and publish again. To switch against these findings, use --force with --why.';
  if (!options.force) throw refused('the gate refused this set', cure, problems);
  if (!options.why)
    throw refused('--force needs --why', 'Say why the findings do not matter; the audit keeps it.', problems);
  return problems.map((problem) => `forced: ${problem}`.slice(0, 500)).slice(0, 50);
}

/** The former builds of the names that change become what a failing page falls back to. */
export function lastGoodAfter(current: ChannelDocument, changed: readonly string[]): Record<string, string> {
  const names = new Set(changed.map(nameOf));
  const replaced = (current.stable?.builds ?? []).filter((id) => names.has(nameOf(id)));
  return { ...current.lastGood, ...Object.fromEntries(replaced.map((id) => [nameOf(id), id])) };
}

/** A candidate that no longer passes over the new stable is dropped, never the other team's change. */
export async function keepCandidate(writer: Writer, current: ChannelDocument, plan: Plan, gate: Gate) {
  const next = await compose(writer, current, plan);
  if (!next.candidate || !plan.candidate) return { next, evidence: [] };
  const builds = plan.candidate.builds;
  const problems = await gate({ current, next, part: 'candidate', changed: builds });
  if (problems.length === 0) return { next, evidence: [] };
  const evidence = [`candidate ${builds.join(' ')} dropped: it does not fit the new stable`, ...problems].slice(0, 50);
  return { next: await compose(writer, current, { ...plan, candidate: null }), evidence };
}

/** A build on trial that is activated over would come back with `promote`: it leaves the trial, which ends with its last one. */
function trialBeside(current: ChannelDocument, changed: readonly string[]) {
  const { candidate } = current;
  const names = new Set(changed.map(nameOf));
  const builds = candidate?.builds.filter((id) => !names.has(nameOf(id))) ?? [];
  const overtaken = candidate?.builds.filter((id) => names.has(nameOf(id)) && !changed.includes(id)) ?? [];
  return {
    candidate: candidate && builds.length > 0 ? { ...candidate, builds } : null,
    evidence: overtaken.map((id) => `${id} left the trial: another build of ${nameOf(id)} is live for everyone now`),
  };
}

/** Gate, then one atomic switch of all named builds. Nothing new = no new state. */
export function activate(writer: Writer, builds: readonly string[], options: SwitchOptions): Promise<Change> {
  const decide = async (current: ChannelDocument): Promise<Decision | null> => {
    const live = current.stable?.builds ?? [];
    const changed = builds.filter((id) => !live.includes(id));
    if (changed.length === 0) return null;
    const trial = trialBeside(current, changed);
    const parts = { stable: putOver(live, changed), lastGood: lastGoodAfter(current, changed) };
    const plan = replan(current, { ...parts, candidate: trial.candidate });
    const { next, evidence } = await keepCandidate(writer, current, plan, options.gate);
    const forced = await passGate(options, { current, next, part: 'stable', changed });
    const all = [...forced, ...trial.evidence, ...evidence].slice(0, 50);
    return {
      prepare: () => storeSets(writer, next),
      state: next.state,
      action: {
        verb: 'activate',
        what: changed.join(' '),
        why: options.why ?? '',
        ...(all.length > 0 ? { evidence: all } : {}),
      },
    };
  };
  return changeChannel(writer, decide, options.seq);
}
