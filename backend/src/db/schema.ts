import type { Generated, Insertable, Selectable } from 'kysely';

export type MessageRole = 'user' | 'assistant' | 'system';
export type MessageStatus = 'pending' | 'streaming' | 'completed' | 'failed' | 'cancelled';
export type SuggestionStatus = 'pending' | 'ready' | 'failed';
export type OrderStatus = 'created' | 'pending' | 'paid' | 'credited' | 'failed';
export type TicketKind = 'points' | 'story' | 'account' | 'other';
export type TransactionType =
  | 'recharge'
  | 'gift'
  | 'message'
  | 'continue'
  | 'suggestion'
  | 'check_in'
  | 'invite'
  | 'refund';

/** Times are milliseconds since 1970, points are whole numbers, JSON columns hold text. */
export interface Schema {
  users: UsersTable;
  sessions: SessionsTable;
  password_resets: PasswordResetsTable;
  stories: StoriesTable;
  conversations: ConversationsTable;
  messages: MessagesTable;
  message_variants: MessageVariantsTable;
  suggestions: SuggestionsTable;
  transactions: TransactionsTable;
  orders: OrdersTable;
  payment_events: PaymentEventsTable;
  sandbox_checkouts: SandboxCheckoutsTable;
  tickets: TicketsTable;
  check_ins: CheckInsTable;
  reports: ReportsTable;
  idempotency: IdempotencyTable;
  changes: ChangesTable;
  story_readers: StoryReadersTable;
  favorites: FavoritesTable;
  backends: BackendsTable;
  attempts: AttemptsTable;
}

/** What counts toward rate limits, on a Postgres that several backends share. */
interface AttemptsTable {
  position: Generated<number>;
  /** hashed */
  key: string;
  at: number;
}

/** The backends that share a Postgres. */
interface BackendsTable {
  id: string;
  alive_until: number;
}

/** How often a table was written to, by any program. */
interface ChangesTable {
  subject: 'stories';
  count: number;
}

/** How many readers have a conversation about a story. */
/** Stories that a reader saved. */
interface FavoritesTable {
  user_id: string;
  story_id: string;
  created_at: number;
}

interface StoryReadersTable {
  story_id: string;
  count: number;
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
  /** JSON: what came by invitations and no page has announced yet */
  gifts: Generated<string>;
  /** of support, not yet looked at */
  unread_answers: Generated<number>;
  unread_conversations: Generated<number>;
  email_verified_at: number | null;
  /** confirmed address of an account whose name is not an address */
  email: string | null;
  /** asked for, not yet confirmed */
  pending_email: string | null;
  pending_email_at: number | null;
  /** when the account is erased, unless its owner takes that back */
  delete_at: number | null;
  check_in_date: string | null;
  check_in_streak: number;
  /** JSON: 未成年人模式 while it is on */
  minor: string | null;
  /** the version of the terms that was agreed to; null where none was named */
  consent_version: string | null;
  consented_at: number | null;
  version: number;
  /** when and why an operator blocked the account */
  blocked_at: number | null;
  blocked_reason: string | null;
  created_at: number;
}

interface SessionsTable {
  token_hash: string;
  /** by which its owner names it */
  id: string;
  user_agent: string;
  last_used_at: number;
  user_id: string;
  created_at: number;
  expires_at: number;
}

/** The newest link of an account that forgot its password; used up it is gone. */
interface PasswordResetsTable {
  user_id: string;
  token_hash: string;
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
  /** by an operator: 1 or 0 */
  hidden: Generated<number>;
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
  /** up to which version the reader has seen it, on any device */
  read_version: Generated<number>;
  pinned_at: number | null;
  /** what a model remembers of the messages up to `summary_seq` */
  summary: Generated<string>;
  summary_seq: Generated<number>;
  /** which time, from 1, that the reader goes through the story */
  run: Generated<number>;
  /** 1: put aside for another run of the story, else 0 */
  shelved: Generated<number>;
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
  /** which of its texts, from 1, a retold reply shows */
  variant: Generated<number>;
  variants: Generated<number>;
  created_at: number;
  updated_at: number;
  /** the backend that writes it, or wrote it; null where there is but one */
  runner: string | null;
  /** JSON: how far the plot was before this reply; null until its writing begins */
  progress: string | null;
}

/** Texts that a reply had and can have again; the one it shows may be newer than what stands here. */
interface MessageVariantsTable {
  message_id: string;
  variant: number;
  /** the message's when this text was left; the highest was left last */
  revision: number;
  body: string;
  status: MessageStatus;
  error_code: string | null;
  error_message: string | null;
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
  /** the backend that writes it, or wrote it; null where there is but one */
  runner: string | null;
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

interface OrdersTable {
  /** what readers quote: the Shanghai day and eight more digits */
  id: string;
  user_id: string;
  client_id: string;
  package_id: string;
  points: number;
  price_cents: number;
  provider: string;
  /** the provider's name as it stands on the receipt */
  method: string;
  /** `expires_at` decides whether an order has run out of time */
  status: OrderStatus;
  checkout_url: string | null;
  created_at: number;
  expires_at: number;
  paid_at: number | null;
  credited_at: number | null;
}

/** Each webhook that was taken, with what it was answered. */
interface PaymentEventsTable {
  provider: string;
  event_id: string;
  order_id: string;
  answer: string;
  created_at: number;
}

/** The sandbox's own books, as a provider elsewhere would keep them. */
interface SandboxCheckoutsTable {
  token: string;
  order_id: string;
  points: number;
  price_cents: number;
  return_url: string;
  expires_at: number;
  outcome: 'paid' | 'failed' | null;
  delivered_at: number | null;
}

interface TicketsTable {
  /** what readers and support quote: the Shanghai day and six more digits */
  id: string;
  user_id: string;
  client_id: string;
  kind: TicketKind;
  body: string;
  contact: string;
  diagnostics: string;
  answer: string | null;
  answered_at: number | null;
  /** 1 once the user's pages were notified of the answer */
  announced: number;
  read_at: number | null;
  created_at: number;
}

interface CheckInsTable {
  user_id: string;
  date: string;
  streak: number;
  awarded: number;
}

/** What readers say of replies, with the reply as it was then; it stays when the conversation is deleted. */
interface ReportsTable {
  id: string;
  user_id: string;
  message_id: string;
  story_id: string;
  reason: string;
  words: string;
  body: string;
  created_at: number;
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
export type MessageVariantRow = Selectable<MessageVariantsTable>;
export type NewMessageRow = Insertable<MessagesTable>;
export type SuggestionRow = Selectable<SuggestionsTable>;
export type OrderRow = Selectable<OrdersTable>;
export type SandboxCheckoutRow = Selectable<SandboxCheckoutsTable>;
export type TicketRow = Selectable<TicketsTable>;
export type ReportRow = Selectable<ReportsTable>;
export type TransactionRow = Selectable<TransactionsTable>;
