import { type Kysely, type Migration, Migrator, PostgresAdapter, sql } from 'kysely';
import { ConfigError } from '../env.ts';

/** A statement whose types are translated for Postgres, or one for each database. */
type Statement = string | Translated;

interface Translated {
  sqlite: string;
  postgres: string;
}

/** Statements for both databases, or separate steps for each. */
type Steps = readonly Statement[] | Record<keyof Translated, readonly string[]>;

/** Creates a trigger that runs a statement for each changed row, which is `new` or `old` in it. */
function trigger(
  table: string,
  change: 'insert' | 'update' | 'delete',
  action: string,
  name = `${table}_${change}`,
): Translated {
  return {
    sqlite: `create trigger ${name} after ${change} on ${table} begin ${action}; end`,
    postgres: `
      create function ${name}() returns trigger language plpgsql as $$ begin ${action}; return null; end $$;
      create trigger ${name} after ${change} on ${table} for each row execute function ${name}()`,
  };
}

/**
 * Translates a statement for Postgres. Times exceed its `integer`. Text is sorted by bytes, as in SQLite, regardless of
 * the server's locale.
 */
export function forPostgres(statement: Statement): string {
  if (typeof statement !== 'string') return statement.postgres;
  return statement
    .replace(/\binteger primary key autoincrement\b/g, 'bigint generated always as identity primary key')
    .replace(/\binteger\b/g, 'bigint')
    .replace(/(?<=\w )text\b/g, 'text collate "C"')
    .replace(/\) without rowid$/, ')');
}

async function execute(db: Kysely<unknown>, steps: Steps): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  const statements = 'sqlite' in steps ? steps[isPostgres ? 'postgres' : 'sqlite'] : steps;
  for (const statement of statements) {
    const ofSqlite = typeof statement === 'string' ? statement : statement.sqlite;
    await sql.raw(isPostgres ? forPostgres(statement) : ofSqlite).execute(db);
  }
}

const conversationsByTime = 'create index conversations_by_time on conversations(user_id, updated_at desc, id desc)';
const conversationsPinned =
  'create index conversations_pinned on conversations(user_id, pinned_at desc) where pinned_at is not null';

/** The schema of version 1.0.0. */
const initialStatements = [
  `create table users (
    id text primary key, login text not null unique, is_email integer not null, name text not null, avatar text,
    gender text, persona text not null default '', password_hash text not null,
    balance integer not null default 0 check (balance >= 0), invite_code text not null unique, invited_by text,
    email_verified_at integer, check_in_date text, check_in_streak integer not null default 0,
    version integer not null default 1, created_at integer not null, email text, pending_email text,
    pending_email_at integer, gifts text not null default '[]', minor text, consent_version text, consented_at integer,
    delete_at integer, unread_answers integer not null default 0, unread_conversations integer not null default 0)`,
  'create unique index users_by_email on users(email) where email is not null',
  'create index users_by_deletion on users(delete_at) where delete_at is not null',
  `create table sessions (
    token_hash text primary key, user_id text not null references users(id) on delete cascade,
    created_at integer not null, expires_at integer not null, id text not null default '',
    user_agent text not null default '', last_used_at integer not null default 0)`,
  'create index sessions_by_user on sessions(user_id)',
  'create index sessions_by_end on sessions(expires_at)',
  `create table password_resets (
    user_id text primary key references users(id) on delete cascade, token_hash text not null,
    created_at integer not null, expires_at integer not null) without rowid`,
  `create table stories (
    id text primary key, title text not null, cover_url text not null, price integer not null, content text not null,
    created_at integer not null, updated_at integer not null, origin text not null default 'seed')`,
  'create index stories_by_time on stories(created_at desc, id desc)',
  'create index stories_by_update on stories(updated_at)',
  // detects changes of the stories without a scan of the table
  'create table changes (subject text primary key, count integer not null) without rowid',
  "insert into changes values ('stories', 0)",
  ...(['insert', 'update', 'delete'] as const).map((change) =>
    trigger('stories', change, "update changes set count = count + 1 where subject = 'stories'"),
  ),
  `create table conversations (
    id text primary key, user_id text not null references users(id) on delete cascade,
    story_id text not null references stories(id), version integer not null, last_seq integer not null,
    active_message_id text, created_at integer not null, updated_at integer not null,
    read_version integer not null default 0, pinned_at integer, unique(user_id, story_id))`,
  conversationsByTime,
  conversationsPinned,
  // for sorting by 最热, updated with each conversation since 027, since counting on each request would be slow
  'create table story_readers (story_id text primary key, count integer not null) without rowid',
  'create index story_readers_by_count on story_readers(count desc, story_id)',
  `create table messages (
    id text primary key, conversation_id text not null references conversations(id) on delete cascade,
    story_id text not null, user_id text not null, seq integer not null, version integer not null,
    revision integer not null, client_id text, suggestion_id text, role text not null, body text not null,
    status text not null, error_code text, error_message text, cost integer not null,
    created_at integer not null, updated_at integer not null, variant integer not null default 1,
    variants integer not null default 1, runner text, unique(conversation_id, seq), unique(user_id, client_id))`,
  'create index messages_by_version on messages(conversation_id, version)',
  "create index messages_running on messages(status) where status in ('pending', 'streaming')",
  `create table message_variants (
    message_id text not null references messages(id) on delete cascade, variant integer not null,
    revision integer not null, body text not null, status text not null, error_code text, error_message text,
    primary key (message_id, variant))`,
  `create table suggestions (
    id text primary key, conversation_id text not null references conversations(id) on delete cascade,
    user_id text not null, base_version integer not null, count integer not null, status text not null,
    items text not null, error_code text, error_message text, cost integer not null,
    created_at integer not null, expires_at integer not null, runner text)`,
  'create index suggestions_by_conversation on suggestions(conversation_id, status)',
  "create index suggestions_running on suggestions(status) where status = 'pending'",
  `create table transactions (
    position integer primary key autoincrement, id text not null unique,
    user_id text not null references users(id) on delete cascade, type text not null, amount integer not null,
    balance_after integer not null, description text not null, ref_type text not null, ref_id text not null,
    ref_key text not null, created_at integer not null, unique(user_id, type, ref_key))`,
  'create index transactions_by_user on transactions(user_id, position desc)',
  'create index transactions_by_type on transactions(user_id, type, position desc)',
  `create table check_ins (
    user_id text not null references users(id) on delete cascade, date text not null, streak integer not null,
    awarded integer not null, primary key (user_id, date))`,
  `create table idempotency (
    user_id text not null references users(id) on delete cascade, method text not null, path text not null,
    key text not null, request_hash text not null, status integer not null, response text not null,
    created_at integer not null, primary key (user_id, method, path, key))`,
  'create index idempotency_by_time on idempotency(created_at)',
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
  `create table tickets (
    id text primary key, user_id text not null references users(id) on delete cascade, client_id text not null,
    kind text not null, body text not null, contact text not null, diagnostics text not null, answer text,
    answered_at integer, announced integer not null default 0, read_at integer, created_at integer not null,
    unique(user_id, client_id))`,
  'create index tickets_by_user on tickets(user_id, created_at desc, id desc)',
  'create index tickets_waiting on tickets(created_at) where answer is null',
  'create index tickets_unannounced on tickets(id) where answer is not null and announced = 0',
  `create table reports (
    id text primary key, user_id text not null references users(id) on delete cascade, message_id text not null,
    story_id text not null, reason text not null, words text not null, body text not null, created_at integer not null,
    unique(user_id, message_id))`,
  'create table backends (id text primary key, alive_until integer not null) without rowid',
];

/** Migrations before 1.0.0, whose statements are in the first one. Each database of 1.0.0 lists them. */
const emptyMigrations = `002_story_origin 003_at_size 004_story_readers 005_orders 006_password_resets 007_account_email
  008_account_devices 009_gifts 010_minor_mode 011_consent 012_account_deletion 013_regenerated_replies 014_tickets
  015_reading 016_unread_answers 018_unread_conversations`.split(/\s+/);

const columnsOfConversations = `id, user_id, story_id, version, last_seq, active_message_id, created_at, updated_at, read_version,
  pinned_at, summary, summary_seq`;

const runIndexes = [
  'create unique index conversations_by_run on conversations(user_id, story_id, run)',
  'create unique index conversations_current on conversations(user_id, story_id) where shelved = 0',
];

/** Allows several conversations with one story. In SQLite the table is copied, since it cannot drop a constraint. */
const conversationRuns: Steps = {
  sqlite: [
    `create table conversation_runs (
      id text primary key, user_id text not null references users(id) on delete cascade,
      story_id text not null references stories(id), version integer not null, last_seq integer not null,
      active_message_id text, created_at integer not null, updated_at integer not null,
      read_version integer not null default 0, pinned_at integer, summary text not null default '',
      summary_seq integer not null default 0, run integer not null default 1, shelved integer not null default 0)`,
    `insert into conversation_runs (${columnsOfConversations}) select ${columnsOfConversations} from conversations`,
    'drop table conversations',
    'alter table conversation_runs rename to conversations',
    conversationsByTime,
    conversationsPinned,
    ...runIndexes,
  ],
  postgres: [
    'alter table conversations drop constraint conversations_user_id_story_id_key',
    'alter table conversations add column run integer not null default 1',
    'alter table conversations add column shelved integer not null default 0',
    ...runIndexes,
  ],
};

const hasRun = (row: 'new' | 'old' | 'deleted') =>
  `exists (select 1 from conversations where user_id = ${row}.user_id and story_id = ${row}.story_id and id <> ${row}.id)`;

/** Counts readers of a story instead of conversations, of which a reader can have several since 026. */
const countingReadersOnce: Statement[] = [
  // triggers of 1.0.0, which 026 drops with its table in SQLite
  ...['story_readers_more', 'story_readers_less'].map((name) => ({
    sqlite: `drop trigger if exists ${name}`,
    postgres: `drop function if exists ${name}() cascade`,
  })),
  'delete from story_readers',
  'insert into story_readers select story_id, count(distinct user_id) from conversations group by story_id',
  trigger(
    'conversations',
    'insert',
    `insert into story_readers select new.story_id, 1 where not ${hasRun('new')}
      on conflict(story_id) do update set count = story_readers.count + 1`,
    'story_readers_first',
  ),
  {
    sqlite: `create trigger story_readers_last after delete on conversations when not ${hasRun('old')}
      begin update story_readers set count = count - 1 where story_id = old.story_id; end`,
    // per statement, since a row trigger would find all runs of a deleted account gone at each of them
    postgres: `
      create function story_readers_last() returns trigger language plpgsql as $$ begin
        update story_readers set count = count - gone.readers from (
          select story_id, count(distinct user_id) as readers from old_rows as deleted where not ${hasRun('deleted')} group by story_id
        ) as gone where gone.story_id = story_readers.story_id;
        return null; end $$;
      create trigger story_readers_last after delete on conversations referencing old table as old_rows
        for each statement execute function story_readers_last()`,
  },
];

const migrations: Record<string, Steps> = {
  '001_initial': initialStatements,
  ...Object.fromEntries(emptyMigrations.map((name) => [name, []])),
  // fails for a database that is older than 1.0.0
  '019_backends': ['select runner from suggestions where false'],
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
  '026_conversation_runs': conversationRuns,
  '027_readers_once': countingReadersOnce,
};

/** Names of all migrations of this version. */
export const knownMigrations = Object.keys(migrations);

/**
 * Runs all pending migrations. Throws the error of a failed one, and `ConfigError` for a database of a newer version.
 * @param name the database and its setting, in that message
 */
export async function migrateToLatest(db: Kysely<unknown>, name: string): Promise<void> {
  const migrationEntries = Object.entries(migrations).map(([name, steps]): [string, Migration] => [
    name,
    { up: (database) => execute(database, steps) },
  ]);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => Object.fromEntries(migrationEntries) } });
  const { error } = await migrator.migrateToLatest();
  if (!error) return;
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db).catch(() => null);
  const newer = applied?.rows.find((row) => !knownMigrations.includes(row.name));
  if (!newer) throw error;
  throw new ConfigError(
    `${name} comes from a newer version, which made ${newer.name}. Start that version, or bring back a backup of this one`,
  );
}
