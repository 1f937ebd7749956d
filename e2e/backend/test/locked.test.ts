import { join } from 'node:path';
import { expect, rs, test } from '@rstest/core';
import { sql } from 'kysely';
import Libsql from 'libsql';
import { query } from '../src/db/database.ts';
import { openBackend } from './testBackend.ts';

const backend = await openBackend();
const { db } = backend.services;
db.all({ compile: () => sql`pragma busy_timeout = 20`.compile(query) });

/** Another program writes to the same file, as seeding does; returns the unlocking. */
function lock(): () => void {
  const other = new Libsql(join(backend.dataDir, 'liaozhai.db'));
  other.exec('begin immediate');
  return () => {
    other.exec('rollback');
    other.close();
  };
}

test('a call that meets a locked file fails alone: the next one is whole again and its reply is written', async () => {
  const logged = rs.spyOn(console, 'error').mockImplementation(() => {});
  const reader = await backend.reader();
  const unlock = lock();
  expect((await reader.say({ story_id: 'nie-xiaoqian' })).status).toBe(500);
  unlock();
  expect(logged).toHaveBeenCalledTimes(1);
  logged.mockRestore();
  const { status, body } = await reader.say({ story_id: 'nie-xiaoqian' });
  expect(status).toBe(201);
  await backend.settled();
  const { data } = await reader.latest({ story_id: 'nie-xiaoqian' });
  expect(data.find(({ id }) => id === body.reply.id)).toMatchObject({ status: 'completed' });
});
