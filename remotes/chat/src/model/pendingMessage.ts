import { type ApiError, isApiError, type OutboxEntry } from '@liaozhai/shared/runtime';
import type { Message } from './message';

/** A message that the server has not confirmed yet. */
export interface PendingMessage extends Omit<OutboxEntry, 'error'> {
  error?: ApiError;
}

export const toOutboxEntry = ({ error, ...pending }: PendingMessage): OutboxEntry => ({
  ...pending,
  ...(error && { error: JSON.stringify(error) }),
});

export const fromOutboxEntry = ({ error, ...entry }: OutboxEntry): PendingMessage => ({
  ...entry,
  error: error === undefined ? undefined : readError(error),
});

function readError(json: string): ApiError {
  try {
    const error: unknown = JSON.parse(json);
    // another build may have stored fewer fields
    if (isApiError(error)) return Object.assign({ fields: {} }, error);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  return { kind: 'server', status: 0 };
}

/** Returns a story's pending messages that its thread does not show yet; the server appends new ones at the end. */
export function pendingOutside(storyId: string, messages: Message[], pending: PendingMessage[]): PendingMessage[] {
  const storyMessages = pending.filter((each) => each.storyId === storyId);
  if (storyMessages.length === 0) return noMessages;
  return storyMessages.filter((each) => messages.findLastIndex((message) => message.clientId === each.clientId) < 0);
}

const noMessages: PendingMessage[] = [];

/** Whether the outcome of a request is unknown: then the server is queried before anything is sent again. */
export const isUncertain = (error: ApiError): boolean =>
  error.kind === 'timeout' ||
  error.kind === 'offline' ||
  error.kind === 'server' ||
  (error.kind === 'conflict' && risenPrice(error) === undefined);

/** The current price in points, if the server refused a purchase because the user was shown a lower one. */
export const risenPrice = (error: ApiError | undefined): number | undefined =>
  error?.kind === 'conflict' ? error.price : undefined;

/** Whether a message failed because the server was not reached. A timeout may have reached it, so the user decides on that. */
export const wasCutOff = ({ state, error }: PendingMessage): boolean => state === 'failed' && error?.kind === 'offline';

/** Whether a message failed without a response: the network was down, or the response was lost. */
export const hadNoResponse = ({ state, error }: PendingMessage): boolean =>
  state === 'failed' && (error?.kind === 'timeout' || error?.kind === 'offline');

/** Failed messages of a story up to this one, which block the messages after them, oldest first. */
export const failedUpTo = ({ storyId, createdAt }: PendingMessage, pending: PendingMessage[]): PendingMessage[] =>
  pending.filter((each) => each.storyId === storyId && each.state === 'failed' && each.createdAt <= createdAt);

/**
 * Messages to send when the user retries a failed one: it and the failed ones before it. Accepting a new price accepts it for
 * all waiting messages of the story.
 */
export function messagesToRetry(failed: PendingMessage, pending: PendingMessage[]): PendingMessage[] {
  const price = risenPrice(failed.error);
  if (price === undefined)
    return failedUpTo(failed, pending).map((each) => ({ ...each, state: 'waiting', error: undefined }));
  return pending
    .filter(({ storyId, state }) => storyId === failed.storyId && state !== 'sending')
    .map((each) => ({ ...each, state: 'waiting', error: undefined, price }));
}

/** A story's message that failed for lack of points and all messages after it. */
export function messagesLackingPoints(storyId: string, pending: PendingMessage[]): PendingMessage[] {
  const storyMessages = pending.filter((each) => each.storyId === storyId);
  const failedIndex = storyMessages.findIndex(({ state }) => state === 'failed');
  return storyMessages[failedIndex]?.error?.kind === 'insufficientBalance'
    ? storyMessages.slice(failedIndex)
    : noMessages;
}
