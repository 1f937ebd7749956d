import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import { endSessions } from './auth/sessions.ts';
import { isoTime } from './clock.ts';
import { query } from './db/database.ts';
import type { UserRow } from './db/schema.ts';
import { ConfigError } from './env.ts';
import { cleanText } from './http/input.ts';
import type { Services } from './services.ts';
import { findByLogin } from './users/user.ts';
import { book } from './wallet.ts';

// `pnpm backend accounts …` and `pnpm backend stories hide|show`. The server may run at the same time.

const MAX_POINTS = 100_000;

function findAccount(services: Services, login: string): UserRow {
  const user = findByLogin(services, login);
  if (!user) throw new ConfigError(`there is no account ${login || '""'}: name it as its reader signs in`);
  return user;
}

const reasonOf = (words: readonly string[], what: string): string => {
  const reason = cleanText(words.join(' ')).trim();
  if (reason === '') throw new ConfigError(`${what}: add the reason`);
  return reason;
};

/** Runs `pnpm backend accounts …` and returns its output. Throws `ConfigError`. */
export function runAccounts(services: Services, [verb, login = '', ...words]: string[]): string {
  if (verb === 'grant') return grant(services, findAccount(services, login), words);
  if (verb === 'block')
    return block(services, findAccount(services, login), reasonOf(words, `accounts block ${login}`));
  if (verb === 'unblock') return unblock(services, findAccount(services, login));
  if (verb === 'export') return exportAccount(services, findAccount(services, login), words);
  throw new ConfigError(`accounts ${verb ?? ''}: say \`grant\`, \`block\`, \`unblock\` or \`export\``);
}

function grant(services: Services, user: UserRow, [text = '', ...words]: string[]): string {
  const amount = Number(text);
  if (!/^\d+$/.test(text) || amount < 1 || amount > MAX_POINTS)
    throw new ConfigError(`${text || '""'} points: give a whole number from 1 to ${MAX_POINTS}`);
  const description = reasonOf(words, `accounts grant ${user.login} ${text}`);
  const ref = { type: 'operator', id: randomUUID() };
  const balance = services.db.transaction(() =>
    book(services, { userId: user.id, type: 'gift', amount, description, ref }),
  );
  return `${user.login}: ${amount} points more, ${balance} in all`;
}

function block(services: Services, user: UserRow, blocked_reason: string): string {
  const { db, clock } = services;
  db.transaction(() => {
    db.update('users', { id: user.id }, { blocked_at: clock(), blocked_reason });
    endSessions(services, user.id);
  });
  return `${user.login}: blocked, and signed out everywhere`;
}

function unblock({ db }: Services, user: UserRow): string {
  if (user.blocked_at === null) return `${user.login} was not blocked`;
  db.update('users', { id: user.id }, { blocked_at: null, blocked_reason: null });
  return `${user.login}: not blocked any more; it was since ${isoTime(user.blocked_at)} (${user.blocked_reason})`;
}

/** Columns that are credentials, and tables without personal data. */
const SECRET_COLUMNS = /hash|token/;
const INTERNAL_TABLES = ['idempotency'];

/** Writes all stored data of a reader as JSON into a new file with mode 600. */
function exportAccount(services: Services, user: UserRow, [file]: string[]): string {
  if (!file) throw new ConfigError(`accounts export ${user.login}: add the name of the file`);
  const { db } = services;
  const columns = db.columns();
  const visibleColumnsOf = (table: string) =>
    columns.filter((column) => column.table === table && !SECRET_COLUMNS.test(column.name)).map(({ name }) => name);
  const rowsOf = (table: string, column: string) => {
    const visibleColumns = sql.join(visibleColumnsOf(table).map((name) => sql.ref(name)));
    const statement = sql<object>`select ${visibleColumns} from ${sql.table(table)} where ${sql.ref(column)} = ${user.id}`;
    return db.all<object>({ compile: () => statement.compile(query) });
  };
  const { minor, ...userData } = rowsOf('users', 'id')[0] as Record<string, unknown>;
  const tables = columns.filter(({ table, name }) => name === 'user_id' && !INTERNAL_TABLES.includes(table));
  const data = {
    exported_at: isoTime(services.clock()),
    // the state of the mode contains the hash of its PIN
    user: { ...userData, minor_mode: minor !== null },
    ...Object.fromEntries(tables.map(({ table }) => [table, rowsOf(table, 'user_id')])),
  };
  try {
    writeFileSync(file, `${JSON.stringify(data, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new ConfigError(`${file}: ${(error as Error).message}; name a new file in a folder that is there`);
  }
  return `${file}: everything of ${user.login}`;
}

/** Hides or shows a story. Its conversations remain, and can be continued once it is shown again. */
export function runStoryVisibility({ db }: Services, [verb, id = '']: string[]): string {
  const hidden = verb === 'hide' ? 1 : 0;
  if (db.update('stories', { id }, { hidden, updated_at: Date.now() }) === 0)
    throw new ConfigError(`there is no story ${id || '""'}: its id is the folder's name`);
  return `${id}: ${hidden ? 'hidden from all readers' : 'shown again'}`;
}
