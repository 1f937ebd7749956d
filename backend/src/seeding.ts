import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { initialProgress, offeredLines, tellerOf } from './ai/progress.ts';
import { composeTurn } from './ai/turn.ts';
import { hashPassword, register } from './auth/accounts.ts';
import {
  conversationWith,
  createConversation,
  insertMessage,
  markAsRead,
  type NewMessage,
  saveConversation,
} from './chat/conversation.ts';
import { DAY_MS } from './clock.ts';
import type { StoryRow, UserRow } from './db/schema.ts';
import { ConfigError } from './env.ts';
import { defaultPrices } from './prices.ts';
import type { Services } from './services.ts';
import { findStory, publishStories, type Story } from './stories.ts';
import { findUser } from './users/user.ts';
import { book } from './wallet.ts';

/** Finds or registers the user, and tops up the balance through the ledger to at least these points. */
export async function seedUser(
  services: Services,
  { login, password, name, balance }: Record<'login' | 'password' | 'name', string> & { balance: number },
): Promise<UserRow> {
  const { db } = services;
  const existingUser = db.find('users', { login });
  const user = existingUser ?? (await register(services, { login, password, name, gender: null, invite_code: null }));
  const amount = balance - user.balance;
  const ref = { type: 'seed', id: randomUUID() };
  if (amount > 0)
    db.transaction(() => book(services, { userId: user.id, type: 'recharge', amount, description: '充值', ref }));
  return findUser(services, user.id);
}

/** Publishes the story folders unless a server did, whose prices may differ. */
function ensureStories(services: Services): void {
  if (!services.db.find('stories', { origin: 'folder' })) publishStories(services);
}

/** Returns `count` alternating messages of reader and storyteller after the seq `last`. */
function turnsAfter(story: Story, last: number, count: number): NewMessage[] {
  const teller = tellerOf(story, { name: '', persona: '' });
  let progress = initialProgress(teller.plot);
  let words = '';
  return Array.from({ length: count }, (_, index): NewMessage => {
    const seq = last + 1 + index;
    if (seq % 2) {
      const lines = offeredLines(teller.plot, progress);
      words = lines[seq % lines.length] ?? '';
      return { role: 'user', status: 'completed', body: words };
    }
    const progressBefore = JSON.stringify(progress);
    const turn = composeTurn(teller, progress, words);
    progress = turn.progress;
    return { role: 'assistant', status: 'completed', body: turn.text, progress: progressBefore };
  });
}

/** A longer transaction would make the writes of a running server fail. */
const MESSAGES_PER_TRANSACTION = 100;

/** Appends alternating messages to the user's conversation with a story. Returns the conversation's id. */
export function seedConversation(services: Services, userId: string, storyId: string, count: number): string {
  ensureStories(services);
  const story = findStory(services, storyId);
  const turns = turnsAfter(story, conversationWith(services, userId, story.id)?.last_seq ?? 0, count);
  const start = services.clock() - count * 1000;
  let id = '';
  for (let first = 0; first === 0 || first < count; first += MESSAGES_PER_TRANSACTION) {
    const part = turns.slice(first, first + MESSAGES_PER_TRANSACTION);
    id = appendTurns(services, userId, story.id, part, start + first * 1000);
  }
  return id;
}

function appendTurns(services: Services, userId: string, storyId: string, turns: NewMessage[], start: number): string {
  return services.db.transaction(() => {
    const conversation = conversationWith(services, userId, storyId) ?? createConversation(services, userId, storyId);
    for (const [index, turn] of turns.entries()) {
      const time = start + index * 1000;
      insertMessage(services, conversation, { ...turn, created_at: time, updated_at: time });
    }
    saveConversation(services, conversation);
    // seeded messages are not unread
    markAsRead(services, conversation, conversation.version);
    return conversation.id;
  });
}

const storiesSchema = v.array(
  v.object({
    id: v.pipe(v.string(), v.minLength(1)),
    title: v.string(),
    author: v.optional(v.string(), 'pu-songling'),
    summary: v.optional(v.string(), ''),
    opening: v.optional(v.string(), ''),
    tags: v.optional(v.array(v.string()), []),
    cover_url: v.optional(v.string(), '/api/media/covers/nie-xiaoqian.svg'),
    price: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), defaultPrices.storyPrices.short),
    characters: v.optional(
      v.array(v.object({ id: v.string(), name: v.string(), avatar: v.string(), intro: v.string() })),
      [],
    ),
  }),
);

function readJson(path: string): unknown {
  try {
    // editors on Windows write a byte order mark
    return JSON.parse(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new ConfigError(`${path}: ${(error as Error).message}; name a JSON file with a list of stories`);
  }
}

type SeededStory = Pick<StoryRow, 'id' | 'title' | 'cover_url' | 'price'>;

function storeStory({ db }: Services, { id, ...story }: SeededStory, content: object, time: number): void {
  const row = {
    ...story,
    content: JSON.stringify(content),
    origin: 'seed',
    created_at: time,
    updated_at: time,
  } as const;
  db.upsert('stories', { id }, row);
}

/** Adds the stories of a JSON file, in feed order. Returns their number. Throws `ConfigError`. */
export function seedStories(services: Services, path: string): number {
  const parsed = v.safeParse(storiesSchema, readJson(path));
  if (!parsed.success) {
    const faults = parsed.issues.map((issue) => `${path}: ${v.getDotPath(issue) ?? 'all of it'}: ${issue.message}`);
    throw new ConfigError(faults.join('\n'));
  }
  const now = services.clock();
  services.db.transaction(() => {
    for (const [index, { id, title, cover_url, price, author: authorId, ...rest }] of parsed.output.entries()) {
      const author = services.content.authors.get(authorId);
      if (!author) throw new ConfigError(`${path}: ${id}: author: content/authors.yaml has no ${authorId}; add it`);
      storeStory(services, { id, title, cover_url, price }, { ...rest, author }, now - index);
    }
  });
  return parsed.output.length;
}

export interface FillSize {
  stories: number;
  users: number;
  /** total, distributed evenly among the users; every second one is a paid reply */
  messages: number;
}

/** A user with more messages than 50 for each story has longer conversations. */
const MESSAGES_PER_CONVERSATION = 50;
const USERS_PER_TRANSACTION = 50;

/** Adds generated stories, users and messages with their ledger entries, for measurements with large tables. */
export async function fill(services: Services, size: FillSize): Promise<void> {
  ensureStories(services);
  const stories = fillStories(services, size.stories);
  const passwordHash = await hashPassword(services.db, '123456');
  const messagesPerUser = Math.ceil(size.messages / Math.max(1, size.users));
  for (let first = 0; first < size.users; first += USERS_PER_TRANSACTION)
    services.db.transaction(() => {
      for (let number = first; number < Math.min(size.users, first + USERS_PER_TRANSACTION); number += 1) {
        const remainingMessages = Math.max(0, size.messages - number * messagesPerUser);
        fillUser(services, passwordHash, stories, number, Math.min(messagesPerUser, remainingMessages));
      }
    });
}

/** Returns the ids of the new stories. */
function fillStories(services: Services, count: number): string[] {
  const [author] = services.content.authors.values();
  const { summary = '', tags = [], opening = '', characters = [], coverUrl = '' } = services.content.stories[0] ?? {};
  const runId = randomUUID().slice(0, 8);
  const ids = Array.from({ length: count }, (_, index) => `filled-${runId}-${index}`);
  services.db.transaction(() => {
    for (const [index, id] of ids.entries()) {
      const story = { id, title: `故事 ${index + 1}`, cover_url: coverUrl, price: defaultPrices.storyPrices.short };
      // older than the real stories, so that those stay on the first pages
      const time = services.clock() - (index + 1_000) * DAY_MS;
      storeStory(services, story, { summary, tags, author, opening, characters }, time);
    }
  });
  return ids;
}

function fillUser(services: Services, passwordHash: string, stories: string[], number: number, messages: number): void {
  const { db, clock } = services;
  const id = randomUUID();
  const now = clock();
  const tag = id.slice(0, 12).replace('-', '');
  const user = {
    id,
    login: `filled_${tag}`,
    is_email: 0,
    name: `读者${number + 1}`,
    persona: '',
    password_hash: passwordHash,
    balance: 0,
    invite_code: tag.toUpperCase(),
    check_in_streak: 0,
    version: 1,
    created_at: now,
  };
  db.insert('users', user);
  const entry = (type: 'recharge' | 'message', amount: number, ref: string) => ({
    id: randomUUID(),
    user_id: id,
    type,
    amount,
    balance_after: 0,
    description: '',
    ref_type: type,
    ref_id: ref,
    ref_key: ref,
    created_at: now,
  });
  db.insert('transactions', entry('recharge', messages, id));
  const length = Math.max(MESSAGES_PER_CONVERSATION, Math.ceil(messages / stories.length));
  for (let first = 0; first < messages; first += length) {
    const story = stories[(number + first / length) % stories.length];
    if (!story) return;
    const count = Math.min(length, messages - first);
    const turns = Array.from({ length: count }, (_, index): NewMessage => {
      const isReply = index % 2 === 1;
      const body = isReply ? '雨声渐密，檐下的灯晃了一晃，谁也没有先开口。' : '后来呢？';
      return { role: isReply ? 'assistant' : 'user', status: 'completed', body };
    });
    const conversation = appendTurns(services, id, story, turns, now);
    for (let seq = 2; seq <= count; seq += 2) db.insert('transactions', entry('message', -2, `${conversation}-${seq}`));
  }
}
