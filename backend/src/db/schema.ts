import type { Generated, Insertable, Selectable } from 'kysely';

export type MessageRole = 'user' | 'assistant' | 'system';
export type MessageStatus = 'pending' | 'streaming' | 'completed' | 'failed' | 'cancelled';
export type SuggestionStatus = 'pending' | 'ready' | 'failed';
export type TransactionType = 'recharge' | 'message' | 'continue' | 'suggestion' | 'check_in' | 'invite' | 'refund';

/** Times are milliseconds since 1970, points are whole numbers, JSON columns hold text. */
export interface Schema {
  users: UsersTable;
  sessions: SessionsTable;
  stories: StoriesTable;
  conversations: ConversationsTable;
  messages: MessagesTable;
  suggestions: SuggestionsTable;
  transactions: TransactionsTable;
  check_ins: CheckInsTable;
  idempotency: IdempotencyTable;
}

interface UsersTable {
  id: string;
  login: string;
  is_email: number;
  name: string;
  avatar: string | null;
  gender: 'male' | 'female' | null;
  persona: string;
  password_hash: string;
  balance: number;
  invite_code: string;
  invited_by: string | null;
  email_verified_at: number | null;
  check_in_date: string | null;
  check_in_streak: number;
  version: number;
  created_at: number;
}

interface SessionsTable {
  token_hash: string;
  user_id: string;
  created_at: number;
  expires_at: number;
}

interface StoriesTable {
  id: string;
  title: string;
  cover_url: string;
  price: number;
  content: string;
  /** A withdrawn story had a folder: it is out of the feed, its conversations go on. */
  origin: 'folder' | 'seed' | 'withdrawn';
  created_at: number;
  updated_at: number;
}

interface ConversationsTable {
  id: string;
  user_id: string;
  story_id: string;
  version: number;
  last_seq: number;
  active_message_id: string | null;
  created_at: number;
  updated_at: number;
}

interface MessagesTable {
  id: string;
  conversation_id: string;
  story_id: string;
  user_id: string;
  seq: number;
  version: number;
  revision: number;
  client_id: string | null;
  suggestion_id: string | null;
  role: MessageRole;
  body: string;
  status: MessageStatus;
  error_code: string | null;
  error_message: string | null;
  cost: number;
  created_at: number;
  updated_at: number;
}

interface SuggestionsTable {
  id: string;
  conversation_id: string;
  user_id: string;
  base_version: number;
  count: number;
  status: SuggestionStatus;
  items: string;
  error_code: string | null;
  error_message: string | null;
  cost: number;
  created_at: number;
  expires_at: number;
}

interface TransactionsTable {
  position: Generated<number>;
  id: string;
  user_id: string;
  type: TransactionType;
  amount: number;
  balance_after: number;
  description: string;
  ref_type: string;
  ref_id: string;
  ref_key: string;
  created_at: number;
}

interface CheckInsTable {
  user_id: string;
  date: string;
  streak: number;
  awarded: number;
}

interface IdempotencyTable {
  user_id: string;
  method: string;
  path: string;
  key: string;
  request_hash: string;
  status: number;
  response: string;
  created_at: number;
}

export type UserRow = Selectable<UsersTable>;
export type StoryRow = Selectable<StoriesTable>;
export type ConversationRow = Selectable<ConversationsTable>;
export type MessageRow = Selectable<MessagesTable>;
export type NewMessageRow = Insertable<MessagesTable>;
export type SuggestionRow = Selectable<SuggestionsTable>;
export type TransactionRow = Selectable<TransactionsTable>;
