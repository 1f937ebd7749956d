import type { SetBody } from '@liaozhai/shared/contract';
import type { Catalog } from '../builds/catalog.ts';
import { refused } from '../errors.ts';
import type { BuildRecord } from '../model/build.ts';
import type { Candidate, ChannelDocument, ChannelState, Stable } from '../model/channel.ts';
import { mergeBuilds, nameOf } from '../model/ids.ts';
import { makeSet, setHash } from '../model/set.ts';
import { canonicalJson } from '../model/signing.ts';
import type { Store } from '../store/store.ts';
import { timeOf, type Writer } from './changeChannel.ts';

/** Stores a set under its hash, before any channel names it. */
export const storeSet = (store: Store, hash: string, body: unknown): Promise<boolean> =>
  store.create(`sets/${hash}.json`, canonicalJson(body));

/** What a state should hold, before sets and digests are worked out. */
export interface Plan {
  stable: readonly string[];
  candidate: { builds: readonly string[]; percent: number; salt: string } | null;
  lastGood: Readonly<Record<string, string>>;
  killed: readonly string[];
}

export interface Composed {
  state: ChannelState;
  stable: { body: SetBody; records: BuildRecord[] };
  candidate: { body: SetBody; records: BuildRecord[] } | null;
}

const planOf = (current: ChannelDocument): Plan => ({
  stable: current.stable?.builds ?? [],
  candidate: current.candidate,
  lastGood: current.lastGood,
  killed: current.killed,
});

/** The current state with some parts planned anew. */
export const replan = (current: ChannelDocument, parts: Partial<Plan>): Plan => ({ ...planOf(current), ...parts });

async function setOf(catalog: Catalog, ids: readonly string[]) {
  const records = await catalog.records(ids);
  return { records, body: makeSet(records) };
}

/** Kept as it was where it is the same, so that "live since" tells the truth. */
const since = async (before: Stable | Candidate | null, set: string, writer: Writer) =>
  before?.set === set
    ? { since: before.since, by: before.by }
    : { since: (await timeOf(writer)).toISOString(), by: writer.who.slice(0, 120) };

function assertAlive(plan: Plan): void {
  const dead = [...plan.stable, ...(plan.candidate?.builds ?? [])].filter((id) => plan.killed.includes(id));
  if (dead.length > 0)
    throw refused(`${dead.join(', ')} was killed and never runs again`, 'Publish a new version and activate that.');
}

/** Works a plan out into a state and its sets. Throws refused for missing and killed builds. */
export async function compose(writer: Writer, current: ChannelDocument, plan: Plan): Promise<Composed> {
  assertAlive(plan);
  const stable = await setOf(writer.catalog, plan.stable);
  const over = plan.candidate?.builds.filter((id) => !plan.stable.includes(id)) ?? [];
  const candidate = over.length > 0 ? await setOf(writer.catalog, mergeBuilds(plan.stable, over)) : null;
  const named = new Set(plan.stable.map(nameOf));
  const lastGood = Object.fromEntries(
    Object.entries(plan.lastGood).filter(
      ([name, id]) => named.has(name) && !plan.killed.includes(id) && !plan.stable.includes(id),
    ),
  );
  const digests = new Map(
    [...stable.records, ...(candidate?.records ?? [])].map((record) => [record.id, record.digest]),
  );
  for (const id of Object.values(lastGood))
    digests.set(id, (await writer.catalog.record(id, current.digests[id])).digest);
  const set = setHash(stable.body);
  return {
    stable,
    candidate,
    state: {
      stable: { set, builds: [...plan.stable].sort(), ...(await since(current.stable, set, writer)) },
      candidate:
        candidate && plan.candidate && (await candidateState(writer, current, plan.candidate, over, candidate.body)),
      lastGood,
      killed: [...plan.killed],
      digests: Object.fromEntries(digests),
    },
  };
}

async function candidateState(
  writer: Writer,
  current: ChannelDocument,
  plan: NonNullable<Plan['candidate']>,
  over: string[],
  body: SetBody,
) {
  const set = setHash(body);
  const { percent, salt } = plan;
  return { set, builds: over.sort(), percent, salt, ...(await since(current.candidate, set, writer)) };
}

/** Stores the sets a composed state names. */
export async function storeSets(writer: Writer, { state, stable, candidate }: Composed): Promise<void> {
  if (state.stable) await storeSet(writer.store, state.stable.set, stable.body);
  if (state.candidate && candidate) await storeSet(writer.store, state.candidate.set, candidate.body);
}
