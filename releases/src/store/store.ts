/** What a pointer held when it was read; the tag goes back into swapPointer. */
export interface Pointer {
  body: string;
  tag: string;
}

export interface CreateOptions {
  contentType?: string;
  contentEncoding?: string;
}

/**
 * A place for objects under slash-separated keys. Two kinds of keys that never mix: objects are written once, pointers are
 * swapped. Every method throws ReleaseError `unreachable` when the place cannot be reached.
 */
export interface Store {
  /** How a person would name this store. */
  readonly label: string;
  read(key: string): Promise<Buffer | null>;
  /** Writes an object that must not exist yet: durable when it returns. `false` = it existed, nothing was written. */
  create(key: string, body: Uint8Array | string, options?: CreateOptions): Promise<boolean>;
  readPointer(key: string): Promise<Pointer | null>;
  /** Compare-and-swap: `tag` null = must not exist yet. `false` = someone was faster, nothing was written. */
  swapPointer(key: string, body: string, tag: string | null): Promise<boolean>;
  /** Keys below the prefix, in order; `prefix` ends with a slash. */
  list(prefix: string): Promise<string[]>;
  /** The parts directly below the prefix, folders with a closing slash. */
  children(prefix: string): Promise<string[]>;
  /** For objects only: garbage collection. */
  remove(key: string): Promise<void>;
}
