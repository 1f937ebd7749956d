import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, expect, rs, test } from '@rstest/core';
import { query } from '../src/db/database.ts';
import { startSweeper } from '../src/server.ts';
import type { Client } from './client.ts';
import { openSocket } from './socket.ts';
import { openBackend } from './testBackend.ts';
import { lockWrites } from './testDatabase.ts';
import type { MessageDto } from './wire.ts';

const backend = await openBackend({ STORYTELLER_PIECE_DELAY_MS: '30', STORYTELLER_PIECE_CHARACTERS: '6' });
const { db } = backend.services;
const story_id = 'nie-xiaoqian';
const lock = () => lockWrites(backend.dataDir);

afterEach(() => {
  rs.useRealTimers();
  rs.restoreAllMocks();
});

/** Resolves with the first fault that is reported. */
function complaint(): Promise<unknown> {
  return new Promise((resolve) => rs.spyOn(backend.services, 'report').mockImplementation(resolve));
}

async function stored(reader: Client, id: string): Promise<MessageDto | undefined> {
  return (await reader.latest({ story_id })).data.find((message) => message.id === id);
}

test('a call fails while the file is locked; the next call and its reply succeed', async () => {
  const reader = await backend.reader();
  const complained = complaint();
  const unlock = lock();
  expect((await reader.say({ story_id })).status).toBe(503);
  unlock();
  await complained;
  const { status, body } = await reader.say({ story_id });
  expect(status).toBe(201);
  await backend.settled();
  expect(await stored(reader, body.reply.id)).toMatchObject({ status: 'completed' });
});

test('each call waits its own time for a locked file', async () => {
  const [reader, later] = [await backend.reader(), await backend.reader()];
  const unlock = lock();
  const refused = reader.say({ story_id });
  await wait(1_000);
  const accepted = later.say({ story_id });
  expect((await refused).status).toBe(503);
  unlock();
  expect((await accepted).status).toBe(201);
  await backend.settled();
});

test('a reply continues after the file was locked, and the reader receives all of it', async () => {
  const reader = await backend.reader();
  const socket = await openSocket(backend, reader);
  await socket.subscribe();
  const { body } = await reader.say({ story_id });
  await socket.frame(({ event }) => event === 'message.delta');
  const complained = complaint();
  const unlock = lock();
  await complained;
  unlock();
  await socket.frame(({ event }) => event === 'message.completed');
  const told = socket.frames.filter(({ event }) => event === 'message.delta').map(({ data }) => data);
  const text = told.map((delta) => (delta as { text: string }).text).join('');
  expect(await stored(reader, body.reply.id)).toMatchObject({ status: 'completed', body: text });
});

test('a sweep that failed on a locked file is repeated in the next run', async () => {
  const reader = await backend.reader();
  const { body } = await reader.say({ story_id });
  await backend.settled();
  rs.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const stop = startSweeper(backend.services);
  db.run(query.updateTable('messages').set({ status: 'streaming' }).where('id', '=', body.reply.id));
  const complained = complaint();
  const unlock = lock();
  rs.advanceTimersByTime(30_000);
  await complained;
  expect(await stored(reader, body.reply.id)).toMatchObject({ status: 'streaming' });
  unlock();
  rs.advanceTimersByTime(30_000);
  stop();
  expect(await stored(reader, body.reply.id)).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
});
