import { type Kysely, type Migration, Migrator, sql } from 'kysely';

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

const migrations: Record<string, Migration> = {
  '001_initial': {
    async up(db: Kysely<unknown>) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  },
  '002_story_origin': {
    async up(db: Kysely<unknown>) {
      await sql.raw("alter table stories add column origin text not null default 'seed'").execute(db);
      // so far only a story of the product's own had a cover under its own name
      await sql
        .raw("update stories set origin = 'folder' where cover_url like '/api/media/covers/' || id || '.svg?v=%'")
        .execute(db);
    },
  },
};

/** Brings the database to the newest form; throws what stopped it. */
export async function migrateToLatest(db: Kysely<unknown>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}
