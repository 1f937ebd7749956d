import semver from 'semver';
import * as v from 'valibot';
import type { Writer } from '../channel/writer.ts';
import { buildFolder, isHost, isRemote, mergeBuilds, type RemoteRecord } from '../model/build.ts';
import { type ChannelDocument, candidatesOf, liveIn } from '../model/channel.ts';
import { parseOrNull } from '../model/documents.ts';
import type { Store } from '../store/store.ts';
import { allows } from './fit.ts';
import type { GateSubject } from './gate.ts';

const KIB = 1024;
const files = v.object({ sync: v.array(v.string()), async: v.array(v.string()) });
const manifestSchema = v.object({
  shared: v.array(v.object({ name: v.string(), assets: v.object({ js: files }) })),
});

/** Returns the size of a build's copy of a library in KiB, by federation's manifest; null if that lists no files. */
async function copyKib(store: Store, { id }: RemoteRecord, library: string): Promise<number | null> {
  const manifest = parseOrNull(manifestSchema, await store.read(`${buildFolder(id)}/mf-manifest.json`));
  const { sync = [], async = [] } = manifest?.shared.find(({ name }) => name === library)?.assets.js ?? {};
  const paths = [...sync, ...async];
  const sizes = paths.map(async (path) => (await store.read(`${buildFolder(id)}/${path}.br`))?.length ?? 0);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  return bytes > 0 ? bytes / KIB : null;
}

const carriedVersion = ({ description }: RemoteRecord, library: string): string =>
  description.shared.provides[library] ?? '';
const rangeOf = ({ description }: RemoteRecord, library: string): string => description.shared.requires[library] ?? '*';

export interface SharedLibrary {
  name: string;
  /**
   * Copies that load when every remote is open, with the remotes that use them. With `ofHost`, none of them is ever used. `kib` is
   * compressed with brotli; null if the build's manifest lists no files.
   */
  copies: { version: string; build: string; remotes: string[]; kib: number | null }[];
  /** The host's version, which replaces all copies; null if the host has none. */
  ofHost: string | null;
}

/** Groups remotes by the copy that they use, the carrier first. Highest versions first, as federation negotiates. */
function negotiateCopies(library: string, carriers: readonly RemoteRecord[]): RemoteRecord[][] {
  const remainingCarriers = [...carriers].sort((a, b) =>
    semver.rcompare(carriedVersion(a, library), carriedVersion(b, library)),
  );
  const groups: RemoteRecord[][] = [];
  for (let [carrier] = remainingCarriers; carrier; [carrier] = remainingCarriers) {
    const version = carriedVersion(carrier, library);
    const users = remainingCarriers.filter((each) => each === carrier || allows(rangeOf(each, library), version));
    groups.push([carrier, ...users.filter((each) => each !== carrier)]);
    for (const user of users) remainingCarriers.splice(remainingCarriers.indexOf(user), 1);
  }
  return groups;
}

/** Returns the libraries that remotes of a set share, or contain although the host has them. */
async function sharedLibraries({
  store,
  host,
  remotes,
}: Pick<GateSubject, 'store' | 'host' | 'remotes'>): Promise<SharedLibrary[]> {
  const hostVersions = host.description.shared.provides;
  const names = new Set(remotes.flatMap(({ description }) => Object.keys(description.shared.provides)));
  const libraries = [...names].map(async (name) => {
    const carriers = remotes.filter((remote) => carriedVersion(remote, name));
    const ofHost = hostVersions[name] ?? null;
    const groups = ofHost === null ? negotiateCopies(name, carriers) : carriers.map((carrier) => [carrier]);
    const copies = groups.flatMap(async ([carrier, ...others]) => {
      if (!carrier) return [];
      const users = [carrier, ...others].map(({ description }) => description.name);
      const [version, kib] = [carriedVersion(carrier, name), await copyKib(store, carrier, name)];
      return [{ version, build: carrier.id, remotes: users, kib }];
    });
    return { name, copies: (await Promise.all(copies)).flat(), ofHost };
  });
  return (await Promise.all(libraries)).filter(
    ({ copies, ofHost }) => ofHost !== null || copies.flatMap(({ remotes }) => remotes).length > 1,
  );
}

const formatKib = (kib: number | null): string => (kib === null ? '' : ` (${kib.toFixed(1)} KiB br)`);

/** Returns a line per library that remotes share or that loads more than once, with the size of each copy. */
export async function sharingNotes(subject: GateSubject): Promise<string[]> {
  return (await sharedLibraries(subject)).flatMap(({ name, copies, ofHost }) => {
    if (ofHost !== null)
      return copies.map(
        ({ build, version, kib }) =>
          `${build} carries ${name} ${version}${formatKib(kib)}, which never runs: the host's does; set import: false for it`,
      );
    const parts = copies.map(({ version, remotes, kib }) => `${version} for ${remotes.join(', ')}${formatKib(kib)}`);
    return [`${name} ${copies.length > 1 ? `loads ${copies.length} times` : 'is shared'}: ${parts.join('; ')}`];
  });
}

export interface Sharing {
  stable: SharedLibrary[];
  candidates: { builds: readonly string[]; libraries: SharedLibrary[] }[];
}

export async function readSharing(
  { store, catalog }: Pick<Writer, 'store' | 'catalog'>,
  document: ChannelDocument,
): Promise<Sharing> {
  const librariesOf = async (builds: readonly string[]) => {
    const records = await catalog.records(builds);
    const host = records.find(isHost);
    return host ? sharedLibraries({ store, host, remotes: records.filter(isRemote) }) : [];
  };
  const stable = liveIn(document);
  const candidates = candidatesOf(document).map(async ({ builds }) => ({
    builds,
    libraries: await librariesOf(mergeBuilds(stable, builds)),
  }));
  return { stable: await librariesOf(stable), candidates: await Promise.all(candidates) };
}
