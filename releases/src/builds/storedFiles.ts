import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { Writer } from '../channel/writer.ts';
import { refused } from '../errors.ts';
import { type BuildRecord, buildFolder, isRemote, nameOf } from '../model/build.ts';
import { sha384Integrity } from '../model/signing.ts';
import { say } from '../sentences.ts';
import { inParallel, type Store } from '../store/store.ts';
import { resolveBuilds } from './catalog.ts';
import { isCompressed } from './publish.ts';

const PARALLEL_READS = 16;

const FORMS = [
  { suffix: '', unpack: async (body: Buffer) => body },
  { suffix: '.br', unpack: promisify(brotliDecompress) },
  { suffix: '.gz', unpack: promisify(gunzip) },
] as const;

type Form = (typeof FORMS)[number];

async function formProblem(store: Store, key: string, integrity: string, { suffix, unpack }: Form) {
  const body = await store.read(`${key}${suffix}`);
  if (!body) return say('storedMissing', { file: key + suffix });
  const unpackedBody = await unpack(body).catch(() => null);
  return unpackedBody && sha384Integrity(unpackedBody) === integrity
    ? null
    : say('storedChanged', { file: key + suffix });
}

/** Returns a line for each stored file, or compressed form, that is missing or differs from what was published. */
export async function storedProblems(store: Store, record: BuildRecord): Promise<string[]> {
  const pendingForms = Object.entries(record.files).flatMap(([path, { integrity }]) =>
    (isCompressed(path) ? FORMS : FORMS.slice(0, 1)).map((form) => ({ path, integrity, form })),
  );
  const problems: string[] = [];
  await inParallel(PARALLEL_READS, pendingForms, async ({ path, integrity, form }) => {
    const problem = await formProblem(store, `${buildFolder(record.id)}/${path}`, integrity, form);
    if (problem) problems.push(say('ofBuild', { build: record.id, problem }));
  });
  return problems.sort();
}

/** Throws refused unless every file of these builds is stored as it was published. */
export async function assertStored({ store, catalog }: Pick<Writer, 'store' | 'catalog'>, builds: readonly string[]) {
  const records = await catalog.records(builds);
  const problems = (await Promise.all(records.map((record) => storedProblems(store, record)))).flat();
  if (problems.length > 0) throw refused(say('damaged'), say('damagedCure'), problems);
}

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
