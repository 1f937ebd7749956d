import { Catalog, claimedBy } from '../builds/catalog.ts';
import { type BuiltPackage, readPackage, recordOf } from '../builds/package.ts';
import { type PublishedBuild, publish } from '../builds/publish.ts';
import { frozenNow } from '../channel/changeAgenda.ts';
import { createChannel, renewChannel } from '../channel/changeChannel.ts';
import { currentDocument } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { evidenceLines } from '../english.ts';
import { makeGate } from '../gate/gate.ts';
import { makeSet, nameOf } from '../model/build.ts';
import { liveIn } from '../model/channel.ts';
import { DEFAULT_STORE, openStore, prepareStore, publicKeyOf, type Store } from '../store/store.ts';
import { activate } from './switching.ts';

export interface PublishLocalOptions {
  /** Build outputs: the host's and every remote's `dist`. */
  dists: readonly string[];
  store?: string;
  channel?: string;
  who?: string;
  /** Builds of the last start. They are not switched again, so that a release manager's switch in the meantime stays. */
  startedBefore?: readonly string[];
}

const withVersion = ({ description, ...rest }: BuiltPackage, version: string): BuiltPackage => ({
  description: { ...description, version },
  ...rest,
});

/** Equal sources may give different bytes (another compiler version), which then get a version of their own. */
async function publishDevelopment(store: Store, dist: string): Promise<PublishedBuild> {
  const built = await readPackage(dist);
  const { name, version, sourceHash } = built.description;
  const provenance = { commit: null, at: new Date().toISOString(), publisher: 'local' };
  // the letter `s`, because semver forbids a numeric identifier with a leading zero
  const developmentVersion = `${version}-dev.s${sourceHash}`;
  const plainPackage = withVersion(built, developmentVersion);
  const { id, digest } = recordOf(plainPackage, provenance);
  const holder = await claimedBy(store, name, plainPackage.description.version);
  if (holder === null || holder === id) return publish(store, plainPackage, provenance);
  return publish(store, withVersion(built, `${developmentVersion}.b${digest.slice(0, 8)}`), provenance);
}

/**
 * Publishes build outputs under development versions and makes them live in one switch. Creates the store if necessary. Has no effect
 * if nothing changed; other live remotes stay. Throws refused for broken builds.
 */
export async function publishLocal(options: PublishLocalOptions) {
  const openedStore = await openStore(options.store ?? DEFAULT_STORE);
  const { store } = openedStore;
  const ownKey = (await publicKeyOf(store)) && (await openedStore.signingKey());
  const key = ownKey || (await prepareStore(openedStore));
  const channel = options.channel ?? 'production';
  const catalog = new Catalog(store);
  const writer: Writer = { store, catalog, key, channel, who: options.who ?? 'local', now: () => new Date() };
  await createChannel(writer);
  const publishedBuilds: PublishedBuild[] = [];
  for (const dist of options.dists) publishedBuilds.push(await publishDevelopment(store, dist));
  const builds = publishedBuilds.map(({ id }) => id);
  makeSet(publishedBuilds.map(({ record }) => record));
  const before = await currentDocument(writer);
  const live = new Set(liveIn(before).map(nameOf));
  const isDecided = (id: string) => options.startedBefore?.includes(id) && live.has(nameOf(id));
  // a restart must succeed during a freeze as well, without switching anything
  const frozen = before.stable ? await frozenNow(writer) : null;
  const switchableBuilds = frozen ? [] : builds.filter((id) => !before.killed.includes(id) && !isDecided(id));
  // local builds are judged without a browser by design
  const gate = Object.assign(makeGate(writer, { smoke: null }), { blind: false });
  const change = await activate(writer, switchableBuilds, { gate, why: 'npm start', force: true });
  const renewal = await renewChannel(writer);
  const document = await currentDocument(writer);
  const notes = frozen ? [`${channel} is frozen (${frozen.freeze.reason}): what was live stays live`] : [];
  // what the gate would have refused, or why nothing was switched, for the developer's terminal
  const problems = change.changed ? evidenceLines(change.document.action) : notes;
  return { seq: document.seq, builds, changed: change.changed || renewal.changed, problems };
}
