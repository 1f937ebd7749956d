import { type Catalog, putOver } from '../channel/catalog.ts';
import { history, readState } from '../channel/readChannel.ts';
import { refused } from '../errors.ts';
import type { Provenance } from '../model/build.ts';
import type { Action, ChannelDocument } from '../model/channel.ts';
import { nameOf, parseBuildId } from '../model/ids.ts';
import { publishedIds } from '../publish/publish.ts';
import type { Store } from '../store/store.ts';

export interface BuildSummary {
  id: string;
  label: string;
  kind: 'host' | 'remote';
  bytes: number;
  files: number;
  provenance: Provenance;
}

/** Every published build, newest first. */
export async function listBuilds(catalog: Catalog, name?: string): Promise<BuildSummary[]> {
  const ids = await publishedIds(catalog.store, name);
  const records = await catalog.records(ids);
  const summaries = records.map((record) => ({
    id: record.id,
    label: record.description.label,
    kind: record.description.kind,
    bytes: Object.values(record.files).reduce((sum, file) => sum + file.size, 0),
    files: Object.keys(record.files).length,
    provenance: record.provenance,
  }));
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
