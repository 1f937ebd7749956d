import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { composeReply, composeSuggestions } from './ai/builtIn.ts';
import type { Line } from './ai/storyteller.ts';
import { register } from './auth/accounts.ts';
import { conversationWith, createConversation, markAsRead, saveConversation } from './chat/conversation.ts';
import { query } from './db/database.ts';
import type { NewMessageRow, UserRow } from './db/schema.ts';
import { ConfigError } from './env.ts';
import { rules } from './rules.ts';
import type { Services } from './services.ts';
import { findStory, publishStories } from './stories.ts';
import { findUser } from './users/user.ts';
import { book } from './wallet.ts';

interface SeedUser {
  login: string;
  password: string;
  name: string;
  /** Points the user shall have at least. */
  balance: number;
}

/** The user of that login, made if missing, with its balance topped up through the ledger. */
export async function seedUser(services: Services, { login, password, name, balance }: SeedUser): Promise<UserRow> {
  const { db } = services;
  const known = db.first(query.selectFrom('users').selectAll().where('login', '=', login));
  const user = known ?? (await register(services, { login, password, name, gender: null, invite_code: null }));
  const missing = balance - user.balance;
  const id = randomUUID();
  if (missing > 0) {
    db.transaction(() =>
      book(services, {
        userId: user.id,
        type: 'recharge',
        amount: missing,
        description: '充值',
        ref: { type: 'seed', id },
        key: id,
      }),
    );
  }
  return findUser(services, user.id);
}

/** Appends messages, reader and speaker by turns, to the user's conversation with a story. Returns its id. */
export function seedConversation(services: Services, userId: string, storyId: string, count: number): string {
  const { db } = services;
  publishStories(services);
  const story = findStory(services, storyId);
  return db.transaction(() => {
    const conversation = conversationWith(services, userId, story.id) ?? createConversation(services, userId, story.id);
    const start = services.clock() - count * 1000;
    const history: Line[] = [];
    for (let index = 0; index < count; index += 1) {
      const seq = conversation.last_seq + 1;
      const turn = Math.ceil(seq / 2);
      const context = {
        story,
        reader: { name: '', persona: '' },
        history: history.slice(-6),
        offered: [],
        retold: [],
        continuing: false,
        turn,
        seed: `seed|${seq}`,
      };
      const role = seq % 2 ? 'user' : 'assistant';
      const body = role === 'user' ? (composeSuggestions(context, 1)[0] ?? '') : composeReply(context);
      history.push({ role, text: body });
      conversation.last_seq = seq;
      conversation.version += 1;
      const time = start + index * 1000;
      const row: NewMessageRow = {
        id: randomUUID(),
        conversation_id: conversation.id,
        story_id: story.id,
        user_id: userId,
        seq,
        version: conversation.version,
        revision: 1,
        client_id: null,
        suggestion_id: null,
        role,
        body,
        status: 'completed',
        error_code: null,
        error_message: null,
        cost: 0,
        created_at: time,
        updated_at: time,
      };
      db.run(query.insertInto('messages').values(row));
    }
    saveConversation(services, conversation);
    // written for trying things out, not news for anyone
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
    price: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0)), rules.storyPrices.short),
    characters: v.optional(
      v.array(v.object({ id: v.string(), name: v.string(), avatar: v.string(), intro: v.string() })),
      [],
    ),
  }),
);

/** Adds the stories of a JSON file, newest first in the feed. Returns how many; throws ConfigError. */
export function seedStories({ db, clock, content }: Services, path: string): number {
  const parsed = v.safeParse(storiesSchema, JSON.parse(readFileSync(path, 'utf8')));
  if (!parsed.success) {
    const faults = parsed.issues.map((issue) => `${path}: ${v.getDotPath(issue) ?? 'all of it'}: ${issue.message}`);
    throw new ConfigError(faults.join('\n'));
  }
  const stories = parsed.output;
  db.transaction(() => {
    for (const [index, { id, title, cover_url, price, author: authorId, ...rest }] of stories.entries()) {
      const author = content.authors.get(authorId);
      if (!author) throw new ConfigError(`${path}: ${id}: author: content/authors.yaml has no ${authorId}; add it`);
      const time = clock() - index;
      const row = {
        title,
        cover_url,
        price,
        content: JSON.stringify({ ...rest, author }),
        origin: 'seed' as const,
        created_at: time,
        updated_at: time,
      };
      db.run(
        query
          .insertInto('stories')
          .values({ id, ...row })
          .onConflict((conflict) => conflict.column('id').doUpdateSet(row)),
      );
    }
  });
  return stories.length;
}
