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
    const waitMs = this.#lastFlush + rules.deltaIntervalMs - Date.now();
    this.#timer ??= setTimeout(() => this.flush(), Math.max(0, waitMs));
  }

  /** Writes out what waits; the first half of a surrogate pair goes on waiting for its second. */
  flush(): void {
    this.stop();
    const half = /[\ud800-\udbff]$/.exec(this.#waiting)?.[0] ?? '';
    const text = clean(this.#waiting.slice(0, this.#waiting.length - half.length));
    this.#waiting = half;
    if (!text) return;
    this.#lastFlush = Date.now();
    this.#body += text;
    if (this.#store()) this.#announce([...text]);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** False when the message is gone or ended meanwhile. */
  #store(): boolean {
    const { db, clock } = this.#services;
    const update = query
      .updateTable('messages')
      .set({ body: this.#body, status: 'streaming', updated_at: clock() })
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
