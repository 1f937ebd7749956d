import { PENDING_LOG } from '@liaozhai/shared/contract';
import { drafts, type OutboxEntry, outboxStore } from '@liaozhai/shared/runtime';
import { type PendingMessage, toOutboxEntry } from '../model/pendingMessage';

/*
 * Writing to the outbox takes some milliseconds, and the page can be killed within them. So each message is first written
 * synchronously to the drafts, which belong to their owner and are deleted together with the outbox.
 */

/** Stores synchronously the messages that the outbox does not have yet. */
export function writePendingLog(pending: PendingMessage[]): void {
  drafts.write(PENDING_LOG, pending.length > 0 ? JSON.stringify(pending) : '');
  drafts.flush();
}

/** Removes a message that the outbox has stored. Entries of a killed page or of another tab stay. */
export const dropFromPendingLog = (id: string) =>
  writePendingLog(readPendingLog().filter(({ clientId }) => clientId !== id));

/** Returns messages that did not reach the outbox before their page was killed. */
export function readPendingLog(): PendingMessage[] {
  const text = drafts.read(PENDING_LOG);
  if (text === '') return [];
  try {
    const pending: unknown = JSON.parse(text);
    return Array.isArray(pending) ? pending : [];
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return [];
  }
}

/**
 * Moves messages of a killed page from the log to the outbox, with timestamps after those already stored, which were written
 * earlier. Skips messages that this page is storing itself (`unsaved`).
 */
export async function recoverPending(unsaved: ReadonlyMap<string, unknown> = new Map()): Promise<void> {
  const lostMessages = readPendingLog().filter(({ clientId }) => !unsaved.has(clientId));
  if (lostMessages.length === 0) return;
  const storedEntries = await outboxStore.all();
  for (const pending of lostMessages) {
    const isSame = ({ clientId }: { clientId: string }) => clientId === pending.clientId;
    // the log belongs to another user by now, whose outbox must not get the message
    if (!readPendingLog().some(isSame)) continue;
    if (!storedEntries.some(isSame)) {
      const entry = toOutboxEntry(withDateAfter(storedEntries, pending));
      await outboxStore.put(entry);
      storedEntries.push(entry);
    }
    dropFromPendingLog(pending.clientId);
  }
}

/** Returns the message with a timestamp later than all `earlier` ones of its story, so that a clock set back cannot reorder them. */
export function withDateAfter(
  earlier: readonly (PendingMessage | OutboxEntry)[],
  pending: PendingMessage,
): PendingMessage {
  const times = earlier.filter(({ storyId }) => storyId === pending.storyId).map(({ createdAt }) => createdAt + 1);
  return { ...pending, createdAt: Math.max(pending.createdAt, ...times) };
}
