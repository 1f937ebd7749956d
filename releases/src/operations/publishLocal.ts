import { Catalog, claimedBy } from '../builds/catalog.ts';
import { type BuiltPackage, type Published, publish, readPackage, recordOf } from '../builds/publish.ts';
import { frozenNow } from '../channel/changeAgenda.ts';
import { createChannel, renewChannel } from '../channel/changeChannel.ts';
import { currentDocument } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { evidenceLines } from '../english.ts';
import { makeGate } from '../gate/gate.ts';
import { makeSet, nameOf } from '../model/build.ts';
import { DEFAULT_STORE, openStore, prepareStore, publicKeyOf, type Store } from '../store/store.ts';
import { activate } from './switching.ts';

export interface PublishLocalOptions {
  /** Build outputs: the host's and every remote's `dist`. */
  dists: readonly string[];
  store?: string;
  channel?: string;
  who?: string;
  /** Builds of the last start: sources that did not change since leave alone what a release manager switched meanwhile. */
  startedBefore?: readonly string[];
}

export interface PublishedLocal {
  seq: number;
  builds: string[];
  /** False: everything was live already, no new state was made. */
  changed: boolean;
  /** What the gate would have refused, or that nothing was switched; development goes on, so tell the developer. */
  problems: string[];
}

const withVersion = ({ description, ...rest }: BuiltPackage, version: string): BuiltPackage => ({
  description: { ...description, version },
  ...rest,
});

/** Equal sources may still give other bytes (another compiler version), which then go by a version of their own. */
async function publishDevelopment(store: Store, dist: string): Promise<Published> {
  const built = await readPackage(dist);
  const { name, version, sourceHash } = built.description;
  const provenance = { commit: null, at: new Date().toISOString(), publisher: 'local' };
  // the letter: of digits alone with a zero in front semver makes no version
  const development = `${version}-dev.s${sourceHash}`;
  const plain = withVersion(built, development);
  const { id, digest } = recordOf(plain, provenance);
  const holder = await claimedBy(store, name, plain.description.version);
  if (holder === null || holder === id) return publish(store, plain, provenance);
  return publish(store, withVersion(built, `${development}.b${digest.slice(0, 8)}`), provenance);
}

/**
 * Publishes build outputs under development versions and makes them live in one switch; a new store is made on the way. Repeating
 * it without a change does nothing; remotes that were published otherwise stay live. Throws refused for broken builds.
 */
export async function publishLocal(options: PublishLocalOptions): Promise<PublishedLocal> {
  const opened = await openStore(options.store ?? DEFAULT_STORE);
  const { store } = opened;
  const isNew = (await publicKeyOf(store)) === null;
  const key = isNew ? await prepareStore(opened) : ((await opened.signingKey()) ?? (await prepareStore(opened)));
  const channel = options.channel ?? 'production';
  const catalog = new Catalog(store);
  const writer: Writer = { store, catalog, key, channel, who: options.who ?? 'local', now: () => new Date() };
  await createChannel(writer);
  const published: Published[] = [];
  for (const dist of options.dists) published.push(await publishDevelopment(store, dist));
  const builds = published.map(({ id }) => id);
  makeSet(published.map(({ record }) => record));
  const before = await currentDocument(writer);
  const live = new Set((before.stable?.builds ?? []).map(nameOf));
  const decided = (id: string) => options.startedBefore?.includes(id) && live.has(nameOf(id));
  // a restart has to come up, and what is frozen stays as it is
  const frozen = before.stable ? await frozenNow(writer) : null;
  const alive = frozen ? [] : builds.filter((id) => !before.killed.includes(id) && !decided(id));
  // what is built on this machine is judged without a browser by design
  const gate = Object.assign(makeGate(writer, { smoke: null }), { blind: false });
  const change = await activate(writer, alive, { gate, why: 'npm start', force: true });
  const renewed = await renewChannel(writer);
  const document = await currentDocument(writer);
  const notes = frozen ? [`${channel} is frozen (${frozen.freeze.reason}): what was live stays live`] : [];
  const problems = change.changed ? evidenceLines(change.document.action) : notes;
  return { seq: document.seq, builds, changed: change.changed || renewed.changed, problems };
}
