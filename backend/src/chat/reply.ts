import { inSpan } from '@liaozhai/telemetry/tracing';
import { upToSentence } from '../ai/smallText.ts';
import { StorytellerFault } from '../ai/storyteller.ts';
import { query, retryUntilAvailable } from '../db/database.ts';
import type { MessageRow, MessageVariantRow } from '../db/schema.ts';
import { cleanText, countCodePoints } from '../http/input.ts';
import { announceMessage, notifyUser } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { refund } from '../wallet.ts';
import { replyContext, summarizeIfNeeded, variantsOf } from './context.ts';
import { saveConversation, updateUnreadConversations } from './conversation.ts';
import { isRunning } from './presentMessage.ts';
import { GenerationStopped } from './runs.ts';

const failureTexts = {
  storyteller_failed: '这一段没能写成',
  timeout: '等得太久',
  interrupted: '回复中断',
  too_long: '这一段太长，先写到这里',
  filtered: '这一段没能通过审核',
};
const notRetoldText = '没能换一种说法，点数已退还，原来的还在';
export type FailureCode = keyof typeof failureTexts;

/** Returns the failure and what the reader can do. `hasText`: the reply has text that can be continued. */
export function failureMessage(code: FailureCode, hasText: boolean): string {
  const advice = hasText ? '可以续写' : code === 'filtered' ? '换句话再试试' : '可以再试一次';
  return `${failureTexts[code]}，点数已退还，${advice}`;
}

export function failureCode(error: unknown): FailureCode {
  if (error instanceof GenerationStopped) return 'interrupted';
  const kind = error instanceof StorytellerFault ? error.kind : 'failed';
  if (kind === 'length') return 'too_long';
  return kind === 'timeout' || kind === 'filtered' ? kind : 'storyteller_failed';
}

/** Outcome of a reply. A failed one is refunded; a cancelled one only if it had no text. */
export type ReplyOutcome = { status: 'completed' | 'cancelled' } | { status: 'failed'; code: FailureCode };

/** Starts writing a pending reply once the surrounding transaction is committed. */
export function startReply(services: Services, messageId: string): void {
  services.db.afterCommit(() =>
    services.generations.start(messageId, (signal) =>
      inSpan('reply', { 'liaozhai.message_id': messageId }, () => writeReply(services, messageId, signal)),
    ),
  );
}

async function writeReply(services: Services, messageId: string, signal: AbortSignal): Promise<void> {
  const row = findMessage(services, messageId);
  if (!row) return;
  const writer = new DeltaWriter(services, row);
  let outcome: ReplyOutcome = { status: 'completed' };
  try {
    for await (const piece of services.storyteller.generate(replyContext(services, row), { signal })) {
      if ('text' in piece) writer.add(piece.text);
      if ('restart' in piece) writer.restart();
      if (writer.isFull || writer.isOver) break;
    }
  } catch (error) {
    const isCancelled = error instanceof GenerationStopped && error.reason === 'cancelled';
    outcome = isCancelled ? { status: 'cancelled' } : failedOutcome(failureCode(error));
  }
  const isWhole = outcome.status === 'completed';
  const isCut = isWhole ? writer.isFull : 'code' in outcome && outcome.code === 'too_long';
  const end = () => {
    writer.flush();
    if (isCut) writer.endAtSentence();
    const isEmpty = isWhole && findMessage(services, messageId)?.body === row.body;
    endReply(services, row, isEmpty ? failedOutcome('storyteller_failed') : outcome);
  };
  try {
    await retryUntilAvailable(end, { signal });
  } finally {
    writer.stop();
  }
  if (isWhole) summarizeIfNeeded(services, row);
}

const failedOutcome = (code: FailureCode): ReplyOutcome => ({ status: 'failed', code });

/** Ends a running revision of a reply and refunds it if it is not paid for. Does nothing if it has already ended. */
export function endReply(services: Services, reply: Pick<MessageRow, 'id' | 'revision'>, outcome: ReplyOutcome): void {
  const { db, clock } = services;
  db.transaction(() => {
    const row = findMessage(services, reply.id);
    const conversation = row && db.find('conversations', { id: row.conversation_id });
    if (!row || !conversation || !isRunning(row) || row.revision !== reply.revision) return;
    conversation.version += 1;
    conversation.active_message_id = null;
    saveConversation(services, conversation);
    const failure = outcome.status === 'failed' ? outcome.code : null;
    // a streaming revision has received text
    const isPaidFor = outcome.status === 'completed' || (outcome.status === 'cancelled' && row.status === 'streaming');
    // the text that the reply showed before a revision without one
    const formerText = row.body === '' ? db.first(variantsOf(row.id).limit(1)) : undefined;
    const endedReply: MessageRow = {
      ...row,
      status: outcome.status,
      error_code: failure,
      error_message: failure && failureMessage(failure, row.body !== ''),
      ...(formerText && { ...textOf(formerText), variants: row.variants - 1 }),
      ...(formerText && failure && { status: 'failed', error_code: failure, error_message: notRetoldText }),
      version: conversation.version,
      cost: isPaidFor ? row.cost : row.cost - refundReply(services, row),
      updated_at: clock(),
    };
    db.update('messages', { id: row.id }, endedReply);
    const { counters } = services;
    db.afterCommit(() => counters?.replies.inc({ ending: failure ?? outcome.status }));
    announceMessage(services, failure ? 'message.failed' : 'message.completed', endedReply);
    updateUnreadConversations(services, row.user_id);
  });
}

/** Picks the fields of a message that belong to its shown text. */
export function textOf(row: Omit<MessageVariantRow, 'message_id' | 'revision'>) {
  const { variant, body, status, error_code, error_message } = row;
  return { variant, body, status, error_code, error_message };
}

/** Returns the idempotency key for booking a revision of a reply. The first revision uses the message id. */
export const bookingKey = ({ id, revision }: Pick<MessageRow, 'id' | 'revision'>): string =>
  revision === 1 ? id : `${id}:${revision}`;

/** Refunds the running revision of a reply, whether retold or continued. Returns the points. */
export function refundReply(services: Services, row: MessageRow): number {
  const key = bookingKey(row);
  return refund(services, row.user_id, 'message', key) + refund(services, row.user_id, 'continue', key);
}

export const findMessage = ({ db }: Services, id: string): MessageRow | undefined => db.find('messages', { id });

/** Code points per event. Even as PHP escapes them (12 bytes each) they stay below the frame's limit. */
const DELTA_CHARACTERS = 600;

/** Stores a growing reply and announces it, at most once per interval. */
class DeltaWriter {
  #body: string;
  /** length of the body, in code points */
  #length: number;
  #pendingText = '';
  #pendingLength = 0;
  #lastFlush = 0;
  /** Whether the reply was stopped or deleted through another backend. */
  isOver = false;
  /** Whether deltas are suppressed: pages can only append, so a restarted text is sent complete at its end. */
  #isSilent = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly services: Services,
    private readonly row: MessageRow,
  ) {
    this.#body = row.body;
    this.#length = countCodePoints(row.body);
  }

  get isFull(): boolean {
    return this.#length + this.#pendingLength >= rules.replyCharacters;
  }

  /** Appends the text up to the length limit of a reply. */
  add(text: string): void {
    const room = rules.replyCharacters - this.#length - this.#pendingLength;
    const addedText = text.length <= room ? text : [...text.slice(0, 2 * room)].slice(0, room).join('');
    this.#pendingText += addedText;
    this.#pendingLength += countCodePoints(addedText);
    this.#scheduleFlush();
  }

  /** Removes the text that this revision has written so far. */
  restart(): void {
    this.#pendingText = '';
    this.#pendingLength = 0;
    this.#body = this.row.body;
    this.#length = countCodePoints(this.#body);
    this.#isSilent = true;
    this.#store(this.#body);
  }

  /** Shortens a cut text to its last complete sentence. The end of the reply announces it. */
  endAtSentence(): void {
    const { body } = this.row;
    this.#body = body + upToSentence(this.#body.slice(body.length));
    this.#store(this.#body);
  }

  /** Stores the waiting text. If it throws, all of the text keeps waiting. */
  flush(): void {
    this.stop();
    const text = cleanText(this.#pendingText);
    this.#lastFlush = performance.now();
    const body = this.#body + text;
    const isStored = text !== '' && this.#store(body);
    this.#pendingText = '';
    this.#pendingLength = 0;
    this.#body = body;
    const start = this.#length;
    this.#length += countCodePoints(text);
    if (isStored && !this.#isSilent) this.#announce([...text], start);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #scheduleFlush(): void {
    const waitMs = this.#lastFlush + rules.deltaIntervalMs - performance.now();
    this.#timer ??= setTimeout(() => this.#flushOrRetry(), Math.max(0, waitMs));
  }

  /** Flushes from the timer, whose errors nobody catches. Retries, since another process may have locked the file. */
  #flushOrRetry(): void {
    try {
      this.flush();
    } catch (error) {
      this.services.report(error, { message: this.row.id });
      this.#lastFlush = performance.now();
      this.#scheduleFlush();
    }
  }

  /** Returns false if the message was deleted, ended or restarted in the meantime. */
  #store(body: string): boolean {
    const { db, clock } = this.services;
    // a revision whose text was withdrawn is not paid for
    const status = body === this.row.body ? 'pending' : 'streaming';
    const update = query
      .updateTable('messages')
      .set({ body, status, updated_at: clock() })
      .where('id', '=', this.row.id)
      .where('revision', '=', this.row.revision)
      .where('status', 'in', ['pending', 'streaming']);
    this.isOver = db.run(update) === 0;
    return !this.isOver;
  }

  #announce(characters: string[], offset: number): void {
    const { id: message_id, conversation_id, version, revision, user_id } = this.row;
    for (let start = 0; start < characters.length; start += DELTA_CHARACTERS) {
      const text = characters.slice(start, start + DELTA_CHARACTERS).join('');
      const delta = { message_id, conversation_id, version, revision, offset: offset + start, text };
      notifyUser(this.services, user_id, 'message.delta', delta);
    }
  }
}
