import { type Catalog, putOver } from '../channel/catalog.ts';
import { history, readState } from '../channel/readChannel.ts';
import { ReleaseError, refused } from '../errors.ts';
import type { BuildRecord, Provenance } from '../model/build.ts';
import type { Action, ChannelDocument } from '../model/channel.ts';
import { buildIdParts, nameOf, parseBuildId } from '../model/ids.ts';
import { publishedIds, readClaim } from '../publish/publish.ts';
import type { Store } from '../store/store.ts';

export interface BuildSummary {
  id: string;
  label: string;
  kind: 'host' | 'remote';
  bytes: number;
  files: number;
  provenance: Provenance;
  /** Why it cannot run: its record is damaged. */
  problem?: string;
}

const summaryOf = ({ id, description: { label, kind }, files, provenance }: BuildRecord): BuildSummary => {
  const sizes = Object.values(files).map(({ size }) => size);
  return { id, label, kind, bytes: sizes.reduce((sum, size) => sum + size, 0), files: sizes.length, provenance };
};

/** What the version's claim tells of a build whose own record does not. */
async function damagedSummary(store: Store, id: string, problem: string): Promise<BuildSummary> {
  const { name, version } = buildIdParts(id);
  const { at = '', publisher = '' } = (await readClaim(store, name, version)) ?? {};
  const kind = name === 'host' ? 'host' : 'remote';
  return { id, label: name, kind, bytes: 0, files: 0, provenance: { commit: null, at, publisher }, problem };
}

/** Every published build, newest first. One that is damaged is listed as such and hides no other. */
export async function listBuilds(catalog: Catalog, name?: string): Promise<BuildSummary[]> {
  const ids = await publishedIds(catalog.store, name);
  const summarise = async (id: string): Promise<BuildSummary> => {
    try {
      return summaryOf(await catalog.record(id));
    } catch (cause) {
      if (!(cause instanceof ReleaseError && cause.kind === 'refused')) throw cause;
      return damagedSummary(catalog.store, id, cause.message);
    }
  };
  const summaries = await Promise.all(ids.map(summarise));
  return summaries.sort((a, b) => (a.provenance.at < b.provenance.at ? 1 : -1));
}

export interface LogEntry extends Action {
  seq: number;
}

/** What was done, newest first, each state checked against the hash its successor holds. */
export async function readLog(
  store: Store,
  current: ChannelDocument,
  publicKey: string,
  limit: number,
): Promise<LogEntry[]> {
  const entries: LogEntry[] = [{ seq: current.seq, ...current.action }];
  if (limit <= 1) return entries.slice(0, limit);
  for await (const { seq, action } of history(store, current, publicKey)) {
    entries.push({ seq, ...action });
    if (entries.length >= limit) break;
  }
  return entries;
}

export interface Difference {
  name: string;
  from: string | null;
  to: string | null;
}

/** The builds a word stands for: a state's number, `stable`, `candidate`, or a build over stable. */
async function buildsOf(store: Store, current: ChannelDocument, publicKey: string, word: string): Promise<string[]> {
  const stable = current.stable?.builds ?? [];
  if (word === 'stable') return stable;
  if (word === 'candidate') {
    if (current.candidate) return putOver(stable, current.candidate.builds);
    throw refused(`${current.channel} has no candidate`, 'Start one with `canary`.');
  }
  if (/^\d+$/.test(word)) return (await readState(store, current, Number(word), publicKey)).stable?.builds ?? [];
  if (parseBuildId(word)) return putOver(stable, [word]);
  throw refused(`"${word}" names no state`, 'Use a state number from `log`, `stable`, `candidate` or a build id.');
}

/** What would change from one state to another, by name. */
export async function diff(
  store: Store,
  current: ChannelDocument,
  publicKey: string,
  a: string,
  b: string,
): Promise<Difference[]> {
  const byName = async (word: string) =>
    new Map((await buildsOf(store, current, publicKey, word)).map((id) => [nameOf(id), id]));
  const [from, to] = [await byName(a), await byName(b)];
  const names = [...new Set([...from.keys(), ...to.keys()])].sort();
  return names
    .map((name) => ({ name, from: from.get(name) ?? null, to: to.get(name) ?? null }))
    .filter((difference) => difference.from !== difference.to);
}
