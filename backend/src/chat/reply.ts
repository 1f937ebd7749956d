import { inSpan } from '@liaozhai/telemetry/tracing';
import { upToSentence } from '../ai/smallText.ts';
import { StorytellerFault, StorytellerTimeout } from '../ai/storyteller.ts';
import { onceAvailable, query } from '../db/database.ts';
import type { MessageRow, MessageVariantRow } from '../db/schema.ts';
import { clean, codePoints } from '../http/input.ts';
import { announceMessage, tell } from '../realtime/events.ts';
import { rules } from '../rules.ts';
import type { Services } from '../services.ts';
import { refund } from '../wallet.ts';
import { replyContext } from './context.ts';
import { countUnread, saveConversation } from './conversation.ts';
import { isRunning } from './presentMessage.ts';
import { RunStopped } from './runs.ts';
import { summarizeIfNeeded } from './summary.ts';

const failures = {
  storyteller_failed: '这一段没能写成',
  timeout: '等得太久',
  interrupted: '回复中断',
  too_long: '这一段太长，先写到这里',
  filtered: '这一段没能通过审核',
};
const notRetold = '没能换一种说法，点数已退还，原来的还在';
export type FailureCode = keyof typeof failures;

/** What went wrong, and the way on: without a word there is nothing to continue. A filter may have refused the reader's. */
export function failureMessage(code: FailureCode, hasWords: boolean): string {
  const way = hasWords ? '可以续写' : code === 'filtered' ? '换句话再试试' : '可以再试一次';
  return `${failures[code]}，点数已退还，${way}`;
}

export function failureCode(error: unknown): FailureCode {
  if (error instanceof StorytellerTimeout) return 'timeout';
  if (error instanceof StorytellerFault && error.kind === 'length') return 'too_long';
  if (error instanceof StorytellerFault && error.kind === 'filtered') return 'filtered';
  return error instanceof RunStopped ? 'interrupted' : 'storyteller_failed';
}

/** How a reply comes to its end. What fails is paid back; what its reader stops, only where nothing of it had come. */
export type Ending = { status: 'completed' | 'cancelled' } | { status: 'failed'; code: FailureCode };

/** Lets a pending reply be written once the surrounding transaction is on disk. */
export function startReply(services: Services, messageId: string): void {
  services.db.afterCommit(() =>
    services.runs.start(messageId, (signal) =>
      inSpan('reply', { 'liaozhai.message_id': messageId }, () => writeReply(services, messageId, signal)),
    ),
  );
}

async function writeReply(services: Services, messageId: string, signal: AbortSignal): Promise<void> {
  const row = findMessage(services, messageId);
  if (!row) return;
  const writer = new DeltaWriter(services, row);
  const hasGrown = () => findMessage(services, messageId)?.body !== row.body;
  try {
    for await (const piece of services.storyteller.generate(replyContext(services, row), { signal })) {
      if ('text' in piece) writer.add(piece.text);
      if ('restart' in piece) writer.restart();
      if (writer.isFull || writer.isOver) break;
    }
    await onceAvailable(
      () => {
        writer.flush();
        if (writer.isFull) writer.endAtSentence();
        endReply(services, row, hasGrown() ? { status: 'completed' } : failed('storyteller_failed'));
      },
      { signal },
    );
    summarizeIfNeeded(services, row);
  } catch (error) {
    const isCancelled = error instanceof RunStopped && error.reason === 'cancelled';
    const code = failureCode(error);
    await onceAvailable(
      () => {
        writer.flush();
        if (code === 'too_long') writer.endAtSentence();
        endReply(services, row, isCancelled ? { status: 'cancelled' } : failed(code));
      },
      { signal },
    );
  } finally {
    writer.stop();
  }
}

const failed = (code: FailureCode): Ending => ({ status: 'failed', code });

/** Ends a running revision of a reply and refunds an unpaid price exactly once; does nothing if the revision has already ended. */
export function endReply(services: Services, running: Pick<MessageRow, 'id' | 'revision'>, ending: Ending): void {
  const { db, clock } = services;
  db.transaction(() => {
    const row = findMessage(services, running.id);
    const conversation =
      row && db.first(query.selectFrom('conversations').selectAll().where('id', '=', row.conversation_id));
    if (!row || !conversation || !isRunning(row) || row.revision !== running.revision) return;
    conversation.version += 1;
    conversation.active_message_id = null;
    saveConversation(services, conversation);
    const failure = ending.status === 'failed' ? ending.code : null;
    // what is streaming has words since this revision began
    const isPaidFor = ending.status === 'completed' || (ending.status === 'cancelled' && row.status === 'streaming');
    const former = row.body === '' ? formerVariant(services, row.id) : undefined;
    const ended: MessageRow = {
      ...row,
      status: ending.status,
      error_code: failure,
      error_message: failure && failureMessage(failure, row.body !== ''),
      ...(former && { ...textOf(former), variants: row.variants - 1 }),
      ...(former && failure && { status: 'failed', error_code: failure, error_message: notRetold }),
      version: conversation.version,
      cost: isPaidFor ? row.cost : row.cost - refundReply(services, row),
      updated_at: clock(),
    };
    db.run(query.updateTable('messages').set(ended).where('id', '=', row.id));
    const { counters } = services;
    db.afterCommit(() => counters?.replies.inc({ ending: failure ?? ending.status }));
    announceMessage(services, failure ? 'message.failed' : 'message.completed', ended);
    countUnread(services, row.user_id);
  });
}

/** What of a message belongs to the text that it shows. */
export const textOf = ({
  variant,
  body,
  status,
  error_code,
  error_message,
}: Omit<MessageVariantRow, 'message_id' | 'revision'>) => ({
  variant,
  body,
  status,
  error_code,
  error_message,
});

/** The text that a reply showed before its newest revision; undefined for a reply with one revision. */
const formerVariant = ({ db }: Services, messageId: string): MessageVariantRow | undefined =>
  db.first(
    query
      .selectFrom('message_variants')
      .selectAll()
      .where('message_id', '=', messageId)
      .orderBy('revision', 'desc')
      .limit(1),
  );

/** Under what a revision of a reply is booked; the first is the message's own. */
export const bookingKey = ({ id, revision }: Pick<MessageRow, 'id' | 'revision'>): string =>
  revision === 1 ? id : `${id}:${revision}`;

/** Refunds the running revision of a reply, whether retold or continued; returns the points. */
export function refundReply(services: Services, row: MessageRow): number {
  const key = bookingKey(row);
  return refund(services, row.user_id, 'message', key) + refund(services, row.user_id, 'continue', key);
}

export function findMessage({ db }: Services, id: string): MessageRow | undefined {
  return db.first(query.selectFrom('messages').selectAll().where('id', '=', id));
}

/** Code points per event: even as PHP escapes them (12 bytes each) they stay below the frame's limit. */
const DELTA_CHARACTERS = 600;

/** Stores a growing reply and announces it, at most once per interval. */
class DeltaWriter {
  readonly #services: Services;
  readonly #row: MessageRow;
  #body: string;
  /** of the body, in code points */
  #length: number;
  #waiting = '';
  #waitingLength = 0;
  #lastFlush = 0;
  #isOver = false;
  /** Pages take text only at the end of what they have; a text that was begun again reaches them whole, at its end. */
  #isSilent = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(services: Services, row: MessageRow) {
    this.#services = services;
    this.#row = row;
    this.#body = row.body;
    this.#length = codePoints(row.body);
  }

  get isFull(): boolean {
    return this.#length + this.#waitingLength >= rules.replyCharacters;
  }

  /** Somebody else has ended it: it was stopped, or taken away, through another backend. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Adds as much of a text as there is room for. */
  add(text: string): void {
    const room = rules.replyCharacters - this.#length - this.#waitingLength;
    const fitting = text.length <= room ? text : [...text.slice(0, 2 * room)].slice(0, room).join('');
    this.#waiting += fitting;
    this.#waitingLength += codePoints(fitting);
    this.#arm();
  }

  /** Takes back what this revision has written so far. */
  restart(): void {
    this.#waiting = '';
    this.#waitingLength = 0;
    this.#body = this.#row.body;
    this.#length = codePoints(this.#body);
    this.#isSilent = true;
    this.#store(this.#body);
  }

  /** Lets a text that was cut end with its last whole sentence; the end of the reply announces it. */
  endAtSentence(): void {
    const { body } = this.#row;
    this.#body = body + upToSentence(this.#body.slice(body.length));
    this.#store(this.#body);
  }

  /** Writes out what waits; the first half of a surrogate pair goes on waiting for its second. When it throws, all of it does. */
  flush(): void {
    this.stop();
    const half = /[\ud800-\udbff]$/.exec(this.#waiting)?.[0] ?? '';
    const text = clean(this.#waiting.slice(0, this.#waiting.length - half.length));
    this.#lastFlush = performance.now();
    const body = this.#body + text;
    const stored = text !== '' && this.#store(body);
    this.#waiting = half;
    this.#waitingLength = half.length;
    this.#body = body;
    const start = this.#length;
    this.#length += codePoints(text);
    if (stored && !this.#isSilent) this.#announce([...text], start);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #arm(): void {
    const waitMs = this.#lastFlush + rules.deltaIntervalMs - performance.now();
    this.#timer ??= setTimeout(() => this.#flushOrRetry(), Math.max(0, waitMs));
  }

  /** Nobody would catch what a timer throws, and a file locked by another process is free again later. */
  #flushOrRetry(): void {
    try {
      this.flush();
    } catch (error) {
      this.#services.report(error, { message: this.#row.id });
      this.#lastFlush = performance.now();
      this.#arm();
    }
  }

  /** False when the message was deleted, ended or restarted in the meantime. */
  #store(body: string): boolean {
    const { db, clock } = this.#services;
    const update = query
      .updateTable('messages')
      .set({ body, status: 'streaming', updated_at: clock() })
      .where('id', '=', this.#row.id)
      .where('revision', '=', this.#row.revision)
      .where('status', 'in', ['pending', 'streaming']);
    this.#isOver = db.run(update) === 0;
    return !this.#isOver;
  }

  #announce(characters: string[], offset: number): void {
    const { id: message_id, conversation_id, version, revision, user_id } = this.#row;
    for (let start = 0; start < characters.length; start += DELTA_CHARACTERS) {
      const text = characters.slice(start, start + DELTA_CHARACTERS).join('');
      const delta = { message_id, conversation_id, version, revision, offset: offset + start, text };
      tell(this.#services, user_id, 'message.delta', delta);
    }
  }
}
