import { expect, test } from '@rstest/core';
import { readEnv } from '../env.ts';
import { forPostgres } from './migrations.ts';

// Tests without a server; the others are in `pnpm test:postgres`.

const appKey = { APP_KEY: '0123456789abcdef' };

test('a Postgres table has 64-bit integers, byte-wise collation and identity columns', () => {
  expect(
    forPostgres(
      'create table a (position integer primary key autoincrement, id text not null, note text, at integer default 0) without rowid',
    ),
  ).toBe(
    'create table a (position bigint generated always as identity primary key, id text collate "C" not null, note text collate "C", at bigint default 0)',
  );
  expect(forPostgres("alter table a add column b text not null default ''")).toBe(
    'alter table a add column b text collate "C" not null default \'\'',
  );
});

test.each(['mysql://me:hidden@h/d', 'postgres://me:hidden@h:5432', 'me:hidden@h/d', 'postgres://me:hidden@h:port/d'])(
  'DATABASE_URL %s is refused with a cure and without the password',
  (address) => {
    const read = () => readEnv({ DATABASE_URL: address, ...appKey });
    expect(read).toThrow(
      /^DATABASE_URL: an address like postgres:\/\/user:password@host:5432\/liaozhai, or leave it out/,
    );
    expect(read).toThrow(expect.objectContaining({ message: expect.not.stringContaining('hidden') }));
  },
);

test('DATABASE_URL requires a key that all backends share', () => {
  const DATABASE_URL = 'postgresql:///liaozhai?host=/run/postgresql';
  expect(() => readEnv({ DATABASE_URL })).toThrow(/^APP_KEY: with DATABASE_URL every backend needs the same one/);
  expect(readEnv({ DATABASE_URL, ...appKey }).DATABASE_URL).toBe(DATABASE_URL);
  expect(readEnv({}).DATABASE_URL).toBeUndefined();
});
