import type { Writer } from '../channel/writer.ts';
import { refused } from '../errors.ts';
import { buildFolder, isRemote, nameOf } from '../model/build.ts';
import { sha384Integrity } from '../model/signing.ts';
import { resolveBuilds } from './catalog.ts';

/** Folder for types of exposed modules, written by Module Federation's plug-in and by our build kits. */
const TYPES_FOLDER = '@mf-types/';

export interface ExposedTypes {
  /** The build: `stories@1.4.2+3f9c1a7b20de` */
  id: string;
  /** Path below the remote's name → declaration: `Badge.d.ts` types the module `stories/Badge`. */
  files: Record<string, string>;
}

/** Reads the types of a remote's exposed modules. `word` is a build, or a name that stands for its build in `live`. Throws refused. */
export async function readTypes(
  { store, catalog }: Pick<Writer, 'store' | 'catalog'>,
  live: readonly string[],
  word: string,
): Promise<ExposedTypes> {
  const [id] = word.includes('@') ? await resolveBuilds(store, [word]) : live.filter((build) => nameOf(build) === word);
  if (!id)
    throw refused(`no build of "${word}" is live`, 'See what is live with `status`, or name a build: stories@1.4.2.');
  const record = await catalog.record(id);
  const typeFiles = Object.entries(record.files).filter(
    ([path]) => path.startsWith(TYPES_FOLDER) && path.endsWith('.d.ts'),
  );
  if (typeFiles.length === 0)
    throw refused(
      `${id} carries no types`,
      isRemote(record) && record.description.exposes.length > 1
        ? 'Its team needs a tsconfig.json and builds it again, as a guest with `dts: { generateTypes: { deleteTypesFolder: false } }`.'
        : 'It exposes nothing to other remotes: its team names modules in `exposes` of its build.',
    );
  const read = async ([path, { integrity }]: (typeof typeFiles)[number]) => {
    const body = await store.read(`${buildFolder(id)}/${path}`);
    if (!body || sha384Integrity(body) !== integrity)
      throw refused(`${path} of ${id} is not what was published`, 'Publish the build again as a new version.');
    return [path.slice(TYPES_FOLDER.length), body.toString('utf8')];
  };
  return { id, files: Object.fromEntries(await Promise.all(typeFiles.map(read))) };
}
