import semver from 'semver';
import * as v from 'valibot';
import { buildFolder, jsonOrNull, type RemoteRecord } from '../model/build.ts';
import type { Store } from '../store/store.ts';
import type { GateSubject } from './gate.ts';

const KIB = 1024;
const files = v.object({ sync: v.array(v.string()), async: v.array(v.string()) });
const manifestSchema = v.object({
  shared: v.array(v.object({ name: v.string(), assets: v.object({ js: files }) })),
});

/** What a build's own copy of a library weighs, as federation's manifest names its files; null where it names none. */
async function copyKib(store: Store, { id }: RemoteRecord, library: string): Promise<number | null> {
  const text = (await store.read(`${buildFolder(id)}/mf-manifest.json`))?.toString('utf8');
  const manifest = v.safeParse(manifestSchema, jsonOrNull(text ?? ''));
  if (!manifest.success) return null;
  const found = manifest.output.shared.find(({ name }) => name === library);
  const paths = found ? [...found.assets.js.sync, ...found.assets.js.async] : [];
  const sizes = paths.map(async (path) => (await store.read(`${buildFolder(id)}/${path}.br`))?.length ?? 0);
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  return bytes > 0 ? bytes / KIB : null;
}

const weight = (kib: number | null): string => (kib === null ? '' : ` (${kib.toFixed(1)} KiB br)`);
const carried = ({ description }: RemoteRecord, library: string): string => description.shared.provides[library] ?? '';
const allows = ({ description }: RemoteRecord, library: string, version: string): boolean =>
  semver.satisfies(version, description.shared.requires[library] ?? '*');

/** One copy of a library and the remotes that can run with it. */
interface Copy {
  carrier: RemoteRecord;
  users: RemoteRecord[];
}

/** The fewest copies that the page needs when each remote is open; highest versions first, as federation negotiates. */
function copiesOf(library: string, carriers: readonly RemoteRecord[]): Copy[] {
  const waiting = [...carriers].sort((a, b) => semver.rcompare(carried(a, library), carried(b, library)));
  const copies: Copy[] = [];
  for (let [carrier] = waiting; carrier; [carrier] = waiting) {
    const version = carried(carrier, library);
    const users = waiting.filter((each) => each === carrier || allows(each, library, version));
    copies.push({ carrier, users });
    for (const user of users) waiting.splice(waiting.indexOf(user), 1);
  }
  return copies;
}

/** Which libraries the remotes of a set share, which load more than once, and what each further copy costs. */
export async function sharingNotes({ store, host, remotes }: GateSubject): Promise<string[]> {
  const ofHost = host.description.shared.provides;
  const lines: string[] = [];
  const libraries = new Set(remotes.flatMap(({ description }) => Object.keys(description.shared.provides)));
  for (const library of libraries) {
    const carriers = remotes.filter((remote) => carried(remote, library));
    if (library in ofHost) {
      for (const carrier of carriers)
        lines.push(
          `${carrier.id} carries ${library} ${carried(carrier, library)}${weight(await copyKib(store, carrier, library))}, which never runs: the host's does; set import: false for it`,
        );
      continue;
    }
    if (carriers.length < 2) continue;
    const copies = copiesOf(library, carriers);
    const parts = copies.map(async ({ carrier, users }) => {
      const names = users.map(({ description }) => description.name).join(', ');
      return `${carried(carrier, library)} for ${names}${weight(await copyKib(store, carrier, library))}`;
    });
    const what = copies.length > 1 ? `${library} loads ${copies.length} times` : `${library} is shared`;
    lines.push(`${what}: ${(await Promise.all(parts)).join('; ')}`);
  }
  return lines;
}
