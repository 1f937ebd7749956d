import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, onTestFinished, test } from '@rstest/core';
import { sql } from 'kysely';
import { type Db, query } from '../src/db/database.ts';
import { openDatabase } from '../src/db/openDatabase.ts';
import { PostgresDb } from '../src/db/postgres.ts';
import { Client } from './client.ts';
import { openCommand, stop } from './command.ts';
import { openBackend } from './testBackend.ts';
import { databaseIn, databaseOf, execute, makeDataDir, postgresUrl, removeDataDir, rowsOf } from './testDatabase.ts';
import type { MessageDto, Sent, UserDto } from './wire.ts';

// Tests of Postgres only, for `pnpm test:postgres`.

const count = (db: Db) => db.first(query.selectFrom('changes').select('count'))?.count ?? Number.NaN;
const raise = () => query.updateTable('changes').set({ count: sql`count + 1` });
const pidOf = (db: Db) => execute<{ pid: number }>(db, 'select pg_backend_pid() as pid')[0]?.pid;

/** Terminates the connection, like an administrator or a broken network. */
async function cut(db: Db, dataDir: string): Promise<void> {
  const pid = pidOf(db);
  const other = await databaseIn(dataDir);
  execute(other, `select pg_terminate_backend(${pid}, 10000)`);
  other.close();
}

describe('migrations', () => {
  test('run once when several backends start simultaneously', async () => {
    const dataDir = makeDataDir();
    const all = await Promise.all(Array.from({ length: 4 }, () => databaseIn(dataDir)));
    for (const db of all) expect(count(db)).toBe(0);
    for (const db of all) db.close();
    removeDataDir(dataDir);
  });

  test('create the same tables and columns as libsql', async () => {
    const dataDir = makeDataDir();
    const [postgres, libsql] = [
      await databaseIn(dataDir),
      await openDatabase({ DATA_DIR: dataDir, DATABASE_URL: undefined }, () => {}),
    ];
    const columnsOf = (db: Db) =>
      db
        .columns()
        .filter(({ table }) => !/^(sqlite|kysely)_/.test(table))
        .map(({ table, name }) => `${table}.${name}`)
        .sort();
    expect(columnsOf(postgres).length).toBeGreaterThan(100);
    expect(columnsOf(postgres)).toEqual(columnsOf(libsql));
    postgres.close();
    libsql.close();
    removeDataDir(dataDir);
  });
});

describe('two backends that write', () => {
  test('wait for each other: data that a transaction has read does not change until its end', async () => {
    const dataDir = makeDataDir();
    const [one, other] = [await databaseIn(dataDir), await databaseIn(dataDir)];
    execute(other, 'set lock_timeout = 50');
    one.transaction(() => {
      const before = count(one);
      // neither a transaction nor a single statement can write in between
      expect(() => other.transaction(() => other.run(raise()))).toThrow(/lock timeout/);
      expect(() => other.run(raise())).toThrow(/lock timeout/);
      // reads are not blocked
      expect(count(other)).toBe(before);
      one.run(query.updateTable('changes').set({ count: before + 1 }));
    });
    other.run(raise());
    expect(count(one)).toBe(2);
    for (const db of [one, other]) db.close();
    removeDataDir(dataDir);
  });
});

describe('a lost connection', () => {
  test('between two calls is replaced without a failure', async () => {
    const dataDir = makeDataDir();
    const db = await databaseIn(dataDir);
    await cut(db, dataDir);
    expect(count(db)).toBe(0);
    await cut(db, dataDir);
    expect(db.run(raise())).toBe(1);
    await cut(db, dataDir);
    db.transaction(() => db.run(raise()));
    expect(count(db)).toBe(2);
    db.close();
    removeDataDir(dataDir);
  });

  test('within a transaction rolls it back with all its effects', async () => {
    const dataDir = makeDataDir();
    const [db, other] = [await databaseIn(dataDir), await databaseIn(dataDir)];
    const effects: string[] = [];
    const half = () =>
      db.transaction(() => {
        db.run(raise());
        db.afterCommit(() => effects.push('told'));
        execute(other, `select pg_terminate_backend(${pidOf(db)}, 10000)`);
        db.run(raise());
      });
    expect(half).toThrow(expect.objectContaining({ code: 'DATABASE_AWAY' }));
    expect([count(db), effects]).toEqual([0, []]);
    for (const each of [db, other]) each.close();
    removeDataDir(dataDir);
  });

  test('gets 503 while Postgres refuses connections; a repeated call is charged once', async () => {
    const backend = await openBackend();
    const reader = await backend.reader();
    const { db } = backend.services;
    const admin = new PostgresDb(postgresUrl ?? '', () => {});
    const name = new URL(databaseOf(backend.dataDir).DATABASE_URL ?? '').pathname.slice(1);
    const allow = (isAllowed: boolean) =>
      execute(admin, `alter database "${name}" with allow_connections ${isAllowed}`);
    const pid = pidOf(db);
    allow(false);
    execute(admin, `select pg_terminate_backend(${pid}, 10000)`);
    const sent = { story_id: 'hua-pi', body: '在吗', client_id: crypto.randomUUID() };
    const refused = await reader.post('/messages', sent);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true]);
    expect((await reader.get('//readyz')).status).toBe(503);
    allow(true);
    admin.close();
    await expect.poll(async () => (await reader.get('//readyz')).status).toBe(200);
    const [first, again] = [await reader.post('/messages', sent), await reader.post('/messages', sent)];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body).toEqual(first.body);
    await backend.settled();
    const { body } = await reader.get<{ data: { type: string }[] }>('/transactions');
    expect(body.data.filter(({ type }) => type === 'message')).toHaveLength(1);
  });
});

/** Starts a proxy that can be frozen between a backend and its Postgres. */
async function openFrozenWay(dataDir: string) {
  const address = new URL(databaseOf(dataDir).DATABASE_URL ?? '');
  const way = new Worker(join(import.meta.dirname, 'frozenProxy.mjs'), {
    workerData: { host: address.hostname, port: Number(address.port || 5432) },
    execArgv: [],
  });
  onTestFinished(() => void way.terminate());
  const [port] = await once(way, 'message');
  address.host = `127.0.0.1:${port}`;
  const freeze = async (isFrozen: boolean) => {
    way.postMessage(isFrozen);
    await once(way, 'message');
  };
  return { url: address.href, freeze };
}

test('an unresponsive Postgres delays other calls once by a second, and is used again after a response', async () => {
  const dataDir = makeDataDir();
  onTestFinished(() => removeDataDir(dataDir));
  const way = await openFrozenWay(dataDir);
  const backend = await openBackend({ ...databaseOf(dataDir), DATABASE_URL: way.url });
  const reader = await backend.reader();
  const timed = async (call: () => Promise<{ status: number }>) => {
    const from = performance.now();
    return { status: (await call()).status, ms: performance.now() - from };
  };
  await way.freeze(true);
  const calls = await Promise.all([
    ...Array.from({ length: 6 }, () => timed(() => reader.put('/user', { persona: '夜里常来' }))),
    timed(() => reader.get('//readyz')),
  ]);
  expect(calls.map(({ status }) => status)).toEqual(calls.map(() => 503));
  expect(Math.max(...calls.map(({ ms }) => ms))).toBeLessThan(4_000);
  // longer than the connection's timeouts, after which it is opened again
  for (const until = performance.now() + 8_000; performance.now() < until; ) {
    const health = await timed(() => reader.get('//healthz'));
    expect([health.status, health.ms < 900]).toEqual([200, true]);
    const ready = await timed(() => reader.get('//readyz'));
    expect([ready.status, ready.ms < 900]).toEqual([503, true]);
  }
  await way.freeze(false);
  await expect.poll(async () => (await reader.get('//readyz')).status).toBe(200);
  expect((await reader.put('/user', { persona: '好了' })).status).toBe(200);
});

describe('two backends on one Postgres', () => {
  const fast = { STORYTELLER_PIECE_DELAY_MS: '0', STORYTELLER_PIECE_CHARACTERS: '60' };
  const slow = { STORYTELLER_PIECE_DELAY_MS: '40', STORYTELLER_PIECE_CHARACTERS: '1' };

  async function openTwo(env: Record<string, string> = {}) {
    const one = await openBackend({ ...slow, ...env });
    const shared = databaseOf(one.dataDir);
    const other = await openBackend({ ...slow, ...env, ...shared });
    const reader = await one.reader();
    /** Creates a client with the same cookies for another backend. */
    const through = ({ url }: { url: string }) => {
      const client = new Client(url);
      for (const [name, value] of reader.cookies) client.cookies.set(name, value);
      return client;
    };
    const reply = async () => (await reader.latest({ story_id: 'hua-pi' })).data.at(-1);
    const growing = () => expect.poll(async () => (await reply())?.status).toBe('streaming');
    const balance = async () => (await reader.get<{ data: UserDto }>('/user')).body.data.balance;
    return { one, other, shared, reader, through, reply, growing, balance };
  }

  test('one backend stops the other’s reply, which keeps its text', async () => {
    const { one, other, reader, through, reply, growing } = await openTwo();
    const { body } = await reader.say({ story_id: 'hua-pi' });
    await growing();
    const stopped = await through(other).post<{ message: MessageDto }>(`/messages/${body.reply.id}/cancel`);
    expect([stopped.status, stopped.body.message.status]).toEqual([200, 'cancelled']);
    expect(stopped.body.message.body).not.toBe('');
    // retold before the first backend notices: the texts are not mixed
    const regenerated = await through(other).post<{ message: MessageDto }>(`/messages/${body.reply.id}/regenerate`, {
      client_id: crypto.randomUUID(),
    });
    expect(regenerated.status).toBe(202);
    await one.settled();
    expect((await reply())?.status).toMatch(/pending|streaming/);
    await other.settled();
    expect(await reply()).toMatchObject({ status: 'completed', revision: 2, variants: 2 });
  });

  test('one backend deletes a conversation of the other’s reply, which ends with a refund', async () => {
    const { one, other, reader, through, growing, balance } = await openTwo();
    const before = await balance();
    const { body } = await reader.say({ story_id: 'hua-pi' });
    await growing();
    expect((await through(other).delete(`/conversations/${body.conversation.id}`)).status).toBe(204);
    await one.settled();
    expect(await balance()).toBe(before);
    expect((await reader.get<{ data: unknown[] }>('/conversations')).body.data).toEqual([]);
  });

  test('a starting backend ends and refunds the replies of a dead backend only', async () => {
    const { one, shared, reader, reply, growing, balance } = await openTwo();
    const before = await balance();
    await reader.say({ story_id: 'hua-pi' });
    await growing();
    await openBackend({ ...slow, ...shared });
    expect((await reply())?.status).toBe('streaming');
    // by a clock that is a minute ahead, the first backend's last heartbeat is too old
    await openBackend({ ...slow, ...shared }, () => Date.now() + 60_000);
    expect(await reply()).toMatchObject({ status: 'failed', error: { code: 'interrupted' }, cost: 0 });
    expect(await balance()).toBe(before);
    await one.settled();
    expect(await reply()).toMatchObject({ status: 'failed', cost: 0 });
    expect(await balance()).toBe(before);
  });

  test('both share each limit and its waiting time, and count without names', async () => {
    const { one, other, reader, through } = await openTwo({ ...fast, RATE_LIMIT_WRITES: '6' });
    const clients = [reader, through(other)];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, at) => clients[at % 2]?.put('/user', { persona: `第 ${at} 次` })),
    );
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(6);
    const refused = answers.filter((answer) => answer?.status === 429);
    expect(refused).toHaveLength(6);
    for (const answer of refused) expect(Number(answer?.headers.get('retry-after'))).toBeGreaterThan(0);
    const { limits } = other.services;
    const { limits: ownLimits } = one.services;
    for (const each of [limits, ownLimits, limits]) each.consume('login:nobody|192.0.2.1', 3);
    expect(() => ownLimits.consume('login:nobody|192.0.2.1', 3)).toThrow(/操作太频繁/);
    limits.restore('login:nobody|192.0.2.1');
    ownLimits.consume('login:nobody|192.0.2.1', 3);
    ownLimits.clear('login:nobody|192.0.2.1');
    limits.consume('login:nobody|192.0.2.1', 1);
    expect(rowsOf(one.services.db)).not.toContain('192.0.2.1');
  });

  test('a change through one appears in the other immediately, including stories and sessions', async () => {
    const { one, other, reader, through } = await openTwo(fast);
    await reader.put('/user', { persona: '夜里常来' });
    expect((await through(other).get<{ data: UserDto }>('/user')).body.data.persona).toBe('夜里常来');
    const stories = async () => (await through(other).get<{ data: { title: string }[] }>('/stories')).body.data;
    const [first] = await stories();
    execute(one.services.db, `update stories set title = '改了名' where title = '${first?.title}'`);
    expect((await stories())[0]?.title).toBe('改了名');
    await reader.post('/logout');
    expect((await through(other).get('/user')).status).toBe(401);
  });
});

describe('two processes on one Postgres', () => {
  const { dataDir, start } = openCommand();
  const otherDir = makeDataDir();
  afterAll(() => removeDataDir(otherDir));

  test('the same key through both simultaneously results in one message, one charge and one response', async () => {
    const runs = await Promise.all([start(), start({ ...databaseOf(dataDir), DATA_DIR: otherDir })]);
    const reader = new Client(runs[0].url);
    await reader.register();
    const both = runs.map(({ url }) => {
      const client = new Client(url);
      for (const [name, value] of reader.cookies) client.cookies.set(name, value);
      return client;
    });
    const stories = (await reader.get<{ data: { id: string }[] }>('/stories')).body.data.slice(0, 8);
    for (const { id: story_id } of stories) {
      const sent = { story_id, body: '在吗', client_id: crypto.randomUUID() };
      const answers = await Promise.all([...both, ...both].map((client) => client.post<Sent>('/messages', sent)));
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      expect(new Set(answers.map(({ body }) => body.reply.id)).size).toBe(1);
    }
    const spent = (await reader.get<{ data: { type: string }[] }>('/transactions?type=message')).body.data;
    expect(spent).toHaveLength(stories.length);
    for (const run of runs) await stop(run, 'SIGTERM');
  });
});

describe('refuses in one line', () => {
  const { dataDir, start } = openCommand();
  const secret = 'hidden-from-logs';
  const address = (change: (url: URL) => void) => {
    const url = new URL(databaseOf(dataDir).DATABASE_URL ?? '');
    url.password = secret;
    change(url);
    return url.href;
  };

  test.each<[string, Record<string, string>, RegExp]>([
    [
      'a Postgres that is not there',
      { DATABASE_URL: address((url) => (url.port = '1')) },
      /^ended with 2: DATABASE_URL: .*; waiting 10 s for it …\nDATABASE_URL: no Postgres answers at \S+:1\/\S+ \(.*\); start it, or correct the address$/,
    ],
    [
      'a server that is no database',
      { DATABASE_URL: address((url) => (url.pathname = '/no_such')) },
      /^ended with 2: DATABASE_URL: there is no such database \(.*no_such.*\); make it with createdb, encoding UTF8$/,
    ],
    [
      'an address of something else',
      { DATABASE_URL: `mysql://me:${secret}@localhost/liaozhai` },
      /^ended with 2: DATABASE_URL: an address like postgres:\/\/user:password@host:5432\/liaozhai, or leave it out for a file in DATA_DIR$/,
    ],
    [
      'no key for all backends',
      { APP_KEY: '' },
      /^ended with 2: APP_KEY: with DATABASE_URL every backend needs the same one/,
    ],
  ])('%s', async (_, env, line) => {
    const said = await start(env).then(
      async (run) => `it started, and ended with ${await stop(run, 'SIGTERM')}`,
      (refused: Error) => refused.message,
    );
    expect(said).toMatch(line);
    expect(said).not.toContain(secret);
  });

  test.each([
    ['another encoding', "encoding 'LATIN1' locale 'C' template template0", '', /has the encoding LATIN1; make it .*/],
    ['no encoding', "encoding 'SQL_ASCII' locale 'C' template template0", '', /has the encoding SQL_ASCII; make it .*/],
    ['tables of another program', '', 'create table users (id int)', /has tables of .*users.*; name an empty database/],
    [
      'a replica',
      '',
      'set default_transaction_read_only = on',
      /takes no changes \(.*read-only.*\)\. Name the primary.*/,
    ],
  ])('a database with %s', async (_, options, statement, line) => {
    const admin = new PostgresDb(postgresUrl ?? '', () => {}, 40_000);
    onTestFinished(() => {
      execute(admin, 'drop database if exists other with (force)');
      admin.close();
    });
    execute(admin, `create database other ${options}`);
    const url = address((url) => (url.pathname = '/other'));
    if (statement.startsWith('set')) execute(admin, `alter database other ${statement}`);
    else if (statement) {
      const other = new PostgresDb(url, () => {}, 40_000);
      execute(other, statement);
      other.close();
    }
    await expect(start({ DATABASE_URL: url })).rejects.toThrow(
      new RegExp(`^ended with 2: DATABASE_URL: \\S+/other ${line.source}$`),
    );
  });
});

test('orders texts by their bytes, in any language of the server', async () => {
  const backend = await openBackend();
  const { db } = backend.services;
  const collations = execute<{ name: string }>(
    db,
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = current_schema() and table_name not like 'kysely%' and data_type = 'text'
       and collation_name is distinct from 'C'`,
  );
  expect(collations).toEqual([]);
});
