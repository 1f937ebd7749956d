/** Keeps the bodies used last, up to a number of bytes. */
export class BodyCache {
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
