import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@rstest/core';
import Libsql from 'libsql';
import { backUp, restore } from '../src/db/backup.ts';
import { readEnv } from '../src/env.ts';
import { startBackend } from '../src/server.ts';
import { Client } from './client.ts';
import { fastEnv, openBackend } from './testBackend.ts';
import { makeDataDir } from './testDatabase.ts';

const folder = makeDataDir();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the command. Resolves to its status and output. */
async function command(...words: string[]): Promise<[number, string]> {
  const child = spawn(process.execPath, ['host/server/run.mjs', 'backend/src/command.ts', ...words]);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (said += bytes));
  const [status] = await once(child, 'close');
  return [status, said.trim()];
}

const all = (database: Libsql.Database, sql: string) => database.prepare(sql).all([]) as Record<string, unknown>[];

/** Returns violations of the invariants: balances match ledgers, and conversations have all their messages. */
function contradictions(file: string): unknown[] {
  const database = new Libsql(file);
  const found = [
    ...all(
      database,
      'select login from users where balance != (select sum(amount) from transactions where user_id = users.id)',
    ),
    ...all(
      database,
      'select id from conversations where last_seq != (select count(*) from messages where conversation_id = conversations.id)',
    ),
    ...all(database, 'pragma foreign_key_check'),
  ];
  database.close();
  return found;
}

/** A backup of a database with one reader. */
const small = (async () => {
  const backend = await openBackend();
  const reader = await backend.reader({ login: 'backed_up' });
  await reader.say({ story_id: 'nie-xiaoqian' });
  await backend.settled();
  const file = join(folder, 'small.db');
  backUp(backend.dataDir, file);
  return file;
})();

test('backup.online: a backup under concurrent writes is consistent, and a server starts from it', async () => {
  const backend = await openBackend({ STORYTELLER_PIECE_DELAY_MS: '5', STORYTELLER_PIECE_CHARACTERS: '3' });
  const readers = await Promise.all(Array.from({ length: 6 }, () => backend.reader()));
  const target = join(folder, 'busy.db');
  let isDone = false;
  let written = 0;
  const write = async (reader: Client) => {
    while (!isDone) {
      // a second message while the reply is written is refused
      await reader.say({ story_id: 'nie-xiaoqian' });
      if ((await reader.put('/user', { persona: `第 ${written} 回` })).status === 200) written += 1;
    }
  };
  const writing = Promise.all(readers.map(write));
  const [status, said] = await command('backup', target, '--data', backend.dataDir);
  isDone = true;
  await writing;
  expect([status, said]).toEqual([0, expect.stringMatching(/busy\.db: [\d.]+ MB$/)]);
  expect(written).toBeGreaterThan(6);
  expect(contradictions(target)).toEqual([]);
  expect(statSync(target).mode & 0o777).toBe(0o600);

  const dataDir = join(folder, 'restored');
  expect(await command('restore', target, '--data', dataDir)).toEqual([0, `${dataDir}: restored from ${target}`]);
  const restored = await startBackend(readEnv({ ...fastEnv, DATA_DIR: dataDir }));
  const [first] = readers;
  const back = new Client(restored.url);
  for (const [name, value] of first?.cookies ?? []) back.cookies.set(name, value);
  expect((await back.get('/user')).status).toBe(200);
  await restored.close();
  expect(contradictions(join(dataDir, 'liaozhai.db'))).toEqual([]);
});

test('restoring a backup keeps the replaced files', async () => {
  const dataDir = join(folder, 'replaced');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'liaozhai.db'), 'damaged');
  const replaced = (await restore(dataDir, await small)) ?? '';
  expect(readFileSync(replaced, 'utf8')).toBe('damaged');
  expect(contradictions(join(dataDir, 'liaozhai.db'))).toEqual([]);
});

describe('a refusal has one line and changes nothing:', () => {
  const page = 4096;
  const damages: [string, (file: string) => Promise<void>, RegExp][] = [
    ['a backup that is cut off', cutOff, /is damaged \(.+\): take another backup, nothing was changed$/],
    [
      'a backup with pages of something else',
      overwrite,
      /is damaged \(.+\): take another backup, nothing was changed$/,
    ],
    [
      'a file that is no database',
      async (file) => writeFileSync(file, 'x'.repeat(9_000)),
      /is damaged \(file is not a database\)/,
    ],
    [
      'an empty file',
      async (file) => writeFileSync(file, ''),
      /is a database, but none of this product: nothing was changed$/,
    ],
    ['the database of another product', foreign, /is a database, but none of this product: nothing was changed$/],
    [
      'a backup of a newer version',
      newer,
      /comes from a newer version, which made 999_later: restore it with that version$/,
    ],
    ['a file that is not there', async () => {}, /is no file: name one that `pnpm backend backup` has made$/],
  ];

  async function cutOff(file: string) {
    const whole = readFileSync(await small);
    writeFileSync(file, whole.subarray(0, Math.floor(whole.length / 2 / page) * page));
  }
  async function overwrite(file: string) {
    const whole = readFileSync(await small);
    writeFileSync(file, whole.fill(7, whole.length - 3 * page));
  }
  async function foreign(file: string) {
    const database = new Libsql(file);
    database.exec('create table notes (text)');
    database.close();
  }
  async function newer(file: string) {
    copyFileSync(await small, file);
    const database = new Libsql(file);
    database.exec("insert into kysely_migration values ('999_later', '2027-01-01')");
    database.close();
  }

  test.each(damages)('%s', async (name, damage, line) => {
    const dataDir = join(folder, `kept-${name}`);
    mkdirSync(dataDir);
    const file = join(folder, `${name}.db`);
    writeFileSync(join(dataDir, 'liaozhai.db'), 'as it was');
    await damage(file);
    const refused = await restore(dataDir, file).then(String, (error: Error) => error.message);
    expect(refused).toMatch(line);
    expect(refused.split('\n')).toHaveLength(1);
    expect(readFileSync(join(dataDir, 'liaozhai.db'), 'utf8')).toBe('as it was');
    expect(readdirSync(dataDir).filter((one) => one !== 'server.lock')).toEqual(['liaozhai.db']);
  });

  test('restoring while a server runs', async () => {
    const backend = await openBackend();
    const refused = await restore(backend.dataDir, await small).catch((error: Error) => error.message);
    expect(refused).toMatch(/is in use by another backend; stop that one/);
  });

  test('backing up a damaged or missing database, or over a file', async () => {
    const dataDir = join(folder, 'damaged');
    const refusal = (target: string) => {
      try {
        return String(backUp(dataDir, target));
      } catch (error) {
        return (error as Error).message;
      }
    };
    const target = join(folder, 'never.db');
    expect(refusal(target)).toMatch(/does not exist: name the backend's folder with --data$/);
    mkdirSync(dataDir);
    await overwrite(join(dataDir, 'liaozhai.db'));
    expect(refusal(target)).toMatch(/is damaged/);
    expect([existsSync(target), existsSync(`${target}.part`)]).toEqual([false, false]);
    expect(refusal(await small)).toMatch(/exists: name another file, a backup replaces none$/);
  });

  test('an unknown command, with the usage', async () => {
    const [status, said] = await command('backup');
    expect([status, said]).toEqual([2, expect.stringContaining('backup <file>')]);
  });
});

test('seed adds an account with messages and stories, and names unreadable arguments', async () => {
  const dataDir = join(folder, 'seeded');
  const stories = join(folder, 'stories.json');
  writeFileSync(stories, '[{"id":"lamp","title":"灯"}]');
  const [status, said] = await command('seed', stories, '--user', 'seeded', '--messages', '20', '--data', dataDir);
  expect([status, said]).toEqual([
    0,
    expect.stringMatching(/^1 stories added\nuser seeded .*, 1000 points\n.* with 20 messages$/),
  ]);
  expect(contradictions(join(dataDir, 'liaozhai.db'))).toEqual([]);
  expect(await command('seed', join(folder, 'none.json'), '--data', dataDir)).toEqual([
    2,
    expect.stringContaining('name a JSON file with a list of stories'),
  ]);
});

test.each([
  ['more messages than 50 for each story', ['--stories', '3', '--users', '2', '--messages', '400']],
  ['a number of stories that divides 50', ['--stories', '5', '--users', '2', '--messages', '400']],
])('fill adds made-up rows with %s', async (name, sizes) => {
  const dataDir = join(folder, name);
  const [status, said] = await command('fill', ...sizes, '--data', dataDir);
  expect([status, said]).toEqual([0, expect.stringMatching(/400 messages/)]);
});
