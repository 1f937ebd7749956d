import { dayKey } from '@liaozhai/shared/format';
import type { Line } from './pendingMessage';
import { keyOf, type Message } from './thread';

/** What stands in the chat from top to bottom. */
export interface Log {
  /** The story's opening comes first, once everything before is loaded. */
  hasOpening: boolean;
  messages: Message[];
  lines: Line[];
}

export type Row =
  | { kind: 'opening'; key: string }
  | { kind: 'message'; key: string; message: Message; startsDay: boolean }
  | { kind: 'line'; key: string; line: Line };

export const OPENING_KEY = 'opening';

export const rowCount = ({ hasOpening, messages, lines }: Log): number =>
  (hasOpening ? 1 : 0) + messages.length + lines.length;

/** What stands at an index, without what it takes to draw it; undefined for the opening. */
export function contentAt({ hasOpening, messages, lines }: Log, index: number): Message | Line | undefined {
  const place = hasOpening ? index - 1 : index;
  return messages[place] ?? lines[place - messages.length];
}

/** The row at an index; rows are made when they are looked at, since a log may have ten thousand. */
export function rowAt({ hasOpening, messages, lines }: Log, index: number): Row | undefined {
  const place = hasOpening ? index - 1 : index;
  if (place < 0) return { kind: 'opening', key: OPENING_KEY };
  const message = messages[place];
  if (message) return { kind: 'message', key: keyOf(message), message, startsDay: startsDay(messages, place) };
  const line = lines[place - messages.length];
  return line && { kind: 'line', key: line.clientId, line };
}

/** The key alone; an index beyond the end has none of its own. */
export function rowKeyAt({ hasOpening, messages, lines }: Log, index: number): string {
  const place = hasOpening ? index - 1 : index;
  if (place < 0) return OPENING_KEY;
  const message = messages[place];
  return message ? keyOf(message) : (lines[place - messages.length]?.clientId ?? `none-${index}`);
}

/** The index of a row, looked for from the end; -1 if it is not loaded. */
export function indexOfKey({ hasOpening, messages, lines }: Log, key: string): number {
  const offset = hasOpening ? 1 : 0;
  if (key === OPENING_KEY) return hasOpening ? 0 : -1;
  const line = lines.findIndex((each) => each.clientId === key);
  if (line >= 0) return offset + messages.length + line;
  const message = messages.findLastIndex((each) => keyOf(each) === key);
  return message < 0 ? -1 : offset + message;
}

function startsDay(messages: Message[], index: number): boolean {
  const [before, here] = [messages[index - 1], messages[index]];
  if (!here?.createdAt) return false;
  return !before?.createdAt || dayKey(before.createdAt) !== dayKey(here.createdAt);
}
