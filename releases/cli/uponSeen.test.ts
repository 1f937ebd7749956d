import { EventEmitter, once } from 'node:events';
import { afterAll, beforeAll, expect, test } from '@rstest/core';
import { rollback } from '../src/operations/goingBack.ts';
import { openTestStore, type TestStore } from '../src/testing/openTestStore.ts';
import { uponSeen } from './switching.ts';

let at: TestStore;
const [fans, chat]: string[][] = [[], []];
beforeAll(async () => {
  at = await openTestStore();
  await at.activate(await at.host());
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    fans?.push(await at.remote('fans', version));
    chat?.push(await at.remote('chat', version));
    await at.activate(fans?.at(-1) ?? '', chat?.at(-1) ?? '');
  }
});
afterAll(() => at.remove());

/** Command lines that have all looked at the channel before any of them changes it. */
function together(count: number) {
  let looked = 0;
  const opened = new EventEmitter();
  const all = once(opened, 'all');
  return Array.from({ length: count }, () => ({
    status: async () => {
      const document = await at.current();
      looked += 1;
      if (looked === count) opened.emit('all');
      await all;
      return document;
    },
  }));
}

const back = (name: string) => (client: ReturnType<typeof together>[number]) =>
  uponSeen(client, name, (seq) => rollback(at.writer, { name, seq }));

test('two who roll back one remote at the same moment go one step, and the second is told what to do', async () => {
  const results = await Promise.allSettled(together(2).map(back('fans')));
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = results.find((result) => result.status === 'rejected');
  expect(refused?.reason).toMatchObject({ kind: 'conflict', cure: 'Look at the new state and decide again.' });
  expect((await at.current()).stable?.builds).toContain(fans?.[1]);
});

test('two who roll back different remotes at the same moment both get through', async () => {
  const [one, other] = together(2);
  if (!one || !other) throw new Error('two are needed');
  await Promise.all([back('fans')(one), back('chat')(other)]);
  expect((await at.current()).stable?.builds).toEqual(expect.arrayContaining([fans?.[0], chat?.[1]]));
});
