import { assertRemote } from '../builds/catalog.ts';
import { assertStored } from '../builds/files.ts';
import { type Change, changeChannel } from '../channel/changeChannel.ts';
import { compose, newMisfits, replan } from '../channel/composeSet.ts';
import { currentDocument, readState } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { findingLine } from '../english.ts';
import { nullIfRefused, refused } from '../errors.ts';
import type { Misfit } from '../gate/fit.ts';
import { type Evidence, findingsIn } from '../model/action.ts';
import { HOST_NAME, mergeBuilds, nameOf } from '../model/build.ts';
import { type Candidate, type ChannelDocument, candidatesOf, liveIn, stateOf } from '../model/channel.ts';
import type { Body } from '../requests.ts';
import { say } from '../sentences.ts';
import { dropFailingCandidates } from './switching.ts';

/**
 * Yields former states with other live builds, none of them killed, newest first. Follows an earlier rollback to its target, so that
 * rolling back twice goes two steps back instead of returning to the state just left.
 */
async function* statesBefore(writer: Writer, current: ChannelDocument, name?: string): AsyncGenerator<ChannelDocument> {
  const live = liveIn(current, name).join();
  let state = current;
  while (state.seq > 1) {
    const { verb, to, names = [] } = state.action;
    const isOfName = name === undefined || names.length === 0 || names.includes(name);
    const seq = verb === 'rollback' && isOfName && to !== undefined && to < state.seq ? to : state.seq - 1;
    state = await readState(writer, current, seq);
    const builds = liveIn(state, name);
    if (builds.length > 0 && builds.join() !== live && !builds.some((id) => current.killed.includes(id))) yield state;
  }
}

/** Returns the misfits of a set that would replace the live one. Ignores unreadable builds, which the switch itself refuses. */
async function misfitsOfStable(writer: Writer, current: ChannelDocument, stable: readonly string[]): Promise<Misfit[]> {
  const judge = async () =>
    newMisfits(writer, current, await compose(writer, current, replan(current, { stable, candidates: [] })));
  return (await judge().catch(nullIfRefused))?.stable ?? [];
}

/** A former state that does not fit what is live now. */
interface SkippedState {
  state: ChannelDocument;
  misfits: Misfit[];
}

/** Finds the newest former state that fits what else is live, and the states skipped before it. */
async function findStateBefore(writer: Writer, current: ChannelDocument, name?: string, force = false) {
  const skippedStates = new Map<string, SkippedState>();
  for await (const state of statesBefore(writer, current, name)) {
    const builds = liveIn(state, name);
    if (skippedStates.has(builds.join())) continue;
    const stable = name ? mergeBuilds(liveIn(current), builds) : builds;
    const misfits = force ? [] : await misfitsOfStable(writer, current, stable);
    if (misfits.length === 0) return { state, skippedStates: [...skippedStates.values()] };
    skippedStates.set(builds.join(), { state, misfits });
  }
  return { state: null, skippedStates: [...skippedStates.values()] };
}

const linesOf = (misfits: readonly Misfit[]): string[] => [...new Set(misfits.map(findingLine))];

async function findFittingState(writer: Writer, current: ChannelDocument, skippedStates: readonly SkippedState[]) {
  for (const { state } of skippedStates) {
    const builds = liveIn(state);
    const hasKilledBuild = builds.some((id) => current.killed.includes(id));
    if (!hasKilledBuild && (await misfitsOfStable(writer, current, builds)).length === 0) return state;
  }
  return null;
}

/** Returns the refusal of a rollback that does not fit, which names a state that fits as a whole, if any. */
async function unfitRefusal(
  writer: Writer,
  current: ChannelDocument,
  name: string | undefined,
  skippedStates: SkippedState[],
) {
  const force = 'To go back against these findings: --force with --why.';
  const fittingState = name ? await findFittingState(writer, current, skippedStates) : null;
  const cure = () => {
    if (!name) return say('anotherStateCure');
    if (!fittingState) return 'Activate a published build that fits; `check` says which do.';
    const backBuilds = liveIn(fittingState).filter((id) => !liveIn(current).includes(id));
    return `\`rollback --to ${fittingState.seq}\` goes back with all that belongs together: ${backBuilds.join(', ')}.`;
  };
  const [first] = skippedStates;
  const builds = first ? liveIn(first.state, name) : [];
  return refused(
    name ? say('buildsUnfit', { builds: builds.join(', ') }) : say('stateUnfit', { seq: first?.state.seq ?? 0 }),
    `${cure()} ${force}`,
    linesOf(first?.misfits ?? []),
    { kind: 'unfit', builds, to: fittingState?.seq ?? null },
  );
}

/** Returns the default target of a rollback. Throws refused if no former state fits. */
export async function stateBefore(
  writer: Writer,
  current: ChannelDocument,
  { name, force }: Pick<Body<'rollback'>, 'name' | 'force'> = {},
) {
  const { state, skippedStates } = await findStateBefore(writer, current, name, force);
  if (state) return { state, skippedStates };
  if (skippedStates.length > 0) throw await unfitRefusal(writer, current, name, skippedStates);
  await assertRemote(writer.store, name);
  const isOnly = name !== undefined && name !== HOST_NAME && liveIn(current, name).length > 0;
  throw refused(
    name ? say('nothingBeforeFor', { name }) : say('nothingBefore'),
    isOnly ? say('nothingBeforeForCure', { name }) : say('nothingBeforeCure'),
  );
}

function restoredLastGood(current: ChannelDocument, target: ChannelDocument, name?: string): Record<string, string> {
  if (!name) return target.lastGood;
  const formerBuild = target.lastGood[name];
  const { [name]: _left, ...others } = current.lastGood;
  return formerBuild ? { ...others, [name]: formerBuild } : others;
}

/**
 * Makes former builds live again, as a new state: of `name` or all, of state `to` or the newest that differs. Checks the rules of the
 * set and the stored files, without a browser. Throws refused if the builds do not fit what else is live.
 */
export function rollback(writer: Writer, { name, to, why, seq, force }: Body<'rollback'>): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const { state: target, skippedStates } =
        to === undefined
          ? await stateBefore(writer, current, { name, force })
          : { state: await readState(writer, current, to), skippedStates: [] };
      const builds = liveIn(target, name);
      if (builds.length === 0) {
        await assertRemote(writer.store, name);
        throw refused(
          name ? say('notLiveIn', { name, seq: target.seq }) : say('nothingLiveIn', { seq: target.seq }),
          say('notLiveInCure'),
        );
      }
      const killed = builds.filter((id) => current.killed.includes(id));
      const inState = { seq: target.seq, builds: killed.join(', ') };
      if (killed.length > 0)
        throw refused(say('killedInState', inState), say('anotherStateCure'), [], { kind: 'killed', builds: killed });
      const stable = name ? mergeBuilds(liveIn(current), builds) : builds;
      if (stable.join() === current.stable?.builds.join()) return null;
      await assertStored(writer, builds);
      const { candidates, ends } = candidatesAfter(current, builds);
      const restoredBuilds = builds.filter((id) => !liveIn(current).includes(id));
      const skippedEvidence = skippedStates.flatMap(({ state, misfits }): Evidence[] => [
        { kind: 'passedOver', builds: liveIn(state, name) },
        ...findingsIn(misfits, false),
      ]);
      const removalEvidence = liveIn(current)
        .filter((id) => !stable.some((other) => nameOf(other) === nameOf(id)))
        .map((build): Evidence => ({ kind: 'replaced', build, by: null }));
      const plan = replan(current, { stable, lastGood: restoredLastGood(current, target, name), candidates });
      const { next, evidence } = await dropFailingCandidates(writer, current, plan, null);
      const misfits = (await newMisfits(writer, current, next)).stable;
      if (misfits.length > 0 && !force) throw await unfitRefusal(writer, current, name, [{ state: target, misfits }]);
      return {
        composed: next,
        action: {
          kind: 'rollback',
          builds: restoredBuilds.length > 0 ? restoredBuilds : builds,
          to: target.seq,
          names: name ? [name] : [],
        },
        force,
        why,
        evidence: [...skippedEvidence, ...removalEvidence, ...ends, ...evidence],
      };
    },
    seq,
    { name },
  );
}

/** Returns the candidates without such a build, and evidence for the log about the others, which end. */
function candidatesWithout(current: ChannelDocument, isGone: (id: string) => boolean) {
  const candidates = candidatesOf(current);
  const isEnding = ({ builds }: Candidate) => builds.some(isGone);
  return {
    candidates: candidates.filter((candidate) => !isEnding(candidate)),
    ends: candidates.filter(isEnding).map(({ builds }): Evidence => ({ kind: 'candidateEnded', builds: [...builds] })),
  };
}

/** A rollback of a name also ends candidates with that name, because it was just declared broken. */
const candidatesAfter = (current: ChannelDocument, builds: readonly string[]) =>
  candidatesWithout(current, (id) => builds.map(nameOf).includes(nameOf(id)));

/** Finds the replacement of a killed build: the last good one if it fits, else the target of a rollback of the name. */
async function findReplacement(writer: Writer, current: ChannelDocument, build: string, force = false) {
  const name = nameOf(build);
  const stateWithout = { ...current, killed: [...current.killed, build] };
  const lastGood = current.lastGood[name];
  if (lastGood && !stateWithout.killed.includes(lastGood)) {
    const stable = mergeBuilds(liveIn(current), [lastGood]);
    if (force || (await misfitsOfStable(writer, stateWithout, stable)).length === 0)
      return { instead: lastGood, skippedStates: [] };
  }
  const { state, skippedStates } = await findStateBefore(writer, stateWithout, name, force);
  return { instead: state ? (liveIn(state, name)[0] ?? null) : null, skippedStates };
}

/** Effects of killing a build, in addition to its ban. */
export interface KillEffect {
  build: string;
  name: string;
  live: boolean;
  /** Replacement of the build; null if it is not live or nothing fits. */
  instead: string | null;
  /** Why former builds cannot replace it. */
  unfit: string[];
  /** Number of a former state that fits as a whole, if no single build does. */
  whole: number | null;
  endsCandidate: boolean;
  /** Routes and slots of the build. */
  shown: string[];
  /** Routes and slots that would be empty for everyone. */
  lost: string[];
}

async function effectOn(writer: Writer, current: ChannelDocument, build: string, force?: boolean): Promise<KillEffect> {
  const { description } = await writer.catalog.record(build);
  const live = current.stable?.builds.includes(build) ?? false;
  const { instead, skippedStates } = live
    ? await findReplacement(writer, current, build, force)
    : { instead: null, skippedStates: [] };
  const { routes, slots } = description.kind === 'host' ? { routes: [], slots: [] } : description;
  const shown = [...routes.map(({ path }) => path), ...slots.map(({ name }) => say('slotNamed', { slotName: name }))];
  return {
    build,
    name: nameOf(build),
    live,
    instead,
    unfit: skippedStates.flatMap(({ misfits }) => linesOf(misfits)),
    whole: instead ? null : ((await findFittingState(writer, current, skippedStates))?.seq ?? null),
    endsCandidate: candidatesOf(current).some(({ builds }) => builds.includes(build)),
    shown,
    lost: live && instead === null ? shown : [],
  };
}

/** Returns what `kill` would do, without changing anything. Throws refused if there is no such build. */
export const effectOfKill = async (writer: Writer, build: string): Promise<KillEffect> =>
  effectOn(writer, await currentDocument(writer), build);

function assertConfirmed({ build, name, live, instead, lost, unfit, whole }: KillEffect, confirm?: string): void {
  const orWhole = (cure: string) => (whole === null ? cure : say('wholeCure', { seq: whole, cure }));
  if (!live || instead !== null) {
    if (confirm === undefined || confirm === name) return;
    throw refused(say('mistyped', { build }), say('mistypedCure', { name }));
  }
  if (name === HOST_NAME) throw refused(say('onlyHost', { build }), orWhole(say('onlyHostCure')), unfit);
  if (confirm === name) return;
  throw refused(say('onlyBuild', { build, name }), orWhole(say('onlyBuildCure', { name })), [...lost, ...unfit]);
}

/**
 * Bans a build for good. A live build is replaced by a former one that fits, candidates with it end, and open pages leave it. Throws
 * refused for the only build of a name unless `confirm` repeats the name.
 */
export function kill(
  writer: Writer,
  build: string,
  { why, seq, confirm, force }: Omit<Body<'kill'>, 'build'> = {},
): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      if (current.killed.includes(build)) return null;
      const effect = await effectOn(writer, current, build, force);
      assertConfirmed(effect, confirm);
      const killed = [...current.killed, build];
      const action = { kind: 'kill' as const, builds: [build] };
      if (!current.stable) return { state: { ...stateOf(current), killed }, action, why };
      const others = liveIn(current).filter((id) => id !== build);
      if (effect.instead) await assertStored(writer, [effect.instead]);
      const stable = effect.instead ? mergeBuilds(others, [effect.instead]) : others;
      const { candidates, ends } = candidatesWithout(current, (id) => id === build);
      const plan = replan(current, { stable, killed, candidates });
      const { next, evidence } = await dropFailingCandidates(writer, current, plan, null);
      const replaced: Evidence[] = effect.live ? [{ kind: 'replaced', build, by: effect.instead }] : [];
      return { composed: next, action, force, why, evidence: [...replaced, ...ends, ...evidence] };
    },
    seq,
    { name: nameOf(build) },
  );
}

/** Removes a remote from the set; `rollback` or `activate` restores it. Throws refused unless `confirm` repeats the name. */
export function withdraw(
  writer: Writer,
  name: string,
  { why, seq, confirm }: Omit<Body<'withdraw'>, 'name'> = {},
): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const [build] = liveIn(current, name);
      if (!build) {
        await assertRemote(writer.store, name);
        throw refused(say('notLive', { name }), say('notLiveCure'));
      }
      if (name === HOST_NAME) throw refused(say('hostStays'), say('hostStaysCure'));
      if (confirm !== name) {
        const { instead, shown } = await effectOn(writer, current, build);
        throw refused(
          say('withdraws', { name }),
          instead ? say('insteadCure', { name, build: instead }) : say('withdrawsCure', { name }),
          shown,
        );
      }
      const stable = liveIn(current).filter((id) => id !== build);
      const { candidates, ends } = candidatesAfter(current, [build]);
      const next = await compose(writer, current, replan(current, { stable, candidates }));
      return { composed: next, action: { kind: 'withdraw', builds: [build] }, why, evidence: ends };
    },
    seq,
    { name },
  );
}
