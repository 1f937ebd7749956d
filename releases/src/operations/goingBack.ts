import { assertStored } from '../builds/catalog.ts';
import { type Change, changeChannel, compose, replan, storeSets, type Writer } from '../channel/changeChannel.ts';
import { readState, requireChannel } from '../channel/readChannel.ts';
import { refused } from '../errors.ts';
import { mergeBuilds, nameOf } from '../model/build.ts';
import { type ChannelDocument, candidatesOf, stateOf } from '../model/channel.ts';

export interface RollbackOptions {
  /** One build name; without it the whole channel goes back. */
  name?: string;
  /** The state to go back to; without it the newest one that differs. */
  to?: number;
  why?: string;
  seq?: number;
}

const liveIn = (state: ChannelDocument, name?: string): string[] =>
  (state.stable?.builds ?? []).filter((id) => !name || nameOf(id) === name);

const concerns = (state: ChannelDocument, name?: string): boolean => {
  const { verb, names = [] } = state.action;
  return verb === 'rollback' && (name === undefined || names.length === 0 || names.includes(name));
};

/**
 * The newest former state in which something else was live, or null. A rollback on the way is followed to where it went, so that
 * rolling back twice goes two steps back and never returns to what was just left.
 */
async function findStateBefore(
  writer: Writer,
  current: ChannelDocument,
  name?: string,
): Promise<ChannelDocument | null> {
  const now = liveIn(current, name).join();
  let state = current;
  while (state.seq > 1) {
    const { to } = state.action;
    const seq = concerns(state, name) && to !== undefined && to < state.seq ? to : state.seq - 1;
    state = await readState(writer.store, current, seq, writer.key.publicKey);
    const builds = liveIn(state, name);
    if (builds.length > 0 && builds.join() !== now && !builds.some((id) => current.killed.includes(id))) return state;
  }
  return null;
}

/** The same, for whoever cannot go on without. Throws refused. */
export async function stateBefore(writer: Writer, current: ChannelDocument, name?: string): Promise<ChannelDocument> {
  const state = await findStateBefore(writer, current, name);
  if (state) return state;
  throw refused(
    `nothing else was live before${name ? ` for ${name}` : ''} that could run again`,
    name && liveIn(current, name).length > 0
      ? `Take a first release out of the set with \`withdraw ${name}\`, or activate another published build.`
      : 'List what was live with `log`, or activate a published build.',
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
    throw refused(
      `state ${seq} runs ${dead.join(', ')}, which was killed`,
      'Go back to another state with --to, or one remote at a time.',
    );
}

/** Makes live again what was live, as a newer state. Checks only that its files are there and nothing of it was killed. */
export function rollback(writer: Writer, { name, to, why = '', seq }: RollbackOptions): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const target =
        to === undefined
          ? await stateBefore(writer, current, name)
          : await readState(writer.store, current, to, writer.key.publicKey);
      const builds = liveIn(target, name);
      if (builds.length === 0)
        throw refused(`${name ?? 'nothing'} was not live in state ${target.seq}`, 'List the states with `log`.');
      assertAlive(current, builds, target.seq);
      const stable = name ? mergeBuilds(current.stable?.builds ?? [], builds) : builds;
      if (stable.join() === current.stable?.builds.join()) return null;
      await assertStored(writer, builds);
      const candidates = fittingCandidates(current, builds);
      const lastGood = restoredLastGood(current, target, name);
      const next = await compose(writer, current, replan(current, { stable, lastGood, candidates }));
      const names = name ? [name] : [];
      return {
        prepare: () => storeSets(writer, next),
        state: next.state,
        action: { kind: 'rollback', builds, to: target.seq, names },
        why,
      };
    },
    seq,
  );
}

/** A rollback of a name ends a candidate with the same name: someone just said it is broken. */
function fittingCandidates(current: ChannelDocument, builds: readonly string[]) {
  const names = new Set(builds.map(nameOf));
  return candidatesOf(current).filter((candidate) => !candidate.builds.some((id) => names.has(nameOf(id))));
}

/** What takes a build's place where it may not run: the last good one, else what a rollback of the name would bring back. */
async function replacement(
  writer: Writer,
  current: ChannelDocument,
  killed: string[],
  name: string,
): Promise<string | null> {
  const lastGood = current.lastGood[name];
  if (lastGood && !killed.includes(lastGood)) return lastGood;
  const before = await findStateBefore(writer, { ...current, killed }, name);
  return before?.stable?.builds.find((id) => nameOf(id) === name) ?? null;
}

/** What killing a build would do, beside that the build never runs again. */
export interface KillEffect {
  build: string;
  name: string;
  /** Everybody runs it now. */
  live: boolean;
  /** What everybody gets in its place; null where it is not live, or where there is nothing else. */
  instead: string | null;
  /** The candidate it belongs to ends. */
  endsCandidate: boolean;
  /** It is the only build of its name: these addresses and slots show nothing any more, to nobody. */
  lost: string[];
}

async function effectOn(writer: Writer, current: ChannelDocument, build: string): Promise<KillEffect> {
  const { description } = await writer.catalog.record(build);
  const name = nameOf(build);
  const live = current.stable?.builds.includes(build) ?? false;
  const instead = live ? await replacement(writer, current, [...current.killed, build], name) : null;
  const shown =
    description.kind === 'host'
      ? []
      : [...description.routes.map(({ path }) => path), ...description.slots.map((slot) => `slot ${slot.name}`)];
  return {
    build,
    name,
    live,
    instead,
    endsCandidate: candidatesOf(current).some(({ builds }) => builds.includes(build)),
    lost: live && instead === null ? shown : [],
  };
}

/** What `kill` would do now; changes nothing. Throws refused if there is no such build. */
export async function effectOfKill(writer: Writer, build: string): Promise<KillEffect> {
  const { document } = await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  return effectOn(writer, document, build);
}

export interface KillOptions {
  why?: string;
  seq?: number;
  /** The build's name: whoever takes the only build of a name away from everybody has to say it. */
  confirm?: string;
}

function assertMeant({ build, name, live, instead, lost }: KillEffect, host: boolean, confirm?: string): void {
  if (!live || instead !== null) return;
  if (host)
    throw refused(`${build} is the only host to go on with`, 'Activate another host first, then kill this one.');
  if (confirm === name) return;
  throw refused(
    `${build} is the only build of ${name}: killing it takes its screens away from everybody, and that build never runs again`,
    `\`withdraw ${name}\` takes the same away and can be undone; or activate a mended version first. To kill it all the same: --confirm ${name}.`,
    lost,
  );
}

/**
 * Bans a build for good: what is live goes back to the last good one, a candidate with it ends, open pages leave it. Throws refused
 * for the only build of a name unless the name is said.
 */
export function kill(writer: Writer, build: string, { why = '', seq, confirm }: KillOptions = {}): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      if (current.killed.includes(build)) return null;
      const effect = await effectOn(writer, current, build);
      assertMeant(effect, (await writer.catalog.record(build)).description.kind === 'host', confirm);
      const killed = [...current.killed, build];
      const others = (current.stable?.builds ?? []).filter((id) => id !== build);
      const stable = effect.instead ? mergeBuilds(others, [effect.instead]) : others;
      const candidates = candidatesOf(current).filter(({ builds }) => !builds.includes(build));
      const next = current.stable
        ? await compose(writer, current, replan(current, { stable, killed, candidates }))
        : null;
      const state = next?.state ?? { ...stateOf(current), killed };
      const prepare = async () => next && storeSets(writer, next);
      return { prepare, state, action: { kind: 'kill', builds: [build] }, why };
    },
    seq,
  );
}

/** Takes a remote out of the set, to be brought back by `rollback` or `activate`: its first release, or one whose name is said. */
export function withdraw(
  writer: Writer,
  name: string,
  { why = '', seq, confirm }: { why?: string; seq?: number; confirm?: string } = {},
): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const [build] = liveIn(current, name);
      if (!build)
        throw refused(`${name} is not live for everybody`, 'See `status`; a candidate is ended with `abort`.');
      if ((await writer.catalog.record(build)).description.kind === 'host')
        throw refused('the host cannot be withdrawn: there is no page without it', 'Use `rollback host`.');
      const instead = await replacement(writer, current, [...current.killed, build], name);
      if (instead && confirm !== name)
        throw refused(
          `${name} has a build to go back to, ${instead}`,
          `\`rollback ${name}\` makes that live. To take all screens of ${name} away from everybody: --confirm ${name}.`,
        );
      const stable = (current.stable?.builds ?? []).filter((id) => id !== build);
      const candidates = fittingCandidates(current, [build]);
      const next = await compose(writer, current, replan(current, { stable, candidates }));
      return {
        prepare: () => storeSets(writer, next),
        state: next.state,
        action: { kind: 'withdraw', builds: [build] },
        why,
      };
    },
    seq,
  );
}
