import { type Catalog, isPublished } from '../builds/catalog.ts';
import { assertStored } from '../builds/files.ts';
import { publish } from '../builds/publish.ts';
import { mapsFolder } from '../builds/sourceMaps.ts';
import { assertSeen, type Change, changeChannel, createChannel } from '../channel/changeChannel.ts';
import { compose, replan } from '../channel/composeSet.ts';
import { history, readChannel, requireChannel } from '../channel/readChannel.ts';
import type { Reader, Writer } from '../channel/writer.ts';
import { type RefusalReason, refused, reportUnreachable, usage } from '../errors.ts';
import type { Finding } from '../model/action.ts';
import { type BuildRecord, buildFolder, mergeBuilds, nameOf, sameBuilds } from '../model/build.ts';
import { type ChannelDocument, liveIn } from '../model/channel.ts';
import type { SigningKey } from '../model/signing.ts';
import { say } from '../sentences.ts';
import type { Store } from '../store/store.ts';
import { type SwitchOptions, switchStable } from './switching.ts';

const MAX_STATES = 500;

/** The channel to take builds from, in this store or another one. */
export interface Source extends Reader {
  catalog: Catalog;
  /** Null if unavailable: then the other store's log does not record the promotion. */
  signingKey: SigningKey | null;
}

/** Another channel of the writer's own store. */
export const sourceIn = ({ store, catalog, key }: Writer, channel: string): Source => {
  return { store, catalog, channel, key, signingKey: key };
};

const isOtherStore = (writer: Writer, from: Source): boolean => from.store.label !== writer.store.label;

const foreignStateOf = (document: ChannelDocument, store: Store | null) => ({
  channel: document.channel,
  seq: document.seq,
  ...(store ? { store: store.label } : {}),
});

/** Reads the source's live builds, of all names or one. Throws refused if one is killed, incomplete or not of the signed digest. */
async function readSource(writer: Writer, from: Source, name?: string) {
  if (from.channel === writer.channel && !isOtherStore(writer, from))
    throw usage(say('itself', { channel: from.channel }), say('itselfCure'));
  const { document } = await requireChannel(from);
  const builds = liveIn(document, name);
  if (builds.length === 0)
    throw refused(
      say('runsNone', { channel: from.channel, name: name ?? 'set' }),
      say('runsNoneCure', { channel: from.channel }),
    );
  const killedIds = builds.filter((id) => document.killed.includes(id));
  if (killedIds.length > 0)
    throw refused(say('killedThere', { builds: killedIds.join(', '), channel: from.channel }), say('killedThereCure'));
  const records = await from.catalog.records(builds, document.digests);
  await assertStored({ ...writer, store: from.store, catalog: from.catalog }, builds);
  return { document, builds, records };
}

/** Copies a build with its source maps and provenance. Throws refused unless the copy is identical. */
async function copyBuild(from: Store, to: Store, record: BuildRecord, at: Date): Promise<void> {
  const { id, description, provenance } = record;
  if (await isPublished(to, id)) return;
  const files = new Map<string, Buffer>();
  for (const path of Object.keys(record.files)) {
    const body = await from.read(`${buildFolder(id)}/${path}`);
    if (!body)
      throw refused(say('missingThere', { file: path, build: id, store: from.label }), say('missingThereCure'));
    files.set(path, body);
  }
  const maps = new Map<string, string>();
  const folder = `${mapsFolder(buildFolder(id))}/`;
  for (const key of await from.list(folder)) {
    const text = (await from.read(key))?.toString('utf8');
    if (text !== undefined) maps.set(key.slice(folder.length), text);
  }
  // the digest follows from the bytes, so a build changed on the way would get another one
  const isSame = ({ digest }: BuildRecord) => digest === record.digest;
  await publish(to, { description, files, maps }, provenance, { at: at.toISOString(), isExpected: isSame });
}

async function copyFrom(writer: Writer, from: Source, records: readonly BuildRecord[]): Promise<void> {
  if (!isOtherStore(writer, from)) return;
  for (const record of records) await copyBuild(from.store, writer.store, record, await writer.store.time());
}

/** Returns every build that was stable in the last `MAX_STATES` states of the channel. */
async function findEverStable(from: Source, document: ChannelDocument): Promise<Set<string>> {
  const live = new Set(liveIn(document));
  let states = 0;
  for await (const state of history(from, document)) {
    for (const id of liveIn(state)) live.add(id);
    states += 1;
    if (states >= MAX_STATES) break;
  }
  return live;
}

type Reversal = Extract<RefusalReason, { kind: 'takenBack' }>['builds'][number];

/** Returns live builds that the promotion would silently replace although the source channel never ran them. */
function findReversals(current: ChannelDocument, next: readonly string[], sourceIds: ReadonlySet<string>): Reversal[] {
  const byName = new Map(next.map((id) => [nameOf(id), id]));
  const revertedIds = liveIn(current).filter((id) => !next.includes(id) && !sourceIds.has(id));
  return revertedIds.map((id) => ({ build: id, to: byName.get(nameOf(id)) ?? null }));
}

const reversalFinding = (current: ChannelDocument, from: Source, { build, to }: Reversal): Finding => {
  const command = `promote ${nameOf(build)} --from ${current.channel} --channel ${from.channel}`;
  const former = to ?? say('nothing');
  const problem = say('takesBack', { channel: current.channel, build, other: from.channel, former, command });
  return { check: 'promotion', problem };
};

export interface PromoteFromOptions extends SwitchOptions {
  from: Source;
  /** Name of one remote; default: the whole set of the other channel. */
  name?: string;
  /** State of the other channel that the caller saw. Throws conflict if other builds are live there by now. */
  fromSeq?: number;
}

export interface Promotion extends Change {
  /** True if the other channel's log records it as well. */
  loggedThere: boolean;
}

/**
 * Makes another channel's live builds live here: the same builds by digest, copied with their files from another store. The change
 * passes the gate here and is in both logs. Throws refused for builds that are missing or killed on either side.
 */
export async function promoteFrom(
  writer: Writer,
  { from, name, fromSeq, ...options }: PromoteFromOptions,
): Promise<Promotion> {
  const source = await readSource(writer, from, name);
  await assertSeen(from, source.document, fromSeq, (laterState, seenState) =>
    sameBuilds(liveIn(laterState, name), liveIn(seenState, name)),
  );
  const stableIds = await findEverStable(from, source.document);
  await copyFrom(writer, from, source.records);
  const origin = foreignStateOf(source.document, isOtherStore(writer, from) ? from.store : null);
  const change = await changeChannel(
    writer,
    async (current) => {
      const live = liveIn(current);
      const stable = name ? mergeBuilds(live, source.builds) : [...source.builds].sort();
      if (stable.join() === [...live].sort().join()) return null;
      const changed = source.builds.filter((id) => !live.includes(id));
      const reversals = findReversals(current, stable, stableIds);
      const findings = reversals.map((one) => reversalFinding(current, from, one));
      if (reversals.length > 0 && !options.force)
        throw refused(
          say('neverHad', { other: from.channel, channel: current.channel }),
          say('neverHadCure'),
          findings.map(({ problem }) => problem),
          { kind: 'takenBack', from: from.channel, builds: reversals },
        );
      const decision = await switchStable(writer, current, { stable, changed, findings }, options);
      return { ...decision, action: { kind: 'promote', builds: changed.length > 0 ? changed : stable, from: origin } };
    },
    options.seq,
  );
  return {
    ...change,
    loggedThere: change.changed && (await logInSource(writer, from, change, source.builds, options.why)),
  };
}

async function logInSource(writer: Writer, from: Source, { document }: Change, builds: string[], why?: string) {
  const { signingKey: key, store, catalog, channel } = from;
  if (!key) return false;
  const source: Writer = { ...writer, store, catalog, channel, key };
  const into = foreignStateOf(document, isOtherStore(writer, from) ? writer.store : null);
  // permission for this channel is enough: only the log of the other one changes
  const logged = await changeChannel({ ...source, permit: undefined }, async () => ({
    action: { kind: 'promoted', builds, into },
    why,
  })).catch(reportUnreachable(`log of ${channel}`));
  return logged !== null;
}

/** Creates a channel with another channel's live builds. Throws refused if it is already in use. */
export async function createChannelFrom(writer: Writer, from: Source): Promise<Change> {
  const source = await readSource(writer, from);
  const before = await readChannel(writer);
  if (before?.document.stable)
    throw refused(
      say('inUse', { channel: writer.channel }),
      say('inUseCure', { other: from.channel, channel: writer.channel }),
    );
  await copyFrom(writer, from, source.records);
  if (!before) await createChannel(writer);
  const origin = foreignStateOf(source.document, isOtherStore(writer, from) ? from.store : null);
  return changeChannel(writer, async (current) => {
    const { killed } = source.document;
    const next = await compose(writer, current, replan(current, { stable: source.builds, killed }));
    return {
      composed: next,
      action: { kind: 'seed', builds: source.builds, from: origin },
      // misfits that were forced in the other channel are accepted
      force: true,
      why: say('beginsWith', { channel: from.channel }),
      forward: true,
    };
  });
}
