import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRaw } from '@liaozhai/http/testing';
import { hash } from '@node-rs/argon2';
import { afterEach, describe, expect, onTestFinished, rs, test } from '@rstest/core';
import { sql } from 'kysely';
import Libsql from 'libsql';
import { hashPassword, verifyPassword } from '../src/auth/accounts.ts';
import { query } from '../src/db/database.ts';
import { Client } from './client.ts';
import { openCommand, stop } from './command.ts';
import { openBackend } from './testBackend.ts';
import { lockWrites, makeDataDir, removeDataDir } from './testDatabase.ts';

const { dataDir, start } = openCommand();
const file = join(dataDir, 'liaozhai.db');
const cure =
  'DATA_DIR: \\S+liaozhai\\.db is damaged \\(.*\\)\\. Bring back a backup with `pnpm backend restore <file> --data \\S+`, or move .*';

afterEach(() => {
  rs.restoreAllMocks();
  for (const name of [file, `${file}-wal`, `${file}-shm`]) rmSync(name, { recursive: true, force: true });
});

/** Returns a database with one reader, closed properly. */
async function wholeFile(): Promise<Buffer> {
  const run = await start();
  await new Client(run.url).register();
  await stop(run, 'SIGTERM');
  return readFileSync(file);
}

/** Resolves to the output of a start that is refused; `shell` runs it. */
const refusal = (shell?: string) =>
  start({}, shell).then(
    async (run) => `it started, and ended with ${await stop(run, 'SIGTERM')}`,
    (refused: Error) => refused.message,
  );

describe('storage.damaged: an unusable database', () => {
  test.each<[string, () => Promise<void>]>([
    ['another file', async () => writeFileSync(file, 'not a database '.repeat(500))],
    [
      'one that a full disk cut off',
      async () => truncateSync(file, Math.floor((await wholeFile()).length / 2 / 4096) * 4096),
    ],
    ['one with pages of something else', async () => writeFileSync(file, (await wholeFile()).fill(7, 4096))],
  ])('%s: one line with a cure, and a status against restarts', async (_, damage) => {
    await damage();
    expect(await refusal()).toMatch(new RegExp(`^ended with 2: ${cure}$`));
  });

  test('a folder in its place is reported in one line', async () => {
    mkdirSync(file);
    expect(await refusal()).toMatch(/^ended with 2: DATA_DIR: \S+ cannot be read and written .*$/);
  });

  test('an unwritable disk is reported as such, and not as a failed lock', async () => {
    // no file may grow, which fails before the database is opened
    expect(await refusal('trap "" XFSZ; ulimit -f 0; exec "$0" "$@"')).toMatch(
      /^ended with 2: DATA_DIR: \S+ cannot be read and written .*$/,
    );
  });

  test('a newer version of it is reported in one line', async () => {
    await wholeFile();
    const database = new Libsql(file);
    database.exec("insert into kysely_migration values ('999_later', '2027-01-01')");
    database.close();
    expect(await refusal()).toMatch(
      /^ended with 2: DATA_DIR: \S+liaozhai\.db comes from a newer version, .*999_later.*$/,
    );
  });

  test('damage at run time ends the server with the same line', async () => {
    await wholeFile();
    const run = await start();
    writeFileSync(file, readFileSync(file).fill(7, 4096));
    const ended = once(run.child, 'exit');
    await new Client(run.url).register({ name: '第二位' }).catch(() => {});
    expect(await ended).toEqual([2, null]);
    expect(run.output.slice(1)).toEqual([expect.stringMatching(new RegExp(`^${cure}$`))]);
  });
});

describe('a file of the data folder', () => {
  test.each<[string, (path: string) => void, Record<string, string>, RegExp]>([
    ['app.key', (path) => mkdirSync(path), {}, /DATA_DIR: .*EISDIR/],
    [
      'app.key',
      (path) => writeFileSync(path, '\n'),
      {},
      /DATA_DIR: \S+app\.key has fewer than 16 characters; delete it/,
    ],
    [
      'mail',
      (path) => writeFileSync(path, ''),
      { MAIL_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'a@b.example' },
      /DATA_DIR: .*EEXIST.*mail/,
    ],
  ])('that is of another form ends the start in one line: %s', async (name, make, env, line) => {
    const folder = makeDataDir();
    onTestFinished(() => removeDataDir(folder));
    make(join(folder, name));
    await expect(start({ ...env, DATA_DIR: folder })).rejects.toThrow(new RegExp(`^ended with 2: ${line.source}.*$`));
  });
});

test.each([
  ['DATA_DIR', '/dev/null', /DATA_DIR: \S+ cannot be read and written/],
  ['DATA_DIR', '/dev/null/data', /DATA_DIR: \S+ cannot be read and written/],
  // nobody can create files in these, not even root
  ['DATA_DIR', '/proc/data', /DATA_DIR: \S+ cannot be read and written/],
  ['DATA_DIR', '/sys/kernel', /DATA_DIR: \S+ cannot be read and written/],
  ['BACKEND_HOST', '192.0.2.1', /BACKEND_HOST: .*EADDRNOTAVAIL.* 192\.0\.2\.1/],
])('%s=%s is reported in one line', async (name, value, line) => {
  await expect(start({ [name]: value })).rejects.toThrow(new RegExp(`^ended with 2: ${line.source}.*$`));
});

test('storage.full: on a full disk calls are refused and one line is logged, until there is room', async () => {
  const backend = await openBackend();
  const readers = await Promise.all(Array.from({ length: 5 }, () => backend.reader()));
  const said = rs.spyOn(backend.services.log, 'error').mockImplementation(() => {});
  const roomFor = (pages: number) =>
    backend.services.db.all({ compile: () => sql`pragma max_page_count = ${sql.lit(pages)}`.compile(query) });
  const write = () => Promise.all(readers.map((reader) => reader.put('/user', { persona: '夜里常来'.repeat(250) })));
  roomFor(1);
  const full = (await write()).filter(({ status }) => status !== 200);
  expect(full.length).toBeGreaterThan(1);
  for (const { status, body, headers } of full) {
    expect([status, body]).toEqual([503, { message: '服务器暂时无法保存，请稍后再试' }]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(said.mock.calls.map(([, line]) => line)).toEqual([expect.stringMatching(/^DATA_DIR: no room is left where/)]);
  roomFor(1_000_000);
  expect((await write()).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});

test('a locked file delays no health check, and waiting writes succeed after it is unlocked', async () => {
  const backend = await openBackend();
  const reader = await backend.reader();
  const unlock = lockWrites(backend.dataDir);
  // stops the clock, so that no call times out on a slow machine
  rs.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void rs.useRealTimers());
  const writes = [
    reader.put('/user', { persona: '夜里常来' }),
    reader.post('/check-in'),
    reader.say({ story_id: 'hua-pi' }),
    backend.reader(),
  ];
  for (let check = 0; check < 20; check += 1) expect((await backend.client().get('//healthz')).status).toBe(200);
  unlock();
  const answers = await Promise.all(writes);
  expect(answers.map((answer) => ('status' in answer ? answer.status : 201))).toEqual([200, 200, 201, 201]);
});

test('a file that is locked during a slow request body delays no health check', async () => {
  const backend = await openBackend();
  const reader = await backend.reader();
  rs.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void rs.useRealTimers());
  const body = '{"persona":"tall"}';
  const lines = [
    'PUT /api/v1/user HTTP/1.1',
    'Host: x',
    `Cookie: ${reader.cookieHeader()}`,
    `X-XSRF-TOKEN: ${decodeURIComponent(reader.cookies.get('XSRF-TOKEN') ?? '')}`,
    `Content-Length: ${body.length}`,
    'Expect: 100-continue',
  ];
  const { socket, received } = openRaw(backend.url);
  onTestFinished(() => void socket.destroy());
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`);
  await expect.poll(received).toContain('100 Continue');
  await backend.client().get('//healthz');
  const unlock = lockWrites(backend.dataDir);
  socket.write(body.slice(5));
  for (let check = 0; check < 20; check += 1) expect((await backend.client().get('//healthz')).status).toBe(200);
  unlock();
  await expect.poll(received).toMatch(/\nHTTP\/1\.1 200 .*"persona":"tall"/s);
});

test('a login during another program’s write succeeds after that write', async () => {
  const { dataDir, services } = await openBackend();
  const { db } = services;
  const stored = await hashPassword(db, '246810');
  const unlock = lockWrites(dataDir);
  const order: string[] = [];
  const checked = verifyPassword(db, stored, '246810').then(() => order.push('checked'));
  // twice the duration of the check
  for (const _ of [1, 2]) await hash('246810', { memoryCost: 12 * 1024, timeCost: 3, parallelism: 1 });
  order.push('freed');
  unlock();
  await checked;
  expect(order).toEqual(['freed', 'checked']);
});
