import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { limitsFrom } from '../../src/builds/publish.ts';
import { kill, rollback } from '../../src/operations/goingBack.ts';
import { createToken } from '../../src/operations/tokens.ts';
import { openTestStore, type TestStore, writeRemote } from '../../src/testing/openTestStore.ts';
import { createApi } from './api.ts';
import { ConsoleContext } from './ConsoleContext.ts';

const KIB = 1024;
const OPEN = { reserve: 0, remote: Number.MAX_SAFE_INTEGER, total: Number.MAX_SAFE_INTEGER };
const FOLDER = '9.9.9-aaaaaaaaaaaa';
let at: TestStore;
let builds: string[];
beforeEach(async () => {
  at = await openTestStore();
  builds = [await at.remote('stories', '1.0.0'), await at.remote('stories', '1.1.0')];
  await at.activate(await at.host(), builds[0] ?? '');
  await at.activate(builds[1] ?? '');
});
afterEach(() => at.remove());

/** Uploads files as the publisher of a remote, to a console with these quotas. */
async function openPublisher(limits: typeof OPEN) {
  const { store, key, writer } = at;
  const options = { store, catalog: writer.catalog, key, channel: 'production', smokeFor: async () => null, limits };
  const api = createApi(new ConsoleContext(options));
  const tokens = new Map<string, string>();
  return async (name: string, file: string, bytes: number) => {
    const grant = { grant: `publisher:${name}`, label: '', by: 'test', days: null };
    const token = tokens.get(name) ?? (await createToken(store, key, grant)).token;
    tokens.set(name, token);
    const answer = await api.request(`/builds/${name}/${FOLDER}/${file}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
      body: 'x'.repeat(bytes),
    });
    return { status: answer.status, said: await answer.json() };
  };
}

const stored = async (name: string) =>
  (await at.store.entries(`builds/${name}/`)).reduce((sum, { bytes }) => sum + bytes, 0);

describe('sec.releases: a publisher cannot fill the store', () => {
  test('beyond the quota of its remote, with uploads that never become a build; other remotes go on', async () => {
    const send = await openPublisher({ ...OPEN, remote: (await stored('stories')) + 300 * KIB });
    const answers = [];
    for (let n = 0; n < 20; n += 1) answers.push(await send('stories', `big-${n}.woff2`, 100 * KIB));
    const taken = answers.filter(({ status }) => status === 200).length;
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThanOrEqual(3);
    expect(answers.at(-1)).toMatchObject({
      status: 422,
      said: {
        message: expect.stringContaining('stories has used up'),
        cure: expect.stringContaining('RELEASES_QUOTA'),
      },
    });
    expect((await send('chat', 'big.woff2', 100 * KIB)).status).toBe(200);
  });

  test('nor by one huge request, nor by very many small files', async () => {
    const send = await openPublisher({ ...OPEN, remote: 400 * KIB });
    const large = Array.from({ length: 20 }, (_, n) => send('maps', `big-${n}.woff2`, 100 * KIB));
    const taken = (await Promise.all(large)).filter(({ status }) => status === 200).length;
    expect(taken).toBeLessThanOrEqual(4);
    const small: number[] = [];
    for (let n = 0; n < 120; n += 1) small.push((await send('cards', `small-${n}.woff2`, 1)).status);
    expect(small.filter((status) => status === 200).length).toBeLessThanOrEqual(100);
    expect(small.at(-1)).toBe(422);
  });

  test('nor all together', async () => {
    const send = await openPublisher({ ...OPEN, total: 500 * KIB });
    const statuses: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) statuses.push((await send(name, 'x.woff2', 100 * KIB)).status);
    expect(statuses[0]).toBe(200);
    expect(statuses.at(-1)).toBe(422);
  });

  test('so that a rollback lacks room: what is kept for switching is refused to publishing, here and over HTTP', async () => {
    const reserve = ((await at.store.room()) ?? 0) + 1024 * 1024 * KIB;
    const send = await openPublisher({ ...OPEN, reserve });
    const { status, said } = await send('stories', 'x.woff2', KIB);
    expect(status).toBe(422);
    expect(said.message).toContain('kept for switching');
    process.env.RELEASES_RESERVE = String(Math.ceil(reserve / KIB / KIB));
    try {
      const dist = await writeRemote(at.place(), 'stories', 'no room');
      await expect(at.publishFrom(dist, '2.0.0')).rejects.toThrow('kept for switching');
    } finally {
      delete process.env.RELEASES_RESERVE;
    }
    expect((await rollback(at.writer, { name: 'stories' })).document.stable?.builds).toContain(builds[0]);
    expect((await kill(at.writer, builds[1] ?? '')).changed).toBe(true);
  });

  test('a limit that is no number is named', () => {
    expect(() => limitsFrom({ RELEASES_QUOTA: 'much' })).toThrow('RELEASES_QUOTA');
    expect(limitsFrom({ RELEASES_TOTAL: '7' }).total).toBe(7 * KIB * KIB);
  });
});
