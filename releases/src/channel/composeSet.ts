import type { SetBody } from '@liaozhai/shared/contract';
import type { Catalog } from '../builds/catalog.ts';
import { nullIfRefused, refused } from '../errors.ts';
import { misfitsAmong } from '../gate/fit.ts';
import { type BuildRecord, makeSet, mergeBuilds, nameOf, setHash } from '../model/build.ts';
import {
  type Candidate,
  type ChannelDocument,
  type ChannelState,
  candidateFields,
  candidatesOf,
  liveIn,
  ruleOf,
  type Stable,
} from '../model/channel.ts';
import { canonicalJson } from '../model/signing.ts';
import { say } from '../sentences.ts';
import type { Store } from '../store/store.ts';
import type { Writer } from './writer.ts';

/** Stores a set under its hash, before any channel names it. */
export const storeSet = (store: Store, hash: string, body: unknown): Promise<boolean> =>
  store.create(`sets/${hash}.json`, canonicalJson(body));

/** A candidate before its set is composed. The salt identifies it while its builds change. */
export interface PlannedCandidate {
  builds: readonly string[];
  percent: number;
  salt: string;
}

/** Contents of a state, before sets and digests are computed. */
export interface Plan {
  stable: readonly string[];
  candidates: readonly PlannedCandidate[];
  lastGood: Readonly<Record<string, string>>;
  killed: readonly string[];
}

export interface ComposedSet {
  body: SetBody;
  records: BuildRecord[];
}

export interface Composed {
  state: ChannelState;
  stable: ComposedSet;
  /** The candidates of the state: each has a build that is not stable. */
  candidates: (ComposedSet & { planned: PlannedCandidate })[];
  /** Set of a visitor who is in every candidate; null with fewer than two. */
  together: ComposedSet | null;
}

export const replan = (current: ChannelDocument, parts: Partial<Plan>): Plan => ({
  stable: liveIn(current),
  candidates: candidatesOf(current),
  lastGood: current.lastGood,
  killed: current.killed,
  ...parts,
});

async function setOf(catalog: Catalog, ids: readonly string[]): Promise<ComposedSet> {
  const records = await catalog.records(ids);
  return { records, body: makeSet(records) };
}

/** A part that is new gets its date and author when the state is written, which may be minutes later. */
const NEW = { since: '', by: '' };

/** Dates the new parts of a state. The others keep theirs, so that "live since" stays correct. */
export function dateNewParts(state: ChannelState, date: Pick<Stable, 'since' | 'by'>): ChannelState {
  const dated = <Part extends Stable | Candidate>(part: Part): Part =>
    part.since === NEW.since ? { ...part, ...date } : part;
  return { ...state, stable: state.stable && dated(state.stable), ...candidateFields(candidatesOf(state).map(dated)) };
}

function assertAlive(plan: Plan): void {
  const named = [...plan.stable, ...plan.candidates.flatMap(({ builds }) => builds)];
  const dead = named.filter((id) => plan.killed.includes(id));
  if (dead.length > 0) throw refused(say('killed', { builds: dead.join(', ') }), say('killedCure'));
}

/** Computes the state and sets of a plan. Throws refused for missing and killed builds. */
export async function compose(writer: Writer, current: ChannelDocument, plan: Plan): Promise<Composed> {
  assertAlive(plan);
  const stable = await setOf(writer.catalog, plan.stable);
  const planned = plan.candidates
    .map((candidate) => ({ ...candidate, builds: candidate.builds.filter((id) => !plan.stable.includes(id)).sort() }))
    .filter(({ builds }) => builds.length > 0);
  const over = (builds: readonly string[]) => setOf(writer.catalog, mergeBuilds(plan.stable, builds));
  const candidates = await Promise.all(planned.map(async (each) => ({ ...(await over(each.builds)), planned: each })));
  const together = planned.length > 1 ? await over(planned.flatMap(({ builds }) => builds)) : null;
  const named = new Set(plan.stable.map(nameOf));
  const lastGood = Object.fromEntries(
    Object.entries(plan.lastGood).filter(
      ([name, id]) => named.has(name) && !plan.killed.includes(id) && !plan.stable.includes(id),
    ),
  );
  const digests = new Map(
    [stable, ...candidates].flatMap(({ records }) => records).map((record) => [record.id, record.digest]),
  );
  for (const [name, id] of Object.entries(lastGood)) {
    const record = await writer.catalog.record(id, current.digests[id]).catch(nullIfRefused);
    if (record) digests.set(id, record.digest);
    // a build that nobody runs never blocks a change
    else delete lastGood[name];
  }
  const set = setHash(stable.body);
  const { since, by } = current.stable?.set === set ? current.stable : NEW;
  return {
    stable,
    candidates,
    together,
    state: {
      stable: { set, builds: [...plan.stable].sort(), since, by },
      ...candidateFields(candidates.map((candidate) => candidateState(current, candidate))),
      lastGood,
      killed: [...plan.killed],
      digests: Object.fromEntries(digests),
      ...ruleOf(current),
    },
  };
}

/** Keeps a candidate's salt and start if another team's switch changes the set below it. */
function candidateState(
  current: ChannelDocument,
  { body, planned: { builds, percent, salt } }: Composed['candidates'][number],
): Candidate {
  const { since, by } = candidatesOf(current).find((candidate) => candidate.salt === salt) ?? NEW;
  return { set: setHash(body), builds: [...builds], percent, salt, since, by };
}

/** Skips builds that were removed or are damaged. Throws unreachable. */
const recordsThatExist = async ({ catalog }: Writer, ids: Iterable<string>): Promise<BuildRecord[]> => {
  const records = await Promise.all([...new Set(ids)].map((id) => catalog.record(id).catch(nullIfRefused)));
  return records.filter((record) => record !== null);
};

/** Returns builds that may share a page or a browser with those of a set. */
export const neighboursOf = (writer: Writer, current: ChannelDocument, next?: ChannelState): Promise<BuildRecord[]> => {
  const ids = [...liveIn(current), ...Object.values(current.lastGood), ...Object.values(next?.lastGood ?? {})];
  const killed = next?.killed ?? current.killed;
  return recordsThatExist(
    writer,
    ids.filter((id) => !killed.includes(id)),
  );
};

/** Returns keys of current misfits, for everyone and for visitors of candidates. A change is judged only by those it adds. */
export async function misfitsNow(writer: Writer, current: ChannelDocument) {
  const live = liveIn(current);
  const neighbours = await neighboursOf(writer, current);
  const keysOf = async (ids: readonly string[]) =>
    misfitsAmong(await recordsThatExist(writer, ids), neighbours).map(({ key }) => key);
  const candidates = candidatesOf(current).map(({ builds }) => builds);
  const onTrial = await Promise.all(
    [...candidates, candidates.flat()].map((builds) => keysOf(mergeBuilds(live, builds))),
  );
  return { stable: new Set(await keysOf(live)), candidates: new Set(onTrial.flat()) };
}

/** Returns the misfits that a change adds, in the stable set and in the sets of candidates. */
export async function newMisfits(writer: Writer, current: ChannelDocument, next: Composed) {
  const [now, neighbours] = await Promise.all([misfitsNow(writer, current), neighboursOf(writer, current, next.state)]);
  const stable = misfitsAmong(next.stable.records, neighbours);
  const keys = new Set([...now.candidates, ...stable.map(({ key }) => key)]);
  const onTrial = [...next.candidates, ...(next.together ? [next.together] : [])];
  return {
    stable: stable.filter(({ key }) => !now.stable.has(key)),
    candidates: onTrial.flatMap(({ records }) => misfitsAmong(records, neighbours)).filter(({ key }) => !keys.has(key)),
  };
}

export async function storeSets(writer: Writer, { stable, candidates }: Composed): Promise<void> {
  for (const { body } of [stable, ...candidates]) await storeSet(writer.store, setHash(body), body);
}
