import type { ApiError, OutboxEntry } from '@liaozhai/shared/runtime';
import type { Message } from './thread';

/** What the reader has written and the server has not yet confirmed. */
export interface PendingMessage extends Omit<OutboxEntry, 'state' | 'error'> {
  state: 'waiting' | 'sending' | 'failed';
  error?: ApiError;
}

export function toOutboxEntry({ error, state, ...pending }: PendingMessage): OutboxEntry {
  // One that was on its way when the page was killed starts over as waiting.
  const stored: OutboxEntry = { ...pending, state: state === 'failed' ? 'failed' : 'waiting' };
  return error ? { ...stored, error: JSON.stringify(error) } : stored;
}

export const fromOutboxEntry = ({ error, ...entry }: OutboxEntry): PendingMessage => ({
  ...entry,
  error: error === undefined ? undefined : readError(error),
});

function readError(json: string): ApiError {
  try {
    const error: unknown = JSON.parse(json);
    if (typeof error === 'object' && error !== null && 'kind' in error) return error as ApiError;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  return { kind: 'server', status: 0 };
}

/** A story's pending messages that its thread does not show yet; the server puts new ones at the end. */
export function pendingOutside(storyId: string, messages: Message[], pending: PendingMessage[]): PendingMessage[] {
  const own = pending.filter((each) => each.storyId === storyId);
  if (own.length === 0) return none;
  return own.filter((each) => messages.findLastIndex((message) => message.clientId === each.clientId) < 0);
}

const none: PendingMessage[] = [];

/** Whether it is unknown what became of a request: then the server is asked before anything is sent again. */
export const isUncertain = (error: ApiError): boolean =>
  error.kind === 'timeout' ||
  error.kind === 'offline' ||
  error.kind === 'server' ||
  (error.kind === 'conflict' && risenPrice(error) === undefined);

/** What something costs by now, in points, where the server refused it because the reader was shown less. */
export const risenPrice = (error: ApiError | undefined): number | undefined =>
  error?.kind === 'conflict' ? error.price : undefined;

/** Whether a message failed because nothing came through at all; what timed out may have, and is the reader's to send again. */
export const wasCutOff = ({ state, error }: PendingMessage): boolean => state === 'failed' && error?.kind === 'offline';

/** Whether a message failed because nothing came back, be it that the network is dead or that the answer got lost. */
export const hadNoAnswer = ({ state, error }: PendingMessage): boolean =>
  state === 'failed' && (error?.kind === 'timeout' || error?.kind === 'offline');

/** A story's messages up to this one that failed and hold up what was written after them, oldest first. */
export const failedUpTo = ({ storyId, createdAt }: PendingMessage, pending: PendingMessage[]): PendingMessage[] =>
  pending.filter((each) => each.storyId === storyId && each.state === 'failed' && each.createdAt <= createdAt);

/**
 * What goes out when the reader sends a failed message again: it and what failed before it. A new price is accepted for all that waits in
 * the story.
 */
export function sentAgain(failed: PendingMessage, pending: PendingMessage[]): PendingMessage[] {
  const price = risenPrice(failed.error);
  if (price === undefined)
    return failedUpTo(failed, pending).map((each) => ({ ...each, state: 'waiting', error: undefined }));
  return pending
    .filter(({ storyId, state }) => storyId === failed.storyId && state !== 'sending')
    .map((each) => ({ ...each, state: 'waiting', error: undefined, price }));
}

/** A story's message that failed for want of points and what waits behind it: once there are points, all of them go. */
export function heldForPoints(storyId: string, pending: PendingMessage[]): PendingMessage[] {
  const own = pending.filter((each) => each.storyId === storyId);
  const first = own.findIndex(({ state }) => state === 'failed');
  return own[first]?.error?.kind === 'insufficientBalance' ? own.slice(first) : none;
}
