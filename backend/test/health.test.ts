import { expect, onTestFinished, test } from '@rstest/core';
import { openBackend } from './testBackend.ts';
import { lockWrites } from './testDatabase.ts';

const backend = await openBackend();
const healthz = () => backend.client().get('//healthz');

/** Resolves to the duration of the slowest call, in ms. */
async function slowest(calls: Promise<unknown>[]): Promise<number> {
  const from = performance.now();
  const ends = await Promise.all(calls.map((call) => call.then(() => performance.now() - from)));
  return Math.max(...ends);
}

test('while another program locks the database, writes are refused and other calls are answered', async () => {
  const readers = await Promise.all(Array.from({ length: 8 }, () => backend.reader()));
  const unlock = lockWrites(backend.dataDir);
  onTestFinished(unlock);
  const writes = readers.map((reader) => reader.put('/user', { persona: '夜里常来' }));
  expect(await slowest([...writes, healthz()])).toBeLessThan(4_000);
  for (const { status, headers } of await Promise.all(writes)) {
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true]);
  }
  for (const path of ['//healthz', '//readyz', '/user']) expect((await readers[0]?.get(path))?.status).toBe(200);
});

test('writes succeed as soon as the database is unlocked', async () => {
  const reader = await backend.reader();
  const unlock = lockWrites(backend.dataDir);
  expect((await reader.put('/user', { persona: '等' })).status).toBe(503);
  expect((await reader.get('/user')).status).toBe(200);
  unlock();
  expect((await reader.put('/user', { persona: '好了' })).status).toBe(200);
});

test('a reply that ends while the database is locked is complete and charged once afterwards', async () => {
  const reader = await backend.reader();
  const { body } = await reader.say({ story_id: 'hua-pi' });
  const unlock = lockWrites(backend.dataDir);
  expect((await reader.put('/user', { persona: '等' })).status).toBe(503);
  unlock();
  await backend.settled();
  const reply = (await reader.latest({ story_id: 'hua-pi' })).data.find(({ id }) => id === body.reply.id);
  expect(reply).toMatchObject({ status: 'completed' });
  expect(reply?.cost).toBeGreaterThan(0);
});
