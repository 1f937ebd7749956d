import { originalPositionFor, TraceMap } from '@jridgewell/trace-mapping';
import { isFilePath } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { idOfFolder } from '../model/build.ts';
import { parseOrNull } from '../model/documents.ts';
import { cached, type Store } from '../store/store.ts';

// Source maps are stored in a folder of their own that is not served. They contain names and positions, never source text.

/** True for a map that is stored apart from its build. */
export const isSourceMap = (path: string): boolean => /\.m?js\.map$/.test(path) && isFilePath(path);

/** `builds/chat/1.4.0-3f9c1a7b20de` → `maps/chat/1.4.0-3f9c1a7b20de` */
export const mapsFolder = (buildFolder: string): string => buildFolder.replace(/^builds\//, 'maps/');

const mapSchema = v.object({
  version: v.literal(3),
  sources: v.array(v.unknown()),
  names: v.optional(v.array(v.unknown()), []),
  mappings: v.string(),
});

/** Reduces a map of version 3 to what is stored; null for any other file. */
export function toStoredMap(body: Buffer): string | null {
  const map = parseOrNull(mapSchema, body);
  return map && JSON.stringify(map);
}

export interface Place {
  /** `src/components/ChatLog.tsx` */
  source: string;
  line: number;
  /** Name of the function; null if the map has none. */
  name: string | null;
}

/** `webpack://@liaozhai/chat/src/ChatLog.tsx?1f2e` → `src/ChatLog.tsx` */
const plainSource = (source: string): string =>
  source
    .replace(/^[a-z-]+:\/\/(?:@[^/]+\/)?[^/]*\//, '')
    .replace(/^(?:\.{1,2}\/)+/, '')
    .replace(/\?[^/]*$/, '');

const MAX_MAPS = 40;

/** Resolves stack frames of builds to places in sources. Caches the maps that were read last. */
export class SourceMaps {
  readonly #store: Pick<Store, 'read'>;
  readonly #maps = new Map<string, Promise<TraceMap | null>>();

  constructor(store: Pick<Store, 'read'>) {
    this.#store = store;
  }

  /** Resolves a frame such as `chat/1.4.0-3f9c1a7b20de/static/js/chat.js:1:8123`; null if no map has it. */
  async place(frame: string): Promise<Place | null> {
    const [, file = '', line, column] = /^(.+):(\d+):(\d+)$/.exec(frame) ?? [];
    const [name = '', folder = '', ...path] = file.split('/');
    if (idOfFolder(name, folder) === null || !isFilePath(path.join('/'))) return null;
    const key = `maps/${file}.map`;
    const map = await cached(this.#maps, key, () => this.#read(key));
    for (const oldest of [...this.#maps.keys()].slice(0, -MAX_MAPS)) this.#maps.delete(oldest);
    // stacks count columns from one, maps from zero
    const position = map && originalPositionFor(map, { line: Number(line), column: Math.max(0, Number(column) - 1) });
    return position?.source ? { source: plainSource(position.source), line: position.line, name: position.name } : null;
  }

  async #read(key: string): Promise<TraceMap | null> {
    const text = (await this.#store.read(key))?.toString('utf8');
    return text === undefined ? null : new TraceMap(text);
  }
}
