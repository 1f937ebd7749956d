import { assertStored } from '../builds/storedFiles.ts';
import { type Change, changeChannel } from '../channel/changeChannel.ts';
import { compose, newMisfits, replan } from '../channel/composeSet.ts';
import { currentDocument, liveIn, readState } from '../channel/readChannel.ts';
import type { ChangeOptions, Writer } from '../channel/writer.ts';
import { findingLine } from '../english.ts';
import { ReleaseError, refused } from '../errors.ts';
import type { Misfit } from '../gate/fit.ts';
import type { Evidence } from '../model/action.ts';
import { HOST_NAME, mergeBuilds, nameOf } from '../model/build.ts';
import { type Candidate, type ChannelDocument, candidatesOf, stateOf } from '../model/channel.ts';
import { say } from '../sentences.ts';
import { keepCandidates } from './switching.ts';

export interface RollbackOptions extends ChangeOptions {
  /** Name to roll back; default: the whole channel. */
  name?: string;
  /** Number of the target state; default: the newest one that differs. */
  to?: number;
  /** Rolls back even if the builds do not fit what else is live. Needs `why`. */
  force?: boolean;
}

const concerns = (state: ChannelDocument, name?: string): boolean => {
  const { verb, names = [] } = state.action;
  return verb === 'rollback' && (name === undefined || names.length === 0 || names.includes(name));
};

/**
 * Yields former states with other live builds, none of them killed, newest first. Follows an earlier rollback to its target, so that
 * rolling back twice goes two steps back instead of returning to the state just left.
 */
async function* statesBefore(writer: Writer, current: ChannelDocument, name?: string): AsyncGenerator<ChannelDocument> {
  const now = liveIn(current, name).join();
  let state = current;
  while (state.seq > 1) {
    const { to } = state.action;
    const seq = concerns(state, name) && to !== undefined && to < state.seq ? to : state.seq - 1;
    state = await readState(writer.store, current, seq, writer.key.publicKey);
    const builds = liveIn(state, name);
    if (builds.length > 0 && builds.join() !== now && !builds.some((id) => current.killed.includes(id))) yield state;
  }
}

/** Returns the misfits of a set that would replace the live one. Ignores unreadable builds, which the switch itself refuses. */
async function misfitsOfStable(writer: Writer, current: ChannelDocument, stable: readonly string[]): Promise<Misfit[]> {
  try {
    const next = await compose(writer, current, replan(current, { stable, candidates: [] }));
    return (await newMisfits(writer, current, next)).stable;
  } catch (cause) {
    if (cause instanceof ReleaseError && cause.kind === 'refused') return [];
    throw cause;
  }
}

/** A former state that does not fit what is live now. */
interface PassedOver {
  state: ChannelDocument;
  misfits: Misfit[];
}

/** Finds the newest former state that fits what else is live, and the states skipped before it. */
async function findStateBefore(writer: Writer, current: ChannelDocument, name?: string, force = false) {
  const passedOver = new Map<string, PassedOver>();
  for await (const state of statesBefore(writer, current, name)) {
    const builds = liveIn(state, name);
    if (passedOver.has(builds.join())) continue;
    const stable = name ? mergeBuilds(current.stable?.builds ?? [], builds) : builds;
    const misfits = force ? [] : await misfitsOfStable(writer, current, stable);
    if (misfits.length === 0) return { state, passedOver: [...passedOver.values()] };
    passedOver.set(builds.join(), { state, misfits });
  }
  return { state: null, passedOver: [...passedOver.values()] };
}

const linesOf = (misfits: readonly Misfit[]): string[] => [...new Set(misfits.map(findingLine))];

/** Returns the first of these states that fits as a whole, or null. */
async function fittingWhole(writer: Writer, current: ChannelDocument, passedOver: readonly PassedOver[]) {
  for (const { state } of passedOver) {
    const builds = liveIn(state);
    const isDead = builds.some((id) => current.killed.includes(id));
    if (!isDead && (await misfitsOfStable(writer, current, builds)).length === 0) return state;
  }
  return null;
}

/** Returns the refusal of a rollback that does not fit, which names a state that fits as a whole, if any. */
async function unfit(writer: Writer, current: ChannelDocument, name: string | undefined, passedOver: PassedOver[]) {
  const force = 'To go back against these findings: --force with --why.';
  const whole = name ? await fittingWhole(writer, current, passedOver) : null;
  const cure = () => {
    if (!name) return say('anotherStateCure');
    if (!whole) return 'Activate a published build that fits; `check` says which do.';
    const back = liveIn(whole).filter((id) => !liveIn(current).includes(id));
    return `\`rollback --to ${whole.seq}\` goes back with all that belongs together: ${back.join(', ')}.`;
  };
  const [first] = passedOver;
  const builds = first ? liveIn(first.state, name) : [];
  return refused(
    name ? say('buildsUnfit', { builds: builds.join(', ') }) : say('stateUnfit', { seq: first?.state.seq ?? 0 }),
    `${cure()} ${force}`,
    linesOf(first?.misfits ?? []),
    { kind: 'unfit', builds, to: whole?.seq ?? null },
  );
}

/** Returns the default target of a rollback. Throws refused if no former state fits. */
export async function stateBefore(
  writer: Writer,
  current: ChannelDocument,
  { name, force }: Pick<RollbackOptions, 'name' | 'force'> = {},
) {
  const { state, passedOver } = await findStateBefore(writer, current, name, force);
  if (state) return { state, passedOver };
  if (passedOver.length > 0) throw await unfit(writer, current, name, passedOver);
  const isOnly = name !== undefined && name !== HOST_NAME && liveIn(current, name).length > 0;
  throw refused(
    name ? say('nothingBeforeFor', { name }) : say('nothingBefore'),
    isOnly ? say('nothingBeforeForCure', { name }) : say('nothingBeforeCure'),
  );
}

function restoredLastGood(current: ChannelDocument, target: ChannelDocument, name?: string): Record<string, string> {
  if (!name) return target.lastGood;
  const former = target.lastGood[name];
  const { [name]: _left, ...others } = current.lastGood;
  return former ? { ...others, [name]: former } : others;
}

function assertAlive(current: ChannelDocument, builds: readonly string[], seq: number): void {
  const dead = builds.filter((id) => current.killed.includes(id));
  if (dead.length > 0)
    throw refused(say('killedInState', { seq, builds: dead.join(', ') }), say('anotherStateCure'), [], {
      kind: 'killed',
      builds: dead,
    });
}

/**
 * Makes former builds live again, as a new state. Checks the rules of the set and the stored files, without a browser. Throws refused if
 * the builds do not fit what else is live.
 */
export function rollback(writer: Writer, { name, to, why = '', seq, force }: RollbackOptions): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const { state: target, passedOver } =
        to === undefined
          ? await stateBefore(writer, current, { name, force })
          : { state: await readState(writer.store, current, to, writer.key.publicKey), passedOver: [] };
      const builds = liveIn(target, name);
      if (builds.length === 0)
        throw refused(
          name ? say('notLiveIn', { name, seq: target.seq }) : say('nothingLiveIn', { seq: target.seq }),
          say('notLiveInCure'),
        );
      assertAlive(current, builds, target.seq);
      const stable = name ? mergeBuilds(current.stable?.builds ?? [], builds) : builds;
      if (stable.join() === current.stable?.builds.join()) return null;
      await assertStored(writer, builds);
      const { candidates, ended } = candidatesAfter(current, builds);
      const back = builds.filter((id) => !liveIn(current).includes(id));
      const left = liveIn(current)
        .filter((id) => !stable.some((other) => nameOf(other) === nameOf(id)))
        .map((build): Evidence => ({ kind: 'replaced', build, by: null }));
      const plan = replan(current, { stable, lastGood: restoredLastGood(current, target, name), candidates });
      const { next, evidence } = await keepCandidates(writer, current, plan, null);
      const misfits = (await newMisfits(writer, current, next)).stable;
      if (misfits.length > 0 && !force) throw await unfit(writer, current, name, [{ state: target, misfits }]);
      return {
        composed: next,
        state: next.state,
        action: {
          kind: 'rollback',
          builds: back.length > 0 ? back : builds,
          to: target.seq,
          names: name ? [name] : [],
        },
        force,
        why,
        evidence: [...passedOverEvidence(passedOver, name), ...left, ...ended, ...evidence],
      };
    },
    seq,
    { name },
  );
}

const passedOverEvidence = (passedOver: readonly PassedOver[], name?: string): Evidence[] =>
  passedOver.flatMap(({ state, misfits }) => [
    { kind: 'passedOver', builds: liveIn(state, name) },
    ...misfits.map(({ check, problem }): Evidence => ({ kind: 'finding', check, problem, forced: false })),
  ]);

/** Returns the candidates without such a build, and evidence for the log about the others, which end. */
function candidatesWithout(current: ChannelDocument, isGone: (id: string) => boolean) {
  const candidates = candidatesOf(current);
  const ends = ({ builds }: Candidate) => builds.some(isGone);
  return {
    candidates: candidates.filter((candidate) => !ends(candidate)),
    ended: candidates.filter(ends).map(({ builds }): Evidence => ({ kind: 'candidateEnded', builds: [...builds] })),
  };
}

/** A rollback of a name also ends candidates with that name, because it was just declared broken. */
const candidatesAfter = (current: ChannelDocument, builds: readonly string[]) =>
  candidatesWithout(current, (id) => builds.map(nameOf).includes(nameOf(id)));

/** Finds the replacement of a killed build: the last good one if it fits, else the target of a rollback of the name. */
async function replacement(writer: Writer, current: ChannelDocument, build: string, force = false) {
  const name = nameOf(build);
  const without = { ...current, killed: [...current.killed, build] };
  const lastGood = current.lastGood[name];
  if (lastGood && !without.killed.includes(lastGood)) {
    const stable = mergeBuilds(liveIn(current), [lastGood]);
    if (force || (await misfitsOfStable(writer, without, stable)).length === 0)
      return { instead: lastGood, passedOver: [] };
  }
  const { state, passedOver } = await findStateBefore(writer, without, name, force);
  return { instead: state ? (liveIn(state, name)[0] ?? null) : null, passedOver };
}

/** Effects of killing a build, in addition to its ban. */
export interface KillEffect {
  build: string;
  name: string;
  /** The build is live for everyone. */
  live: boolean;
  /** Replacement of the build; null if it is not live or nothing fits. */
  instead: string | null;
  /** Why former builds cannot replace it. */
  unfit: string[];
  /** Number of a former state that fits as a whole, if no single build does. */
  whole: number | null;
  /** The candidate it belongs to ends. */
  endsCandidate: boolean;
  /** Routes and slots of the build. */
  shown: string[];
  /** Routes and slots that would be empty for everyone. */
  lost: string[];
}

async function effectOn(writer: Writer, current: ChannelDocument, build: string, force?: boolean): Promise<KillEffect> {
  const { description } = await writer.catalog.record(build);
  const live = current.stable?.builds.includes(build) ?? false;
  const { instead, passedOver } = live
    ? await replacement(writer, current, build, force)
    : { instead: null, passedOver: [] };
  const shown =
    description.kind === 'host'
      ? []
      : [
          ...description.routes.map(({ path }) => path),
          ...description.slots.map((slot) => say('slotNamed', { slotName: slot.name })),
        ];
  return {
    build,
    name: nameOf(build),
    live,
    instead,
    unfit: passedOver.flatMap(({ misfits }) => linesOf(misfits)),
    whole: instead ? null : ((await fittingWhole(writer, current, passedOver))?.seq ?? null),
    endsCandidate: candidatesOf(current).some(({ builds }) => builds.includes(build)),
    shown,
    lost: live && instead === null ? shown : [],
  };
}

/** Returns what `kill` would do, without changing anything. Throws refused if there is no such build. */
export async function effectOfKill(writer: Writer, build: string): Promise<KillEffect> {
  const document = await currentDocument(writer);
  return effectOn(writer, document, build);
}

export interface KillOptions extends ChangeOptions {
  /** The build's name. Required to remove the only build of a name. */
  confirm?: string;
  /** Accepts a replacement that does not fit. Needs `why`. */
  force?: boolean;
}

function assertMeant(effect: KillEffect, host: boolean, confirm?: string): void {
  const { build, name, live, instead, lost, unfit: problems, whole } = effect;
  const or = (cure: string) => (whole === null ? cure : say('wholeCure', { seq: whole, cure }));
  if (!live || instead !== null) {
    if (confirm === undefined || confirm === name) return;
    throw refused(say('mistyped', { build }), say('mistypedCure', { name }));
  }
  if (host) throw refused(say('onlyHost', { build }), or(say('onlyHostCure')), problems);
  if (confirm === name) return;
  throw refused(say('onlyBuild', { build, name }), or(say('onlyBuildCure', { name })), [...lost, ...problems]);
}

/**
 * Bans a build for good. A live build is replaced by a former one that fits, candidates with it end, and open pages leave it. Throws
 * refused for the only build of a name unless `confirm` repeats the name.
 */
export function kill(
  writer: Writer,
  build: string,
  { why = '', seq, confirm, force }: KillOptions = {},
): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      if (current.killed.includes(build)) return null;
      const effect = await effectOn(writer, current, build, force);
      assertMeant(effect, (await writer.catalog.record(build)).description.kind === 'host', confirm);
      const killed = [...current.killed, build];
      const action = { kind: 'kill' as const, builds: [build] };
      if (!current.stable) return { state: { ...stateOf(current), killed }, action, why };
      const others = liveIn(current).filter((id) => id !== build);
      if (effect.instead) await assertStored(writer, [effect.instead]);
      const stable = effect.instead ? mergeBuilds(others, [effect.instead]) : others;
      const { candidates, ended } = candidatesWithout(current, (id) => id === build);
      const { next, evidence } = await keepCandidates(
        writer,
        current,
        replan(current, { stable, killed, candidates }),
        null,
      );
      const replaced: Evidence[] = effect.live ? [{ kind: 'replaced', build, by: effect.instead }] : [];
      return {
        composed: next,
        state: next.state,
        action,
        force,
        why,
        evidence: [...replaced, ...ended, ...evidence],
      };
    },
    seq,
    { name: nameOf(build) },
  );
}

export interface WithdrawOptions extends ChangeOptions {
  /** The name, repeated. */
  confirm?: string;
}

/** Removes a remote from the set; `rollback` or `activate` restores it. Throws refused unless `confirm` repeats the name. */
export function withdraw(
  writer: Writer,
  name: string,
  { why = '', seq, confirm }: WithdrawOptions = {},
): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const [build] = liveIn(current, name);
      if (!build) throw refused(say('notLive', { name }), say('notLiveCure'));
      if ((await writer.catalog.record(build)).description.kind === 'host')
        throw refused(say('hostStays'), say('hostStaysCure'));
      if (confirm !== name) {
        const { instead, shown } = await effectOn(writer, current, build);
        throw refused(
          say('withdraws', { name }),
          instead ? say('insteadCure', { name, build: instead }) : say('withdrawsCure', { name }),
          shown,
        );
      }
      const stable = liveIn(current).filter((id) => id !== build);
      const { candidates, ended } = candidatesAfter(current, [build]);
      const next = await compose(writer, current, replan(current, { stable, candidates }));
      return { composed: next, state: next.state, action: { kind: 'withdraw', builds: [build] }, why, evidence: ended };
    },
    seq,
    { name },
  );
}
