import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@rstest/core';
import { auditKey, readLog } from '../channel/readChannel.ts';
import { openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { kill, rollback } from './goingBack.ts';

let at: TestStore;
let host: string;
let stories: string[];
let chat: string[];
beforeAll(async () => {
  at = await openTestStore();
  host = await at.host();
  stories = await Promise.all(['1.0.0', '1.1.0', '1.2.0', '1.3.0'].map((version) => at.remote('stories', version)));
  chat = await Promise.all(['1.0.0', '1.1.0'].map((version) => at.remote('chat', version)));
  await at.activate(host, storiesAt(0), chatAt(0));
});
afterAll(() => at.remove());

const [storiesAt, chatAt] = [(n: number) => stories[n] ?? '', (n: number) => chat[n] ?? ''];
const live = async (name: string) => (await at.current()).stable?.builds.find((id) => id.startsWith(`${name}@`));

describe('rollback', () => {
  beforeEach(async () => {
    for (const n of [0, 1, 2]) await at.activate(storiesAt(n));
    await at.activate(chatAt(0));
    await at.activate(chatAt(1));
  });

  test('of one remote leaves the others alone', async () => {
    await rollback(at.writer, { name: 'stories' });
    expect([await live('stories'), await live('chat')]).toEqual([storiesAt(1), chatAt(1)]);
  });

  test('twice goes two steps back, never to what was just left', async () => {
    await rollback(at.writer, { name: 'stories' });
    await rollback(at.writer, { name: 'stories' });
    expect(await live('stories')).toBe(storiesAt(0));
  });

  test('of the whole channel after one of a remote never returns to the build just left', async () => {
    await at.activate(storiesAt(3));
    await rollback(at.writer, { name: 'stories' });
    await rollback(at.writer, {});
    expect([await live('stories'), await live('chat')]).toEqual([storiesAt(2), chatAt(0)]);
  });

  test('of the whole channel goes to what was live before', async () => {
    await rollback(at.writer, {});
    expect([await live('stories'), await live('chat')]).toEqual([storiesAt(2), chatAt(0)]);
  });

  test('to a named state restores it, as a newer state', async () => {
    const { seq } = await at.current();
    await rollback(at.writer, { to: seq - 2 });
    const now = await at.current();
    expect(now.seq).toBe(seq + 1);
    expect(await live('chat')).not.toBe(chatAt(1));
    await expect(rollback(at.writer, { to: 9999 })).rejects.toThrow('no state 9999');
  });

  test('is refused where the audit holds another state in the place of the one asked for', async () => {
    const { seq } = await at.current();
    const audit = (n: number) => join(at.folder, 'store', auditKey('production', n));
    const right = await readFile(audit(seq - 1));
    await writeFile(audit(seq - 1), await readFile(audit(seq - 4)));
    for (const options of [{ to: seq - 1 }, { name: 'stories' }])
      await expect(rollback(at.writer, options)).rejects.toThrow(`holds state ${seq - 4} in the place of`);
    await writeFile(audit(seq - 1), right);
  });

  test('restores what that state had as last good', async () => {
    await rollback(at.writer, { name: 'stories' });
    expect((await at.current()).lastGood.stories).toBe(storiesAt(0));
  });

  test('is refused when files of the build are gone, and nothing changes', async () => {
    const [key = ''] = (await at.store.list('builds/stories/')).filter(
      (path) => path.includes('/1.1.0-') && path.endsWith('page.js'),
    );
    const body = await at.store.read(key);
    await at.store.remove(key);
    await expect(rollback(at.writer, { name: 'stories' })).rejects.toMatchObject({
      details: [expect.stringContaining('page.js')],
    });
    expect(await live('stories')).toBe(storiesAt(2));
    await at.store.create(key, body ?? '');
  });
});

describe('kill', () => {
  test('what is live goes back to the last good build, and the killed one never returns', async () => {
    await at.activate(storiesAt(1));
    await at.activate(storiesAt(3));
    await kill(at.writer, storiesAt(3), { why: 'leaks' });
    expect(await live('stories')).toBe(storiesAt(1));
    await expect(at.activate(storiesAt(3))).rejects.toThrow('was killed');
    const before = (await readLog(at.store, await at.current(), at.key.publicKey, 1))[0]?.seq ?? 0;
    // by the state it stands in, and with the ways that are left
    await expect(rollback(at.writer, { to: before - 1 })).rejects.toMatchObject({
      message: `state ${before - 1} runs ${storiesAt(3)}, which was killed`,
      cure: expect.stringContaining('--to'),
    });
    expect((await kill(at.writer, storiesAt(3))).changed).toBe(false);
  });

  test('what takes its place is never a build that someone rolled back', async () => {
    const [first, second, broken] = await Promise.all(['1.0.0', '1.1.0', '1.2.0'].map((v) => at.remote('maps', v)));
    for (const build of [first, second, broken]) await at.activate(build ?? '');
    await rollback(at.writer, { name: 'maps' });
    await kill(at.writer, first ?? '');
    await kill(at.writer, second ?? '');
    expect(await live('maps')).toBeUndefined();
  });

  test('the only host that was ever live cannot be killed', async () => {
    await expect(kill(at.writer, host)).rejects.toThrow('only host');
  });

  test('a remote without another build leaves the set', async () => {
    const gifts = await at.remote('gifts');
    await at.activate(gifts);
    await kill(at.writer, gifts);
    expect(await live('gifts')).toBeUndefined();
  });
});
