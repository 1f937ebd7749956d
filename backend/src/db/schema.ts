import {
  type Generated,
  type Insertable,
  type Kysely,
  type Migration,
  Migrator,
  PostgresAdapter,
  type Selectable,
  sql,
} from 'kysely';

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
  /** 1 once the pages of the user were told of the answer */
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

/** A statement that is the same everywhere once its types are translated, or one for each database. */
type Statement = string | { sqlite: string; postgres: string };

/** Has each row that is changed run a statement, in which it is `new` or `old`. */
function trigger(
  table: string,
  change: 'insert' | 'update' | 'delete',
  action: string,
  name = `${table}_${change}`,
): Statement {
  return {
    sqlite: `create trigger ${name} after ${change} on ${table} begin ${action}; end`,
    postgres: `
      create function ${name}() returns trigger language plpgsql as $$ begin ${action}; return null; end $$;
      create trigger ${name} after ${change} on ${table} for each row execute function ${name}()`,
  };
}

/**
 * The statement in Postgres's dialect. Times exceed its `integer`; text is ordered by bytes as in SQLite, independent of the server's
 * locale.
 */
export function forPostgres(statement: Statement): string {
  if (typeof statement !== 'string') return statement.postgres;
  return statement
    .replace(/\binteger primary key autoincrement\b/g, 'bigint generated always as identity primary key')
    .replace(/\binteger\b/g, 'bigint')
    .replace(/(?<=\w )text\b/g, 'text collate "C"')
    .replace(/\) without rowid$/, ')');
}

async function execute(db: Kysely<unknown>, statements: readonly Statement[]): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  const ofSqlite = (statement: Statement) => (typeof statement === 'string' ? statement : statement.sqlite);
  for (const statement of statements)
    await sql.raw(isPostgres ? forPostgres(statement) : ofSqlite(statement)).execute(db);
}

const statements = [
  `create table users (
    id text primary key, login text not null unique, is_email integer not null, name text not null, avatar text,
    gender text, persona text not null default '', password_hash text not null,
    balance integer not null default 0 check (balance >= 0), invite_code text not null unique, invited_by text,
    email_verified_at integer, check_in_date text, check_in_streak integer not null default 0,
    version integer not null default 1, created_at integer not null)`,
  `create table sessions (
    token_hash text primary key, user_id text not null references users(id) on delete cascade,
    created_at integer not null, expires_at integer not null)`,
  'create index sessions_by_user on sessions(user_id)',
  `create table stories (
    id text primary key, title text not null, cover_url text not null, price integer not null, content text not null,
    created_at integer not null, updated_at integer not null)`,
  'create index stories_by_time on stories(created_at desc, id desc)',
  'create index stories_by_update on stories(updated_at)',
  `create table conversations (
    id text primary key, user_id text not null references users(id) on delete cascade,
    story_id text not null references stories(id), version integer not null, last_seq integer not null,
    active_message_id text, created_at integer not null, updated_at integer not null, unique(user_id, story_id))`,
  'create index conversations_by_time on conversations(user_id, updated_at desc, id desc)',
  `create table messages (
    id text primary key, conversation_id text not null references conversations(id) on delete cascade,
    story_id text not null, user_id text not null, seq integer not null, version integer not null,
    revision integer not null, client_id text, suggestion_id text, role text not null, body text not null,
    status text not null, error_code text, error_message text, cost integer not null,
    created_at integer not null, updated_at integer not null,
    unique(conversation_id, seq), unique(user_id, client_id))`,
  'create index messages_by_version on messages(conversation_id, version)',
  "create index messages_running on messages(status) where status in ('pending', 'streaming')",
  `create table suggestions (
    id text primary key, conversation_id text not null references conversations(id) on delete cascade,
    user_id text not null, base_version integer not null, count integer not null, status text not null,
    items text not null, error_code text, error_message text, cost integer not null,
    created_at integer not null, expires_at integer not null)`,
  'create index suggestions_by_conversation on suggestions(conversation_id, status)',
  "create index suggestions_running on suggestions(status) where status = 'pending'",
  `create table transactions (
    position integer primary key autoincrement, id text not null unique,
    user_id text not null references users(id) on delete cascade, type text not null, amount integer not null,
    balance_after integer not null, description text not null, ref_type text not null, ref_id text not null,
    ref_key text not null, created_at integer not null, unique(user_id, type, ref_key))`,
  'create index transactions_by_user on transactions(user_id, position desc)',
  `create table check_ins (
    user_id text not null references users(id) on delete cascade, date text not null, streak integer not null,
    awarded integer not null, primary key (user_id, date))`,
  `create table idempotency (
    user_id text not null references users(id) on delete cascade, method text not null, path text not null,
    key text not null, request_hash text not null, status integer not null, response text not null,
    created_at integer not null, primary key (user_id, method, path, key))`,
  'create index idempotency_by_time on idempotency(created_at)',
];

/** What keeps each call as fast with a thousand times the rows. */
const atSize = [
  'create index sessions_by_end on sessions(expires_at)',
  'create index transactions_by_type on transactions(user_id, type, position desc)',
  // counting the stories to learn whether they changed would read all of them
  'create table changes (subject text primary key, count integer not null) without rowid',
  "insert into changes values ('stories', 0)",
  ...(['insert', 'update', 'delete'] as const).map((change) =>
    trigger('stories', change, "update changes set count = count + 1 where subject = 'stories'"),
  ),
];

/** What 最热 is ordered by; counted as conversations come and go, since counting them all for each look would take too long. */
const exploring = [
  'create table story_readers (story_id text primary key, count integer not null) without rowid',
  'create index story_readers_by_count on story_readers(count desc, story_id)',
  'insert into story_readers select story_id, count(*) from conversations group by story_id',
  trigger(
    'conversations',
    'insert',
    `insert into story_readers values (new.story_id, 1)
      on conflict(story_id) do update set count = story_readers.count + 1`,
    'story_readers_more',
  ),
  trigger(
    'conversations',
    'delete',
    'update story_readers set count = count - 1 where story_id = old.story_id',
    'story_readers_less',
  ),
];

const orders = [
  `create table orders (
    id text primary key, user_id text not null references users(id) on delete cascade, client_id text not null,
    package_id text not null, points integer not null, price_cents integer not null, provider text not null,
    method text not null, status text not null, checkout_url text, created_at integer not null,
    expires_at integer not null, paid_at integer, credited_at integer, unique(user_id, client_id))`,
  'create index orders_by_user on orders(user_id, created_at desc, id desc)',
  `create table payment_events (
    provider text not null, event_id text not null, order_id text not null, answer text not null,
    created_at integer not null, primary key (provider, event_id)) without rowid`,
  `create table sandbox_checkouts (
    token text primary key, order_id text not null unique references orders(id) on delete cascade,
    points integer not null, price_cents integer not null, return_url text not null, expires_at integer not null,
    outcome text, delivered_at integer)`,
  `create index sandbox_checkouts_undelivered on sandbox_checkouts(token)
    where outcome is not null and delivered_at is null`,
];

/** A retold reply keeps its former texts. */
const variants = [
  'alter table messages add column variant integer not null default 1',
  'alter table messages add column variants integer not null default 1',
  `create table message_variants (
    message_id text not null references messages(id) on delete cascade, variant integer not null,
    revision integer not null, body text not null, status text not null, error_code text, error_message text,
    primary key (message_id, variant))`,
];

const tickets = [
  `create table tickets (
    id text primary key, user_id text not null references users(id) on delete cascade, client_id text not null,
    kind text not null, body text not null, contact text not null, diagnostics text not null, answer text,
    answered_at integer, announced integer not null default 0, read_at integer, created_at integer not null,
    unique(user_id, client_id))`,
  'create index tickets_by_user on tickets(user_id, created_at desc, id desc)',
  'create index tickets_waiting on tickets(created_at) where answer is null',
  'create index tickets_unannounced on tickets(id) where answer is not null and announced = 0',
];

/** What a reader has seen, put first and reported; nothing that was there before is new. */
const reading = [
  'alter table conversations add column read_version integer not null default 0',
  'update conversations set read_version = version',
  'alter table conversations add column pinned_at integer',
  'create index conversations_pinned on conversations(user_id, pinned_at desc) where pinned_at is not null',
  `create table reports (
    id text primary key, user_id text not null references users(id) on delete cascade, message_id text not null,
    story_id text not null, reason text not null, words text not null, body text not null, created_at integer not null,
    unique(user_id, message_id))`,
];

/** An id for each session that began before sessions had one. */
const sessionIds: Statement = {
  sqlite: 'update sessions set id = lower(hex(randomblob(16))), last_used_at = created_at',
  postgres: "update sessions set id = replace(gen_random_uuid()::text, '-', ''), last_used_at = created_at",
};

const migrations = {
  '001_initial': statements,
  '002_story_origin': [
    "alter table stories add column origin text not null default 'seed'",
    // so far only a story of the product's own had a cover under its own name
    "update stories set origin = 'folder' where cover_url like '/api/media/covers/' || id || '.svg?v=%'",
  ],
  '003_at_size': atSize,
  '004_story_readers': exploring,
  '005_orders': orders,
  '006_password_resets': [
    `create table password_resets (
      user_id text primary key references users(id) on delete cascade, token_hash text not null,
      created_at integer not null, expires_at integer not null) without rowid`,
  ],
  '007_account_email': [
    'alter table users add column email text',
    'alter table users add column pending_email text',
    'alter table users add column pending_email_at integer',
    'create unique index users_by_email on users(email) where email is not null',
  ],
  '008_account_devices': [
    "alter table sessions add column id text not null default ''",
    "alter table sessions add column user_agent text not null default ''",
    'alter table sessions add column last_used_at integer not null default 0',
    sessionIds,
  ],
  '009_gifts': ["alter table users add column gifts text not null default '[]'"],
  '010_minor_mode': ['alter table users add column minor text'],
  '011_consent': [
    'alter table users add column consent_version text',
    'alter table users add column consented_at integer',
  ],
  '012_account_deletion': [
    'alter table users add column delete_at integer',
    'create index users_by_deletion on users(delete_at) where delete_at is not null',
  ],
  '013_regenerated_replies': variants,
  '014_tickets': tickets,
  '015_reading': reading,
  '016_unread_answers': [
    'alter table users add column unread_answers integer not null default 0',
    `update users set unread_answers =
      (select count(*) from tickets where user_id = users.id and answer is not null and read_at is null)`,
  ],
  '018_unread_conversations': [
    'alter table users add column unread_conversations integer not null default 0',
    `update users set unread_conversations =
      (select count(*) from conversations c join messages m on m.conversation_id = c.id and m.seq = c.last_seq
        where c.user_id = users.id and m.role = 'assistant' and m.status in ('completed', 'failed') and m.version > c.read_version)`,
  ],
  '019_backends': [
    'create table backends (id text primary key, alive_until integer not null) without rowid',
    'alter table messages add column runner text',
    'alter table suggestions add column runner text',
  ],
  '020_progress': ['alter table messages add column progress text'],
  '021_summaries': [
    "alter table conversations add column summary text not null default ''",
    'alter table conversations add column summary_seq integer not null default 0',
  ],
  '022_gift_is_no_recharge': ["update transactions set type = 'gift' where ref_type = 'registration'"],
  '023_operators': [
    'alter table users add column blocked_at integer',
    'alter table users add column blocked_reason text',
    'alter table stories add column hidden integer not null default 0',
  ],
  '024_shared_limits': [
    'create table attempts (position integer primary key autoincrement, key text not null, at integer not null)',
    'create index attempts_by_key on attempts(key, at)',
    'create index attempts_by_time on attempts(at)',
  ],
  '025_favorites': [
    `create table favorites (
      user_id text not null references users(id) on delete cascade, story_id text not null references stories(id),
      created_at integer not null, primary key (user_id, story_id)) without rowid`,
    'create index favorites_by_user on favorites(user_id, created_at desc, story_id desc)',
  ],
} satisfies Record<string, Statement[]>;

/** Names of all migrations of this version. */
export const knownMigrations = Object.keys(migrations);

/** Brings the database to the newest form; throws what stopped it. */
export async function migrateToLatest(db: Kysely<unknown>): Promise<void> {
  const provided = Object.entries<Statement[]>(migrations).map(([name, statements]): [string, Migration] => [
    name,
    { up: (database) => execute(database, statements) },
  ]);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => Object.fromEntries(provided) } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}
