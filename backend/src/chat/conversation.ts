import { randomUUID } from 'node:crypto';
import { isoTime } from '../clock.ts';
import { query } from '../db/database.ts';
import type { ConversationRow, MessageRow } from '../db/schema.ts';
import { conflict, notFound } from '../http/http.ts';
import { announceUser, notifyUser } from '../realtime/events.ts';
import type { Services } from '../services.ts';
import { findStory } from '../stories.ts';
import { userUpdate } from '../users/user.ts';

const EXCERPT_CHARACTERS = 80;

/** Loads a conversation of the user. Throws 404 if it is missing or belongs to somebody else. */
export function findConversation({ db }: Services, userId: string, id: string): ConversationRow {
  const row = db.find('conversations', { id, user_id: userId });
  if (!row) throw notFound('没有找到这段对话');
  return row;
}

export const conversationsOf = (userId: string) =>
  query.selectFrom('conversations').selectAll().where('user_id', '=', userId);

const runsQuery = (userId: string, storyId: string) =>
  conversationsOf(userId).where('story_id', '=', storyId).orderBy('run');

/** Returns all of a reader's runs of a story, in ascending order. */
export const runsOf = ({ db }: Services, userId: string, storyId: string): ConversationRow[] =>
  db.all(runsQuery(userId, storyId));

/** Returns the reader's current run of a story; undefined before the first and if all are shelved. */
export const conversationWith = ({ db }: Services, userId: string, storyId: string): ConversationRow | undefined =>
  db.first(runsQuery(userId, storyId).where('shelved', '=', 0));

/** Shelves a run, so that the next message starts a new one. A running reply is still written to the shelved run. */
export const shelve = (services: Services, row: ConversationRow): void => setShelved(services, row, 1);

/** Makes a shelved run the current one of its story. */
export function makeCurrent(services: Services, row: ConversationRow): void {
  const currentRun = conversationWith(services, row.user_id, row.story_id);
  if (currentRun?.id === row.id) return;
  if (currentRun) shelve(services, currentRun);
  setShelved(services, row, 0);
}

function setShelved(services: Services, row: ConversationRow, shelved: 0 | 1): void {
  if (row.shelved === shelved) return;
  row.shelved = shelved;
  services.db.update('conversations', { id: row.id }, { shelved });
  announceConversation(services, row);
}

/** Notifies the reader's devices of a change to the conversation that is not a message. */
export function announceConversation(services: Services, row: ConversationRow) {
  const conversation = presentConversation(services, row);
  notifyUser(services, row.user_id, 'conversation.updated', { conversation_id: row.id, conversation });
  return conversation;
}

export function createConversation(services: Services, userId: string, storyId: string): ConversationRow {
  const now = services.clock();
  const formerRuns = runsOf(services, userId, storyId);
  const row: ConversationRow = {
    id: randomUUID(),
    user_id: userId,
    story_id: storyId,
    version: 0,
    last_seq: 0,
    active_message_id: null,
    read_version: 0,
    pinned_at: null,
    summary: '',
    summary_seq: 0,
    run: (formerRuns.at(-1)?.run ?? 0) + 1,
    shelved: 0,
    created_at: now,
    updated_at: now,
  };
  services.db.insert('conversations', row);
  return row;
}

/** Stores the fields that change with messages: version, last seq and active message. */
export function saveConversation({ db, clock }: Services, row: ConversationRow): void {
  row.updated_at = clock();
  const { version, last_seq, active_message_id, updated_at } = row;
  const changes = { version, last_seq, active_message_id, updated_at };
  db.update('conversations', { id: row.id }, changes);
}

export type NewMessage = Pick<MessageRow, 'role' | 'status'> & Partial<MessageRow>;

/** Stores the conversation's next message. The caller saves the conversation. */
export function insertMessage({ db, clock }: Services, conversation: ConversationRow, fields: NewMessage): MessageRow {
  const now = clock();
  conversation.last_seq += 1;
  conversation.version += 1;
  const row: MessageRow = {
    id: randomUUID(),
    conversation_id: conversation.id,
    story_id: conversation.story_id,
    user_id: conversation.user_id,
    seq: conversation.last_seq,
    version: conversation.version,
    revision: 1,
    client_id: null,
    suggestion_id: null,
    body: '',
    error_code: null,
    error_message: null,
    cost: 0,
    variant: 1,
    variants: 1,
    runner: null,
    progress: null,
    created_at: now,
    updated_at: now,
    ...fields,
  };
  db.insert('messages', row);
  return row;
}

/** Deletes all messages after a seq and raises the conversation's version. The caller saves the conversation. */
export function deleteMessagesAfter({ db }: Services, conversation: ConversationRow, seq: number): void {
  db.run(query.deleteFrom('messages').where('conversation_id', '=', conversation.id).where('seq', '>', seq));
  // the summary may contain deleted messages
  const outdatedSummary = query
    .updateTable('conversations')
    .where('id', '=', conversation.id)
    .where('summary_seq', '>=', seq);
  db.run(outdatedSummary.set({ summary: '', summary_seq: 0 }));
  conversation.last_seq = seq;
  conversation.version += 1;
}

/** Marks the conversation as read up to a version, on all of the reader's devices. */
export function markAsRead({ db }: Services, row: ConversationRow, version: number): void {
  row.read_version = Math.max(row.read_version, Math.min(version, row.version));
  const { id, read_version } = row;
  const update = query.updateTable('conversations').set({ read_version }).where('id', '=', id);
  // another process may have stored a later version since the row was read
  db.run(update.where('read_version', '<', read_version));
}

/** Stores in how many conversations a reply is unread, and notifies the user's pages if the number has changed. */
export function updateUnreadConversations(services: Services, userId: string): void {
  const unreadCount = query
    .selectFrom('conversations')
    .innerJoin('messages', (join) =>
      join
        .onRef('messages.conversation_id', '=', 'conversations.id')
        .onRef('messages.seq', '=', 'conversations.last_seq'),
    )
    .where('conversations.user_id', '=', userId)
    // cheap check without the message, which excludes most conversations
    .whereRef('conversations.version', '>', 'conversations.read_version')
    .where('messages.role', '=', 'assistant')
    .where('messages.status', 'in', unreadStatuses)
    .whereRef('messages.version', '>', 'conversations.read_version')
    .select(({ fn }) => fn.countAll<number>().as('count'));
  const { count } = services.db.first(unreadCount) ?? { count: 0 };
  const update = userUpdate({ unread_conversations: count }).where('id', '=', userId);
  if (services.db.run(update.where('unread_conversations', '!=', count)) > 0) announceUser(services, userId);
}

/** Throws 409 while a reply of the conversation is being written. */
export function assertIdle(conversation: ConversationRow): void {
  if (conversation.active_message_id) throw conflict('conversation_busy', '上一条回复还在生成，请稍候');
}

export const messagesOf = (conversationId: string) =>
  query.selectFrom('messages').selectAll().where('conversation_id', '=', conversationId);

/** Selects a conversation's last message, or the last one that meets further conditions. */
export const newestMessageQuery = (conversationId: string) =>
  messagesOf(conversationId).orderBy('seq', 'desc').limit(1);

export const lastMessage = ({ db }: Services, conversationId: string): MessageRow | undefined =>
  db.first(newestMessageQuery(conversationId));

/** Returns the last message with text. A reply has none before its first piece. */
export const lastMessageWithText = ({ db }: Services, conversationId: string): MessageRow | undefined =>
  db.first(newestMessageQuery(conversationId).where('body', '!=', ''));

/** Returns the conversation in the shape of the API. */
export function presentConversation(services: Services, row: ConversationRow) {
  const { id, title, coverUrl: cover_url, coverColor: cover_color = null } = findStory(services, row.story_id);
  const last = lastMessage(services, row.id);
  const shownMessage = last?.body === '' ? lastMessageWithText(services, row.id) : last;
  return {
    id: row.id,
    story: { id, title, cover_url: cover_url || null, cover_color },
    last_message: shownMessage
      ? {
          id: shownMessage.id,
          role: shownMessage.role,
          excerpt: excerpt(shownMessage.body),
          created_at: isoTime(shownMessage.created_at),
        }
      : null,
    last_seq: row.last_seq,
    version: row.version,
    active_message_id: row.active_message_id,
    unread: isUnread(row, last),
    read_version: row.read_version,
    pinned_at: row.pinned_at === null ? null : isoTime(row.pinned_at),
    run: row.run,
    shelved: row.shelved === 1,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

/** Statuses of a reply that may be unread. `cancelled` is missing, since the reader saw what they stopped. */
const unreadStatuses: MessageRow['status'][] = ['completed', 'failed'];

/** Whether the last message is a finished reply that no device has shown. */
const isUnread = (row: ConversationRow, last: MessageRow | undefined): boolean =>
  last?.role === 'assistant' && unreadStatuses.includes(last.status) && last.version > row.read_version;

/** Returns the beginning of a text as one line without marks. */
export function excerpt(body: string): string {
  const line = [...body.replace(/\*/g, '').replace(/\s+/g, ' ').trim()];
  return line.length > EXCERPT_CHARACTERS ? `${line.slice(0, EXCERPT_CHARACTERS).join('')}…` : line.join('');
}
