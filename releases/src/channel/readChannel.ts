import { isName } from '@liaozhai/shared/contract';
import { type Catalog, readRecord, resolveBuilds } from '../builds/catalog.ts';
import { nullIfRefused, refused, usage } from '../errors.ts';
import { type ReadAction, readAction, type StoredAction } from '../model/action.ts';
import { type BuildRecord, differencesBetween, mergeBuilds, type Provenance } from '../model/build.ts';
import { type ChannelDocument, liveIn, triedBuilds, verifyChannel } from '../model/channel.ts';
import { sha256Hex } from '../model/signing.ts';
import { say } from '../sentences.ts';
import { namesBelow, type Store } from '../store/store.ts';
import type { Reader } from './writer.ts';

export const channelKey = (channel: string): string => `channels/${channel}.json`;
export const auditKey = (channel: string, seq: number): string => `audit/${channel}/${seq}.json`;

/** A channel's document, with its text and the tag for a compare-and-swap. */
export interface ReadChannel {
  document: ChannelDocument;
  source: string;
  tag: string;
}

export const listChannels = (store: Store): Promise<string[]> => namesBelow(store, 'channels/');

/** Reads and verifies a channel; null if it does not exist. Throws refused if it is damaged or foreign. */
export async function readChannel({ store, channel, key }: Reader): Promise<ReadChannel | null> {
  if (!isName(channel)) throw refused(say('notAChannel', { text: channel }), say('notAChannelCure'));
  const pointer = await store.readPointer(channelKey(channel));
  if (!pointer) return null;
  return { document: verifyChannel(pointer.body, channel, key.publicKey), source: pointer.body, tag: pointer.tag };
}

export async function requireChannel(reader: Reader): Promise<ReadChannel> {
  const existing = await readChannel(reader);
  if (existing) return existing;
  const { store, channel } = reader;
  const otherChannels = await listChannels(store);
  const command = `\`init --channel ${channel}\``;
  throw refused(
    say('noChannel', { store: store.label, text: channel }),
    otherChannels.length > 0
      ? say('otherChannelsCure', { names: otherChannels.join(', '), command })
      : say('noChannelCure', { command }),
  );
}

/** Reads the current state of a channel. Throws refused if the channel does not exist. */
export const currentDocument = async (reader: Reader): Promise<ChannelDocument> =>
  (await requireChannel(reader)).document;

/** Reads the state before, checked against the hash in its successor. Throws refused if the chain is broken. */
async function readPrevious({ store, key }: Reader, state: ChannelDocument): Promise<ChannelDocument | null> {
  if (!state.previous) return null;
  const { seq, sha256 } = state.previous;
  const source = (await store.read(auditKey(state.channel, seq)))?.toString('utf8');
  if (source === undefined) throw refused(say('auditMissing', { seq, channel: state.channel }), say('auditCure'));
  if (sha256Hex(source) !== sha256)
    throw refused(say('auditChanged', { seq, channel: state.channel }), say('auditCure'));
  return verifyChannel(source, state.channel, key.publicKey);
}

/** Yields former states, newest first, without the given one. Each is read on demand. */
export async function* history(reader: Reader, from: ChannelDocument): AsyncGenerator<ChannelDocument> {
  for (let state = await readPrevious(reader, from); state; state = await readPrevious(reader, state)) yield state;
}

/** Reads a state by its number. Throws refused if it is missing or has another number. */
export async function readState(
  { store, key }: Reader,
  current: ChannelDocument,
  seq: number,
): Promise<ChannelDocument> {
  if (seq === current.seq) return current;
  const source = seq < current.seq ? await store.read(auditKey(current.channel, seq)) : null;
  if (!source) throw refused(say('noState', { channel: current.channel, seq }), say('notLiveInCure'));
  const { channel } = current;
  const names = { what: say('theState', { channel, seq }), cure: say('auditCure') };
  const state = verifyChannel(source.toString('utf8'), channel, key.publicKey, names);
  if (state.seq === seq) return state;
  throw refused(say('auditOther', { channel: current.channel, count: state.seq, seq }), say('auditCure'));
}

/** Yields the states after `seq` up to the current one, oldest first. Each is read on demand. */
export async function* statesAfter(
  reader: Reader,
  current: ChannelDocument,
  seq: number,
): AsyncGenerator<ChannelDocument> {
  for (let next = seq + 1; next <= current.seq; next += 1) yield readState(reader, current, next);
}

export interface LogEntry extends StoredAction {
  seq: number;
  /** Provenance by build id, for the named builds that can still be read. */
  origins?: Record<string, Provenance>;
  action: ReadAction;
}

const entryOf = ({ seq, action }: ChannelDocument): LogEntry => ({ seq, ...action, action: readAction(action) });

/** Reads log entries, newest first. Each state is checked against the hash in its successor. */
export async function readLog(reader: Reader, current: ChannelDocument, limit: number): Promise<LogEntry[]> {
  const entries: LogEntry[] = [entryOf(current)];
  if (limit <= 1) return entries.slice(0, limit);
  for await (const state of history(reader, current)) {
    entries.push(entryOf(state));
    if (entries.length >= limit) break;
  }
  return entries;
}

/** Returns a build's provenance, or null if the build is damaged or removed. */
const provenanceOf = async (record: Promise<BuildRecord>): Promise<Provenance | null> =>
  (await record.catch(nullIfRefused))?.provenance ?? null;

/** Returns the provenance of every readable build that an entry names. */
export async function originsOf(catalog: Catalog, { action }: LogEntry): Promise<Record<string, Provenance>> {
  const ids = 'builds' in action ? action.builds : [];
  const provenances = await Promise.all(ids.map(async (id) => [id, await provenanceOf(catalog.record(id))] as const));
  return Object.fromEntries(provenances.flatMap(([id, provenance]) => (provenance ? [[id, provenance]] : [])));
}

export interface Difference {
  name: string;
  from: string | null;
  to: string | null;
  /** Provenance of `to`; null if it cannot be read. */
  provenance: Provenance | null;
}

/** Resolves a word to builds: a state's number, `stable`, `candidate`, another channel's `preview:stable`, or a build over stable. */
async function buildsOf(reader: Reader, current: ChannelDocument, word: string): Promise<string[]> {
  const stable = liveIn(current);
  if (word === 'stable') return stable;
  if (word === 'candidate') {
    if (current.candidate) return mergeBuilds(stable, triedBuilds(current));
    throw refused(say('noCandidate', { channel: current.channel }), say('noCandidateCure'));
  }
  if (/^\d+$/.test(word)) return (await readState(reader, current, Number(word))).stable?.builds ?? [];
  const [, otherChannel] = /^([a-z][a-z0-9-]*):stable$/.exec(word) ?? [];
  if (otherChannel) return (await currentDocument({ ...reader, channel: otherChannel })).stable?.builds ?? [];
  if (word.includes('@')) return mergeBuilds(stable, await resolveBuilds(reader.store, [word]));
  throw refused(say('noPlace', { text: word }), say('noPlaceCure'));
}

/** Returns what differs between two states or builds, by name. Throws usage for builds of different names. */
export async function diff(reader: Reader, current: ChannelDocument, a: string, b: string): Promise<Difference[]> {
  const [name, otherName = name] = [a, b].filter((word) => word.includes('@')).map((word) => word.split('@')[0]);
  if (name !== otherName) throw usage(say('twoNames', { one: a, other: b }), say('twoNamesCure'));
  const [from, to] = [await buildsOf(reader, current, a), await buildsOf(reader, current, b)];
  return Promise.all(
    differencesBetween(from, to).map(async (difference) => ({
      ...difference,
      provenance: difference.to === null ? null : await provenanceOf(readRecord(reader.store, difference.to)),
    })),
  );
}
