import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { BuildRecord } from '../model/build.ts';
import { sha384Integrity } from '../model/hashing.ts';
import { buildFolder } from '../model/ids.ts';
import { isCompressed } from '../publish/contentType.ts';
import type { Store } from '../store/store.ts';
import type { GateCheck } from './gateCheck.ts';

const FORMS = [
  { suffix: '', unpack: async (body: Buffer) => body },
  { suffix: '.br', unpack: promisify(brotliDecompress) },
  { suffix: '.gz', unpack: promisify(gunzip) },
] as const;

type Form = (typeof FORMS)[number];

async function formProblem(
  store: Store,
  key: string,
  integrity: string,
  { suffix, unpack }: Form,
): Promise<string | null> {
  const body = await store.read(`${key}${suffix}`);
  if (!body) return `${key}${suffix} is missing`;
  const plain = await unpack(body).catch(() => null);
  return plain && sha384Integrity(plain) === integrity ? null : `${key}${suffix} is not what was published`;
}

async function problemsOf(store: Store, record: BuildRecord): Promise<string[]> {
  const problems: string[] = [];
  for (const [path, file] of Object.entries(record.files)) {
    const forms = isCompressed(path) ? FORMS : FORMS.slice(0, 1);
    for (const form of forms) {
      const problem = await formProblem(store, `${buildFolder(record.id)}/${path}`, file.integrity, form);
      if (problem) problems.push(`${record.id}: ${problem}; publish it again as a new version`);
    }
  }
  return problems;
}

/** Every stored file of the new builds, in each of its compressed forms, is what was published. */
export const storedFiles: GateCheck = {
  name: 'stored files',
  run: async ({ store, changed }) => (await Promise.all(changed.map((record) => problemsOf(store, record)))).flat(),
};
