import { PENDING_LOG } from '@liaozhai/shared/contract';
import { drafts, type OutboxEntry, outboxStore } from '@liaozhai/shared/runtime';
import { type PendingMessage, toOutboxEntry } from '../model/pendingMessage';

/*
 * The outbox is written in some milliseconds, and a page can be killed within them. So a message goes first, synchronously, into the
 * drafts, which belong to their owner and are deleted with them like the outbox itself.
 */

/** Writes down, before returning, which messages the outbox does not have yet. */
export function writePendingLog(pending: PendingMessage[]): void {
  drafts.write(PENDING_LOG, pending.length > 0 ? JSON.stringify(pending) : '');
  drafts.flush();
}

/** The outbox has it. What a killed page or another tab wrote down stays. */
export const dropFromPendingLog = (id: string) =>
  writePendingLog(readPendingLog().filter(({ clientId }) => clientId !== id));

/** Messages that a killed page did not get into the outbox. */
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
 * Puts into the outbox what a killed page had only written down, dated after what is there: that was written before. What this page
 * is about to put there itself is left to it.
 */
export async function recoverPending(underWay: ReadonlyMap<string, unknown> = new Map()): Promise<void> {
  const lost = readPendingLog().filter(({ clientId }) => !underWay.has(clientId));
  if (lost.length === 0) return;
  const stored = await outboxStore.all();
  for (const pending of lost) {
    const isSame = ({ clientId }: { clientId: string }) => clientId === pending.clientId;
    // the log is another's by now, whose outbox must not get it
    if (!readPendingLog().some(isSame)) continue;
    if (!stored.some(isSame)) {
      const entry = toOutboxEntry(datedAfter(stored, pending));
      await outboxStore.put(entry);
      stored.push(entry);
    }
    dropFromPendingLog(pending.clientId);
  }
}

/** With a timestamp later than all `earlier` ones of its story, so that a clock set back cannot reorder them. */
export function datedAfter(
  earlier: readonly (PendingMessage | OutboxEntry)[],
  pending: PendingMessage,
): PendingMessage {
  const times = earlier.filter(({ storyId }) => storyId === pending.storyId).map(({ createdAt }) => createdAt + 1);
  return { ...pending, createdAt: Math.max(pending.createdAt, ...times) };
}
