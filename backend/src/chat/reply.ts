import * as v from 'valibot';
import { StorytellerTimeout, withDeadlines } from '../ai/storyteller.ts';
import { query } from '../db/database.ts';
import type { MessageRow, UserRow } from '../db/schema.ts';
import { notFound } from '../http/httpError.ts';
import { clean, codePoints, wholeNumber } from '../http/input.ts';
import { announceMessage, tell } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { balanceOf, refund } from '../wallet.ts';
import { contextOf } from './context.ts';
import { saveConversation } from './conversation.ts';
import { isRunning, presentMessage } from './message.ts';
import { RunStopped } from './runs.ts';

const failures = {
  storyteller_failed: '说书人一时语塞，点数已退还，可续写',
  timeout: '等得太久，点数已退还，可续写',
  interrupted: '书写中断，点数已退还，可续写',
};
export type FailureCode = keyof typeof failures;

export const failureMessage = (code: FailureCode): string => failures[code];

export function failureCode(error: unknown): FailureCode {
  if (error instanceof StorytellerTimeout) return 'timeout';
  return error instanceof RunStopped ? 'interrupted' : 'storyteller_failed';
}

/** How a reply comes to its end. What fails is paid back; what its reader stops, only where nothing of it had come. */
export type Ending =
  | { status: 'completed' }
  | { status: 'failed'; code: FailureCode }
  | { status: 'cancelled'; isPaidFor: boolean };

/** Lets a pending reply be written once the surrounding transaction is on disk. */
export function startReply(services: Services, messageId: string): void {
  services.db.afterCommit(() => services.runs.start(messageId, (signal) => writeReply(services, messageId, signal)));
}

async function writeReply(services: Services, messageId: string, signal: AbortSignal): Promise<void> {
  const row = findMessage(services, messageId);
  if (!row) return;
  const { env, storyteller } = services;
  const writer = new DeltaWriter(services, row);
  const limits = { idleMs: env.STORYTELLER_IDLE_TIMEOUT_MS, totalMs: env.STORYTELLER_TOTAL_TIMEOUT_MS, signal };
  const hasGrown = () => findMessage(services, messageId)?.body !== row.body;
  try {
    const context = contextOf(services, row);
    for await (const piece of withDeadlines((stop) => storyteller.generate(context, { signal: stop }), limits)) {
      if ('text' in piece) writer.add(piece.text);
      if (writer.isFull) break;
    }
    writer.flush();
    endReply(services, messageId, hasGrown() ? { status: 'completed' } : failed('storyteller_failed'));
  } catch (error) {
    writer.flush();
    const isCancelled = error instanceof RunStopped && error.reason === 'cancelled';
    endReply(
      services,
      messageId,
      isCancelled ? { status: 'cancelled', isPaidFor: hasGrown() } : failed(failureCode(error)),
    );
  } finally {
    writer.stop();
  }
}

const failed = (code: FailureCode): Ending => ({ status: 'failed', code });

/** Ends a running reply, and gives its price back where it is not paid for, exactly once; nothing happens if it has ended already. */
export function endReply(services: Services, messageId: string, ending: Ending): void {
  const { db, clock } = services;
  db.transaction(() => {
    const row = findMessage(services, messageId);
    const conversation =
      row && db.first(query.selectFrom('conversations').selectAll().where('id', '=', row.conversation_id));
    if (!row || !conversation || !isRunning(row)) return;
    conversation.version += 1;
    conversation.active_message_id = null;
    saveConversation(services, conversation);
    const failure = ending.status === 'failed' ? ending.code : null;
    const isPaidFor = ending.status === 'completed' || (ending.status === 'cancelled' && ending.isPaidFor);
    const ended: MessageRow = {
      ...row,
      version: conversation.version,
      status: ending.status,
      error_code: failure,
      error_message: failure && failures[failure],
      cost: isPaidFor ? row.cost : row.cost - refundReply(services, row),
      updated_at: clock(),
    };
    db.run(query.updateTable('messages').set(ended).where('id', '=', row.id));
    announceMessage(services, failure ? 'message.failed' : 'message.completed', ended);
  });
}

export const cancelForm = v.object({ revision: v.nullish(wholeNumber(1)) });

/**
 * Stops a reply that is being written, in a revision if one is named, and keeps what has come of it. One that has ended
 * is answered as it is. Throws 404.
 */
export async function cancelReply(
  services: Services,
  user: UserRow,
  messageId: string,
  { revision }: v.InferOutput<typeof cancelForm>,
) {
  const row = findOwnMessage(services, user, messageId);
  if (isRunning(row) && (revision ?? row.revision) === row.revision) await services.runs.cancel(row.id);
  return {
    message: presentMessage(findOwnMessage(services, user, messageId)),
    balance: balanceOf(services, user.id),
  };
}

/** Gives back what the running revision of a reply cost; returns the points. */
export function refundReply(services: Services, row: MessageRow): number {
  return row.revision === 1
    ? refund(services, row.user_id, 'message', row.id)
    : refund(services, row.user_id, 'continue', `${row.id}:${row.revision}`);
}

export function findMessage({ db }: Services, id: string): MessageRow | undefined {
  return db.first(query.selectFrom('messages').selectAll().where('id', '=', id));
}

/** One's own message, whoever wrote it; throws 404, for another's as well. */
export function findOwnMessage(services: Services, user: UserRow, id: string): MessageRow {
  const row = findMessage(services, id);
  if (row?.user_id !== user.id) throw notFound('没有找到这条消息');
  return row;
}

/** Code points per event: even as PHP escapes them (12 bytes each) they stay below the frame's limit. */
const deltaCharacters = 600;

/** Stores a growing reply and tells its reader, at most once per interval. */
class DeltaWriter {
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
      this.#services.report(error, { message: this.#row.id });
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
