import type { Catalog } from '../builds/catalog.ts';
import { buildFileHeaders, isCompressed } from '../builds/publish.ts';
import { ReleaseError } from '../errors.ts';
import { idOfFolder } from '../model/build.ts';

/** Keeps the bodies used last, up to a number of bytes. */
class BodyCache {
  readonly #bodies = new Map<string, Buffer>();
  readonly #maximumBytes: number;
  #bytes = 0;

  constructor(maximumBytes: number) {
    this.#maximumBytes = maximumBytes;
  }

  get(key: string): Buffer | undefined {
    const body = this.#bodies.get(key);
    if (!body) return undefined;
    this.#bodies.delete(key);
    this.#bodies.set(key, body);
    return body;
  }

  set(key: string, body: Buffer): void {
    if (this.#bodies.has(key)) return;
    this.#bodies.set(key, body);
    this.#bytes += body.length;
    for (const [oldest, old] of this.#bodies) {
      if (this.#bytes <= this.#maximumBytes) return;
      this.#bodies.delete(oldest);
      this.#bytes -= old.length;
    }
  }
}

const BUILD_PATH = /^\/builds\/([a-z][a-z0-9-]*)\/([^/]+)\/(.+)$/;
const MEMORY_BYTES = 64 * 1024 * 1024;

export interface ServedFile {
  headers: Record<string, string>;
  body: Buffer;
}

const accepts = (header: string, encoding: string): boolean =>
  header.split(',').some((part) => {
    const [name, quality = ''] = part.split(';');
    return name?.trim() === encoding && !/q=0(?:\.0*)?$/.test(quality.trim());
  });

const encodingFor = (path: string, header: string): { suffix: string; name: string } | null => {
  if (!isCompressed(path)) return null;
  if (accepts(header, 'br')) return { suffix: '.br', name: 'br' };
  return accepts(header, 'gzip') ? { suffix: '.gz', name: 'gzip' } : null;
};

/** Serves files that a published build names, and nothing else of the store. */
export class BuildFiles {
  readonly #catalog: Catalog;
  readonly #bodies = new BodyCache(MEMORY_BYTES);

  constructor(catalog: Catalog) {
    this.#catalog = catalog;
  }

  /** The file at `/builds/…`, compressed as the visitor accepts it; null = there is none (404). */
  async file(pathname: string, acceptEncoding = ''): Promise<ServedFile | null> {
    const [, name = '', folder = '', path = ''] = BUILD_PATH.exec(pathname) ?? [];
    const id = idOfFolder(name, folder);
    const known = id && (await this.#integrity(id, path));
    if (!known) return null;
    const encoding = encodingFor(path, acceptEncoding);
    const body = await this.#body(`${pathname.slice(1)}${encoding?.suffix ?? ''}`);
    if (!body) return encoding ? this.file(pathname) : null;
    const etag = `"${known.slice(7, 39)}${encoding ? `-${encoding.name}` : ''}"`;
    const encoded: Record<string, string> = encoding ? { 'content-encoding': encoding.name } : {};
    return { headers: { ...buildFileHeaders(path), etag, ...encoded, 'content-length': String(body.length) }, body };
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

  async #body(key: string): Promise<Buffer | null> {
    const known = this.#bodies.get(key);
    if (known) return known;
    const body = await this.#catalog.store.read(key);
    if (body) this.#bodies.set(key, body);
    return body;
  }
}
