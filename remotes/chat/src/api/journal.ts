import { drafts } from '@liaozhai/shared/runtime';
import type { Line } from '../model';

const KEY = 'chat.journal';

/*
 * The outbox is written in some milliseconds, and a page can be killed within them. So a line goes first, at once, into
 * the drafts, which follow their owner and go with them like the outbox itself.
 */

/** Writes down, before returning, which lines the outbox does not have yet. */
export function writeJournal(lines: Line[]): void {
  drafts.write(KEY, lines.length > 0 ? JSON.stringify(lines) : '');
  drafts.flush();
}

/** Lines that a killed page did not get into the outbox. */
export function readJournal(): Line[] {
  const text = drafts.read(KEY);
  if (text === '') return [];
  try {
    const lines: unknown = JSON.parse(text);
    return Array.isArray(lines) ? lines : [];
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return [];
  }
}
