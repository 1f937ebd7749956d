import { array, boolean, fallback, type InferOutput, number, object, optional, parse, string, tuple } from 'valibot';
import { STORAGE_KEYS } from '../../contract';
import { local, readJson } from './browserStorage';
import { currentOwner } from './owner';

const MAX_POSITIONS = 200;

const schema = fallback(array(tuple([string(), object({ messageId: string(), offset: number() })])), []);

const keyOf = (owner: string) => `${STORAGE_KEYS.positions}:${owner}`;
const readAll = (owner: string) => new Map(parse(schema, readJson(keyOf(owner))));
const writeAll = (owner: string, allPositions: ReturnType<typeof readAll>) =>
  local.set(keyOf(owner), JSON.stringify([...allPositions].slice(-MAX_POSITIONS)));

export interface Position {
  /** the row at the top edge */
  messageId: string;
  /** px of that row above the top edge */
  offset: number;
}

/** Scroll position of each conversation; the 200 latest are stored. */
export const positions = {
  read: (conversationId: string): Position | undefined => readAll(currentOwner()).get(conversationId),
  write(conversationId: string, { messageId, offset }: Position) {
    const allPositions = readAll(currentOwner());
    allPositions.delete(conversationId);
    writeAll(currentOwner(), allPositions.set(conversationId, { messageId, offset }));
  },
};

const recentSchema = fallback(
  array(
    object({
      id: string(),
      conversationId: string(),
      title: string(),
      coverUrl: string(),
      coverColor: optional(string()),
      /** last message, shortened to one line */
      lastLine: optional(string()),
      isUnread: optional(boolean()),
    }),
  ),
  [],
);

/** A story with a conversation of the user. */
export type RecentStory = InferOutput<typeof recentSchema>[number];

const recentKeyOf = (owner: string) => `${STORAGE_KEYS.recent}:${owner}`;

/** The user's stories, the one with the latest message first, for the first render before the server responds. */
export const recentStories = {
  read: (): RecentStory[] => parse(recentSchema, readJson(recentKeyOf(currentOwner()))),
  write(stories: RecentStory[]) {
    const key = recentKeyOf(currentOwner());
    if (stories.length > 0) local.set(key, JSON.stringify(stories));
    else local.remove(key);
  },
};

export function purgePositions(owner: string) {
  local.remove(keyOf(owner));
  local.remove(recentKeyOf(owner));
}

export function adoptPositions(from: string, to: string) {
  const sourcePositions = readAll(from);
  if (sourcePositions.size > 0) writeAll(to, new Map([...readAll(to), ...sourcePositions]));
  purgePositions(from);
}
