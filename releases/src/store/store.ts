import { randomUUID } from 'node:crypto';
import { chmod, link, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conflict, hasCode, refused, usage } from '../errors.ts';
import { parseJson } from '../model/documents.ts';
import { isPublicKey, newSigningKey, type SigningKey, signingKeyFrom } from '../model/signing.ts';
import { FileStore, guardFolder, makeFolder } from './fileStore.ts';

/** Contents of a pointer, with the tag for `swapPointer`. */
export interface Pointer {
  body: string;
  tag: string;
}

export interface CreateOptions {
  contentType?: string;
  contentEncoding?: string;
}

export interface Entry {
  key: string;
  bytes: number;
  /** Time of writing, by the store's clock. */
  at: Date;
}

/**
 * Storage under slash-separated keys of two separate kinds: objects are written once, pointers are swapped. Every method throws
 * unreachable if the storage cannot be reached.
 */
export interface Store {
  /** Name of the store for people. */
  readonly label: string;
  read(key: string): Promise<Buffer | null>;
  /** Writes an object that must not exist yet, durably. `false` = it existed, nothing was written. */
  create(key: string, body: Uint8Array | string, options?: CreateOptions): Promise<boolean>;
  readPointer(key: string): Promise<Pointer | null>;
  /** Compare-and-swap: `tag` null = must not exist yet. `false` = another writer was faster, nothing was written. */
  swapPointer(key: string, body: string, tag: string | null): Promise<boolean>;
  /** Removes a pointer that still has this tag; it may be created again. `false` = another writer was faster, nothing was removed. */
  removePointer(key: string, tag: string): Promise<boolean>;
  /** Keys below the prefix, in order; `prefix` ends with a slash. */
  list(prefix: string): Promise<string[]>;
  /** Names directly below the prefix; folders end with a slash. */
  children(prefix: string): Promise<string[]>;
  /** Removes an object, not a pointer. For garbage collection. */
  remove(key: string): Promise<void>;
  /** Time of the store's own clock, with which writers' clocks are compared. */
  time(): Promise<Date>;
  /** The objects below the prefix with size and age; `prefix` ends with a slash. */
  entries(prefix: string): Promise<Entry[]>;
  /** Bytes that can still be written; null without a limit. */
  room(): Promise<number | null>;
  /** Removes remains of writes interrupted before the instant. Returns how many. */
  sweep(before: Date): Promise<number>;
}

/** Names directly below the prefix, of folders and of JSON files. */
export const namesBelow = async (store: Pick<Store, 'children'>, prefix: string): Promise<string[]> =>
  (await store.children(prefix)).map((child) => child.replace(/\/$|\.json$/, ''));

/** Processes the items, `limit` at a time. After a failure it begins no further one, and throws when those that run have ended. */
export async function inParallel<Item>(
  limit: number,
  items: readonly Item[],
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const remainingItems = [...items];
  const processNext = async () => {
    for (let next = remainingItems.shift(); next !== undefined; next = remainingItems.shift())
      await work(next).catch((cause) => {
        remainingItems.length = 0;
        throw cause;
      });
  };
  const ends = await Promise.allSettled(Array.from({ length: limit }, processNext));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}

/** Returns the promise of a key, made once; after a failure it is made again. */
export function cached<Key, Value>(
  cache: Map<Key, Promise<Value>>,
  key: Key,
  make: () => Promise<Value>,
): Promise<Value> {
  const promise = cache.get(key) ?? make();
  cache.set(key, promise);
  promise.catch(() => cache.delete(key));
  return promise;
}

/** Returns a setting that is present without a value, as a pipeline leaves an unset variable. It must not change what is done. */
export const blankSetting = (environment: NodeJS.ProcessEnv): string | undefined =>
  Object.keys(environment).find((name) => name.startsWith('RELEASES_') && !environment[name]?.trim());

/** Address of the store by the settings; `npm start` stores it in its data folder. */
export const storeFrom = ({ RELEASES_STORE, DATA_DIR }: { RELEASES_STORE?: string; DATA_DIR?: string }): string =>
  RELEASES_STORE || `file:${join(DATA_DIR || '.data', 'releases')}`;
export const DEFAULT_STORE = storeFrom({});

const KEY_FILE = 'signing.pem';

/** A store with access to its signing key, which is stored where nothing is served. */
export interface OpenedStore {
  store: Store;
  /** The private key; null if this machine may only read. */
  signingKey(): Promise<SigningKey | null>;
  /** The private key, created if missing. */
  makeSigningKey(): Promise<SigningKey>;
}

async function readKey(file: string): Promise<SigningKey | null> {
  try {
    return signingKeyFrom(await readFile(file, 'utf8'), file);
  } catch (cause) {
    if (hasCode(cause, 'ENOENT')) return null;
    throw cause;
  }
}

async function makeKey(folder: string): Promise<SigningKey> {
  const file = join(folder, KEY_FILE);
  const temporaryFile = `${file}.${randomUUID()}`;
  const key = newSigningKey();
  await makeFolder(folder);
  await chmod(folder, 0o700);
  await writeFile(temporaryFile, key.privatePem, { mode: 0o600, flag: 'wx', flush: true });
  try {
    await link(temporaryFile, file);
    return key;
  } catch (cause) {
    if (!hasCode(cause, 'EEXIST')) throw cause;
    return (await readKey(file)) ?? key;
  } finally {
    await unlink(temporaryFile);
  }
}

function withKeysIn(store: Store, folder: string): OpenedStore {
  const signingKey = () => guardFolder(`RELEASES_KEYS=${folder}`, () => readKey(join(folder, KEY_FILE)));
  const newKey = () => guardFolder(`RELEASES_KEYS=${folder}`, () => makeKey(folder));
  return { store, signingKey, makeSigningKey: async () => (await signingKey()) ?? newKey() };
}

/** Reading needs no key; signing does. */
const withoutKey = (store: Store): OpenedStore => ({
  store,
  signingKey: async () => null,
  makeSigningKey: async () => {
    throw usage('an S3 store needs RELEASES_KEYS', 'Name a private folder for the signing key, outside the bucket.');
  },
});

/**
 * Opens `file:<dir>` (or a plain folder) or `s3://bucket/prefix`. The signing key is in the folder RELEASES_KEYS, by default
 * `<dir>/keys`. An S3 store has no default. Throws usage.
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
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(folder))
    throw usage(`${url} is no kind of store`, 'Use file:<dir>, s3://bucket/prefix or https://console-host.');
  if (!folder) throw usage('--store is empty', 'Use file:<dir>, s3://bucket/prefix or https://console-host.');
  return withKeysIn(new FileStore(folder), environment.RELEASES_KEYS || join(folder, 'keys'));
}

/** Returns the signing key. Throws refused without one. */
export async function requireKey(opened: OpenedStore): Promise<SigningKey> {
  const key = await opened.signingKey();
  if (key) return key;
  throw refused(
    `${opened.store.label} has no signing key here`,
    'Run `init` for a new store, or bring the key to this machine (`RELEASES_KEYS` names its folder).',
  );
}

const UNSAFE_CURE =
  'Use a store that honours If-None-Match and If-Match (AWS S3, Ceph, MinIO, R2), or a local file system.';

/** Throws refused unless the store refuses the second of two conflicting writes, for new keys and for swaps. */
export async function probeStore(store: Store): Promise<void> {
  const id = randomUUID();
  const object = `probe/${id}.json`;
  const creates = await Promise.all([1, 2].map((n) => store.create(object, JSON.stringify({ n, id: randomUUID() }))));
  if (creates.filter(Boolean).length !== 1)
    throw refused(
      `${store.label} let ${creates.filter(Boolean).length} of two writers create the same key`,
      UNSAFE_CURE,
    );
  await store.remove(object);
  const pointer = `probe/pointer-${id}.json`;
  await store.swapPointer(pointer, JSON.stringify({ id: randomUUID() }), null);
  const first = await store.readPointer(pointer);
  if (!first) throw refused(`${store.label} lost a write it had confirmed`, UNSAFE_CURE);
  const swaps = await Promise.all(
    [1, 2].map(() => store.swapPointer(pointer, JSON.stringify({ id: randomUUID() }), first.tag)),
  );
  const lateSwap = await store.swapPointer(pointer, JSON.stringify({ id: randomUUID() }), first.tag);
  if (swaps.filter(Boolean).length !== 1 || lateSwap)
    throw refused(`${store.label} let two writers swap the same state: conditional writes are not kept`, UNSAFE_CURE);
}

const STORE_KEY = 'store.json';

/** Reads the store's public key, base64 SPKI; null if this is not a release store yet. */
export async function publicKeyOf(store: Store): Promise<string | null> {
  const source = await store.read(STORE_KEY);
  if (!source) return null;
  const cure = 'Restore it from a copy of the store.';
  const value = parseJson(source.toString('utf8'), `${STORE_KEY} of ${store.label}`, cure);
  const publicKey = value instanceof Object && 'publicKey' in value ? value.publicKey : null;
  if (typeof publicKey === 'string' && isPublicKey(publicKey)) return publicKey;
  throw refused(`${STORE_KEY} of ${store.label} holds no public key`, cure);
}

export async function requirePublicKey(store: Store): Promise<string> {
  const publicKey = await publicKeyOf(store);
  if (publicKey) return publicKey;
  throw refused(
    `${store.label} is not a release store`,
    'Make it with `pnpm release init`, or name another with --store or RELEASES_STORE (a console: https://…).',
  );
}

/** Prepares a store: tests conditional writes, loads or creates the signing key and records its public half. */
export async function prepareStore({ store, makeSigningKey, signingKey }: OpenedStore) {
  await probeStore(store);
  const publicKey = await publicKeyOf(store);
  const key = publicKey ? await signingKey() : await makeSigningKey();
  if (!key || (publicKey && publicKey !== key.publicKey))
    throw refused(
      `the signing key here is not the one of ${store.label}`,
      'Bring the right key to this machine, or use another store.',
    );
  await store.create(STORE_KEY, JSON.stringify({ format: 1, publicKey: key.publicKey }));
  if ((await requirePublicKey(store)) !== key.publicKey)
    throw conflict(`${store.label} was just made by someone else`, 'Use their signing key.');
  return key;
}
