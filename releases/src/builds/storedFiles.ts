import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { Writer } from '../channel/writer.ts';
import { refused } from '../errors.ts';
import { type BuildRecord, buildFolder } from '../model/build.ts';
import { sha384Integrity } from '../model/signing.ts';
import { say } from '../sentences.ts';
import { inParallel, type Store } from '../store/store.ts';
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
