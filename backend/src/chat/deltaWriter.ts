import { query } from '../db/database.ts';
import type { MessageRow } from '../db/schema.ts';
import { clean, codePoints } from '../http/input.ts';
import { tell } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';

/** Code points per event: even as PHP escapes them (12 bytes each) they stay below the frame's limit. */
const deltaCharacters = 600;

/** Stores a growing reply and tells its reader, at most once per interval. */
export class DeltaWriter {
  readonly #services: Services;
  readonly #row: MessageRow;
  #body: string;
  #length: number;
  #waiting = '';
  #lastFlush = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(services: Services, row: MessageRow) {
    this.#services = services;
    this.#row = row;
    this.#body = row.body;
    this.#length = codePoints(row.body);
  }

  get isFull(): boolean {
    return this.#length + codePoints(this.#waiting) >= rules.replyCharacters;
  }

  add(text: string): void {
    this.#waiting += text;
    this.#arm();
  }

  /** Writes out what waits; the first half of a surrogate pair goes on waiting for its second. When it throws, all of it does. */
  flush(): void {
    this.stop();
    const half = /[\ud800-\udbff]$/.exec(this.#waiting)?.[0] ?? '';
    const text = clean(this.#waiting.slice(0, this.#waiting.length - half.length));
    this.#lastFlush = Date.now();
    const body = this.#body + text;
    const stored = text !== '' && this.#store(body);
    this.#waiting = half;
    this.#body = body;
    if (stored) this.#announce([...text]);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    const waitMs = this.#lastFlush + rules.deltaIntervalMs - Date.now();
    this.#timer ??= setTimeout(() => this.#flushOrRetry(), Math.max(0, waitMs));
  }

  /** Nobody would catch what a timer throws, and a file locked by another process is free again later. */
  #flushOrRetry(): void {
    try {
      this.flush();
    } catch (error) {
      console.error(error);
      this.#lastFlush = Date.now();
      this.#arm();
    }
  }

  /** False when the message is gone or ended meanwhile. */
  #store(body: string): boolean {
    const { db, clock } = this.#services;
    const update = query
      .updateTable('messages')
      .set({ body, status: 'streaming', updated_at: clock() })
      .where('id', '=', this.#row.id)
      .where('status', 'in', ['pending', 'streaming']);
    return db.run(update) > 0;
  }

  #announce(characters: string[]): void {
    const { id: message_id, conversation_id, version, revision, user_id } = this.#row;
    for (let start = 0; start < characters.length; start += deltaCharacters) {
      const part = characters.slice(start, start + deltaCharacters);
      const delta = { message_id, conversation_id, version, revision, offset: this.#length, text: part.join('') };
      this.#length += part.length;
      tell(this.#services, user_id, 'message.delta', delta);
    }
  }
}
