import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, refused, usage } from '../errors.ts';
import { newSigningKey, type SigningKey, signingKeyFrom } from '../signing.ts';
import { FileStore } from './fileStore.ts';
import type { Store } from './store.ts';

export const DEFAULT_STORE = '.data/releases';
const KEY_FILE = 'signing.pem';

/** A store together with the place its signing key is kept, which is never inside what is served. */
export interface OpenedStore {
  store: Store;
  /** The private key, or null where this machine may only read. */
  signingKey(): Promise<SigningKey | null>;
  /** The private key, made if there is none. */
  makeSigningKey(): Promise<SigningKey>;
}

async function readKey(file: string): Promise<SigningKey | null> {
  try {
    return signingKeyFrom(await readFile(file, 'utf8'));
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return null;
    throw cause;
  }
}

async function makeKey(folder: string): Promise<SigningKey> {
  const file = join(folder, KEY_FILE);
  const aside = `${file}.${randomUUID()}`;
  const key = newSigningKey();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  await writeFile(aside, key.privatePem, { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(aside, file);
    return key;
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause;
    return (await readKey(file)) ?? key;
  } finally {
    await unlink(aside);
  }
}

function withKeysIn(store: Store, folder: string): OpenedStore {
  const signingKey = () => readKey(join(folder, KEY_FILE));
  return { store, signingKey, makeSigningKey: async () => (await signingKey()) ?? makeKey(folder) };
}

/** Reading needs no key; whatever signs asks for one. */
const withoutKey = (store: Store): OpenedStore => ({
  store,
  signingKey: async () => null,
  makeSigningKey: async () => {
    throw usage('an S3 store needs RELEASES_KEYS', 'Name a private folder for the signing key, outside the bucket.');
  },
});

/**
 * Opens `file:<dir>` (or a plain folder) or `s3://bucket/prefix`. The signing key lies in the folder RELEASES_KEYS names, else in
 * `<dir>/keys`, for an S3 store nowhere. Throws usage.
 */
export async function openStore(url: string, environment: NodeJS.ProcessEnv = process.env): Promise<OpenedStore> {
  if (url.startsWith('s3://')) {
    const { openS3Store } = await import('./s3Store.ts');
    const store = openS3Store(url, environment);
    return environment.RELEASES_KEYS ? withKeysIn(store, environment.RELEASES_KEYS) : withoutKey(store);
  }
  if (/^https?:/.test(url))
    throw usage(
      `${url} is a console, not a store`,
      'This command needs the store itself: file:<dir> or s3://bucket/prefix.',
    );
  const folder = url.replace(/^file:(\/\/)?/, '');
  if (!folder) throw usage('--store is empty', 'Use file:<dir>, s3://bucket/prefix or https://console-host.');
  return withKeysIn(new FileStore(folder), environment.RELEASES_KEYS ?? join(folder, 'keys'));
}

/** The signing key. Throws refused where there is none. */
export async function requireKey(opened: OpenedStore): Promise<SigningKey> {
  const key = await opened.signingKey();
  if (key) return key;
  throw refused(
    `${opened.store.label} has no signing key here`,
    'Run `init` for a new store, or bring the key to this machine (`RELEASES_KEYS` names its folder).',
  );
}
