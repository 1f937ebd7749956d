import { dayKey } from '@liaozhai/shared/format';
import { keyOf, type Message } from './message';
import type { PendingMessage } from './pendingMessage';

/** Content of the chat from top to bottom. */
export interface Log {
  /** Whether the story's opening is the first row: only once all older messages are loaded. */
  hasOpening: boolean;
  messages: Message[];
  pending: PendingMessage[];
}

export type Row =
  | { kind: 'opening'; key: string }
  | { kind: 'message'; key: string; message: Message; startsDay: boolean }
  | { kind: 'pending'; key: string; pending: PendingMessage };

const OPENING_KEY = 'opening';

export const rowCount = ({ hasOpening, messages, pending }: Log): number =>
  (hasOpening ? 1 : 0) + messages.length + pending.length;

/** Returns the content at an index; undefined for the opening. */
export function contentAt({ hasOpening, messages, pending }: Log, index: number): Message | PendingMessage | undefined {
  const position = hasOpening ? index - 1 : index;
  return messages[position] ?? pending[position - messages.length];
}

/** Returns the row at an index. Rows are created on demand, since a log may have ten thousand. */
export function rowAt(log: Log, index: number): Row | undefined {
  const content = contentAt(log, index);
  const key = rowKeyAt(log, index);
  if (!content) return key === OPENING_KEY ? { kind: 'opening', key } : undefined;
  if ('state' in content) return { kind: 'pending', key, pending: content };
  return { kind: 'message', key, message: content, startsDay: startsDay(log, log.hasOpening ? index - 1 : index) };
}

/** Returns a row's key; an index past the end gets a placeholder. */
export function rowKeyAt(log: Log, index: number): string {
  const content = contentAt(log, index);
  if (!content) return log.hasOpening && index === 0 ? OPENING_KEY : `none-${index}`;
  return 'state' in content ? content.clientId : keyOf(content);
}

/** Searches from the end; -1 if the row is not loaded. */
export function indexOfKey({ hasOpening, messages, pending }: Log, key: string): number {
  const offset = hasOpening ? 1 : 0;
  if (key === OPENING_KEY) return hasOpening ? 0 : -1;
  const pendingIndex = pending.findIndex((each) => each.clientId === key);
  if (pendingIndex >= 0) return offset + messages.length + pendingIndex;
  const messageIndex = messages.findLastIndex((each) => keyOf(each) === key);
  return messageIndex < 0 ? -1 : offset + messageIndex;
}

/** Whether a day begins with this message; false for the first loaded one while older ones are not loaded. */
function startsDay({ hasOpening, messages }: Log, position: number): boolean {
  const [previousMessage, message] = [messages[position - 1], messages[position]];
  if (!message?.createdAt) return false;
  if (!previousMessage) return hasOpening;
  return !previousMessage.createdAt || dayKey(previousMessage.createdAt) !== dayKey(message.createdAt);
}
