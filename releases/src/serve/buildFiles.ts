import { encodingFor } from '@liaozhai/http/negotiation';
import type { Catalog } from '../builds/catalog.ts';
import { buildFileHeaders, isCompressed } from '../builds/publish.ts';
import { ReleaseError } from '../errors.ts';
import { idOfFolder } from '../model/build.ts';

/** Keeps the files served last, up to a number of bytes. */
class FileCache {
  readonly #files = new Map<string, ServedFile>();
  readonly #maximumBytes: number;
  #bytes = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

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
      if (this.#bytes <= this.#maximumBytes) return;
      this.#files.delete(oldest);
      this.#bytes -= body.length;
    }
  }
}

const BUILD_PATH = /^\/builds\/([a-z][a-z0-9-]*)\/([^/]+)\/(.+)$/;
const MEMORY_BYTES = 64 * 1024 * 1024;

export interface ServedFile {
  headers: Record<string, string>;
  body: Buffer;
}

type Stored = { suffix: string; name: string } | null;

const SUFFIXES = { br: '.br', gzip: '.gz', identity: null };

function storedFor(path: string, accept: string): Stored {
  if (!isCompressed(path)) return null;
  const name = encodingFor(accept);
  const suffix = SUFFIXES[name];
  return suffix === null ? null : { suffix, name };
}

/** The encoding stands apart: no build has a file `a.js.br`, though the store does. */
const cacheKey = (pathname: string, acceptEncoding: string): string =>
  `${storedFor(pathname, acceptEncoding)?.name ?? ''} ${pathname}`;

/** Serves files that a published build names, and nothing else of the store. */
export class BuildFiles {
  readonly #catalog: Catalog;
  readonly #served = new FileCache(MEMORY_BYTES);

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** The file at `/builds/…`, compressed as the visitor accepts it; null = there is none (404). */
  async file(pathname: string, acceptEncoding = ''): Promise<ServedFile | null> {
    const served = this.inMemory(pathname, acceptEncoding);
    if (served) return served;
    const [, name = '', folder = '', path = ''] = BUILD_PATH.exec(pathname) ?? [];
    const id = idOfFolder(name, folder);
    const known = id && (await this.#integrity(id, path));
    if (!known) return null;
    const encoding = storedFor(path, acceptEncoding);
    const body = await this.#catalog.store.read(`${pathname.slice(1)}${encoding?.suffix ?? ''}`);
    if (!body) return encoding ? this.file(pathname) : null;
    const etag = `"${known.slice(7, 39)}${encoding ? `-${encoding.name}` : ''}"`;
    const encoded: Record<string, string> = encoding ? { 'content-encoding': encoding.name } : {};
    const headers = { ...buildFileHeaders(path), etag, ...encoded, 'content-length': String(body.length) };
    const file = { headers, body };
    this.#served.set(cacheKey(pathname, acceptEncoding), file);
    return file;
  }

  /** The same without asking the store; undefined = it has to be asked. */
  inMemory(pathname: string, acceptEncoding = ''): ServedFile | undefined {
    return this.#served.get(cacheKey(pathname, acceptEncoding));
  }

  async #integrity(id: string, path: string): Promise<string | null> {
    try {
      const record = await this.#catalog.record(id);
      return Object.hasOwn(record.files, path) ? (record.files[path]?.integrity ?? null) : null;
    } catch (cause) {
      if (cause instanceof ReleaseError && cause.kind === 'refused') return null;
      throw cause;
    }
  }
}
