import { array, fallback, number, object, parse, string, tuple } from 'valibot';
import { STORAGE_KEYS } from '../../contract';
import { local, readJson } from './browserStorage';
import { currentOwner } from './owner';

const KEPT = 200;

const schema = fallback(array(tuple([string(), object({ messageId: string(), offset: number() })])), []);

const keyOf = (owner: string) => `${STORAGE_KEYS.positions}:${owner}`;
const readAll = (owner: string) => new Map(parse(schema, readJson(keyOf(owner))));
const writeAll = (owner: string, all: ReturnType<typeof readAll>) =>
  local.set(keyOf(owner), JSON.stringify([...all].slice(-KEPT)));

export interface Position {
  /** the row at the top edge */
  messageId: string;
  /** px of the row above the edge */
  offset: number;
}

/** Where each conversation was left; the 200 last left are kept. */
export const positions = {
  read: (conversationId: string): Position | undefined => readAll(currentOwner()).get(conversationId),
  write(conversationId: string, { messageId, offset }: Position) {
    const all = readAll(currentOwner());
    all.delete(conversationId);
    writeAll(currentOwner(), all.set(conversationId, { messageId, offset }));
  },
};

export const purgePositions = (owner: string) => local.remove(keyOf(owner));

export function adoptPositions(from: string, to: string) {
  const left = readAll(from);
  if (left.size > 0) writeAll(to, new Map([...readAll(to), ...left]));
  purgePositions(from);
}
