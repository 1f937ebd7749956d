import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gunzip, gzip } from 'node:zlib';
import { lookup } from 'mrmime';
import type { Writer } from '../channel/writer.ts';
import { refused } from '../errors.ts';
import { type BuildRecord, buildFolder } from '../model/build.ts';
import { sha384Integrity } from '../model/signing.ts';
import { say } from '../sentences.ts';
import { inParallel, type Store } from '../store/store.ts';

/** Returns the media type that a build's file is served with; null if its ending is unknown. */
export function contentType(path: string): string | null {
  // by its last ending, mrmime takes it for a video
  const type = path.endsWith('.d.ts') ? 'text/plain' : lookup(path);
  if (!type) return null;
  return type.startsWith('text/') || type.endsWith('json') || type === 'image/svg+xml'
    ? `${type}; charset=utf-8`
    : type;
}

/** The headers every file of a build is served with; encodings are chosen per request. */
export function buildFileHeaders(path: string): Record<string, string> {
  const type = contentType(path) ?? 'application/octet-stream';
  return {
    'content-type': type,
    // opened as a document, its scripts would run in the product's origin without the gate's checks
    ...(/html|xml/.test(type) ? { 'content-security-policy': 'sandbox' } : {}),
    'cache-control': 'public, max-age=31536000, immutable',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    ...(isCompressed(path) ? { vary: 'Accept-Encoding' } : {}),
  };
}

const COMPRESSED = /\.(?:m?js|css|html|json|svg|txt|webmanifest)$/;

export const isCompressed = (path: string): boolean => COMPRESSED.test(path);

/** Largest file compressed at the best quality. Beyond it, the last percent costs seconds. */
const BEST_BROTLI_BYTES = 1024 * 1024;

interface Form {
  suffix: '' | '.br' | '.gz';
  contentEncoding?: 'br' | 'gzip';
  pack: (body: Buffer) => Promise<Buffer>;
  unpack: (body: Buffer) => Promise<Buffer>;
}

const brotli = (body: Buffer): Promise<Buffer> => {
  const quality = body.length > BEST_BROTLI_BYTES ? 9 : 11;
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length, [constants.BROTLI_PARAM_QUALITY]: quality };
  return promisify(brotliCompress)(body, { params });
};

const PLAIN: Form = { suffix: '', pack: async (body) => body, unpack: async (body) => body };
const FORMS: readonly Form[] = [
  PLAIN,
  { suffix: '.br', contentEncoding: 'br', pack: brotli, unpack: promisify(brotliDecompress) },
  {
    suffix: '.gz',
    contentEncoding: 'gzip',
    pack: (body) => promisify(gzip)(body, { level: 9 }),
    unpack: promisify(gunzip),
  },
];

export const formsOf = (path: string): readonly Form[] => (isCompressed(path) ? FORMS : [PLAIN]);

/** Upper bound of a file's stored bytes, including its compressed forms. */
export const storedBytesLimit = (path: string, body: Buffer): number => formsOf(path).length * body.length;

/** Writes a file of a build and its compressed forms. Returns whether it is new. */
export async function writeFile(store: Store, key: string, body: Buffer): Promise<boolean> {
  const type = contentType(key) ?? 'application/octet-stream';
  let isNew = false;
  for (const { suffix, contentEncoding, pack } of formsOf(key)) {
    const isCreated = await store.create(key + suffix, await pack(body), { contentType: type, contentEncoding });
    isNew ||= isCreated && suffix === '';
  }
  return isNew;
}

const PARALLEL_READS = 16;

/** Returns a line for each stored file, or compressed form, that is missing or differs from what was published. */
export async function storedProblems(store: Store, { id, files }: BuildRecord): Promise<string[]> {
  const pendingForms = Object.entries(files).flatMap(([path, { integrity }]) =>
    formsOf(path).map(({ suffix, unpack }) => ({ file: path + suffix, integrity, unpack })),
  );
  const problems: string[] = [];
  await inParallel(PARALLEL_READS, pendingForms, async ({ file, integrity, unpack }) => {
    const key = `${buildFolder(id)}/${file}`;
    const body = await store.read(key);
    const plainBody = body && (await unpack(body).catch(() => null));
    if (plainBody && sha384Integrity(plainBody) === integrity) return;
    const problem = say(body ? 'storedChanged' : 'storedMissing', { file: key });
    problems.push(say('ofBuild', { build: id, problem }));
  });
  return problems.sort();
}

/** Throws refused unless every file of these builds is stored as it was published. */
export async function assertStored({ store, catalog }: Pick<Writer, 'store' | 'catalog'>, builds: readonly string[]) {
  const records = await catalog.records(builds);
  const problems = (await Promise.all(records.map((record) => storedProblems(store, record)))).flat();
  if (problems.length > 0) throw refused(say('damaged'), say('damagedCure'), problems);
}
