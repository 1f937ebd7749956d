import type { Catalog } from '../builds/catalog.ts';
import { buildFileHeaders, isCompressed } from '../builds/files.ts';
import { nullIfRefused } from '../errors.ts';
import { idOfFolder } from '../model/build.ts';

const MEMORY_BYTES = 64 * 1024 * 1024;

/** LRU cache of served files, limited by bytes. */
class FileCache {
  readonly #files = new Map<string, ServedFile>();
  #bytes = 0;

  get(key: string): ServedFile | undefined {
    const file = this.#files.get(key);
    if (!file) return undefined;
    this.#files.delete(key);
    this.#files.set(key, file);
    return file;
  }

  set(key: string, file: ServedFile): void {
    if (this.#files.has(key)) return;
    this.#files.set(key, file);
    this.#bytes += file.body.length;
    for (const [oldest, { body }] of this.#files) {
      if (this.#bytes <= MEMORY_BYTES) return;
      this.#files.delete(oldest);
      this.#bytes -= body.length;
    }
  }
}

const BUILD_PATH = /^\/builds\/([a-z][a-z0-9-]*)\/([^/]+)\/(.+)$/;

export interface ServedFile {
  headers: Record<string, string>;
  body: Buffer;
}

export type Encoding = 'br' | 'gzip' | 'identity';

const SUFFIXES = { br: '.br', gzip: '.gz', identity: '' };

/** Serves files of published builds, and nothing else in the store. */
export class BuildFiles {
  readonly #catalog: Catalog;
  readonly #cache = new FileCache();

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** Returns the file at `/builds/…`, in the wanted encoding if it is stored; null = 404. */
  async file(pathname: string, preferredEncoding: Encoding = 'identity'): Promise<ServedFile | null> {
    const [, name = '', folder = '', path = ''] = BUILD_PATH.exec(pathname) ?? [];
    const encoding = isCompressed(path) ? preferredEncoding : 'identity';
    // separate from the path: `a.js.br` is in the store, but is not a file of the build
    const key = `${encoding} ${pathname}`;
    const cachedFile = this.#cache.get(key);
    if (cachedFile) return cachedFile;
    const id = idOfFolder(name, folder);
    const integrity = id && (await this.#integrity(id, path));
    if (!integrity) return null;
    const body = await this.#catalog.store.read(`${pathname.slice(1)}${SUFFIXES[encoding]}`);
    if (!body) return encoding === 'identity' ? null : this.file(pathname);
    const isPlain = encoding === 'identity';
    const etag = `"${integrity.slice(7, 39)}${isPlain ? '' : `-${encoding}`}"`;
    const encodingHeader: Record<string, string> = isPlain ? {} : { 'content-encoding': encoding };
    const headers = { ...buildFileHeaders(path), etag, ...encodingHeader, 'content-length': String(body.length) };
    const file = { headers, body };
    this.#cache.set(key, file);
    return file;
  }

  async #integrity(id: string, path: string): Promise<string | null> {
    const record = await this.#catalog.record(id).catch(nullIfRefused);
    return record && Object.hasOwn(record.files, path) ? (record.files[path]?.integrity ?? null) : null;
  }
}
