import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { sha256Hex, signedJson } from '../model/signing.ts';
import { rollback } from '../operations/goingBack.ts';
import { submit } from '../policies/approval.ts';
import { addWebhook, listWebhooks } from '../policies/webhooks.ts';
import { openReleases } from '../serve/openReleases.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { addFreeze } from './changeAgenda.ts';
import { channelKey } from './readChannel.ts';

const CHANNEL = channelKey('production');
const AGENDA = 'agendas/production.json';
const WEBHOOKS = 'webhooks/production.json';
const window = { kind: 'once', from: '2030-01-01T00:00:00.000Z', to: '2030-01-02T00:00:00.000Z' } as const;
const isNewer = (...details: string[]) => ({
  kind: 'refused',
  message: expect.stringContaining('was written by a newer version'),
  cure: expect.stringContaining('Update this command line'),
  details,
});

let at: TestStore;
let first: string;
let next: string;

beforeEach(async () => {
  at = await openTestStore();
  first = await at.remote('stories');
  await at.activate(await at.host(), first);
  next = await at.remote('stories', '1.1.0');
});
afterEach(() => at.remove());

const stored = async (key: string): Promise<Record<string, unknown>> =>
  JSON.parse((await at.store.readPointer(key))?.body ?? '{}');

/** Writes a document as another version of the programs would, signed by the store's own key. */
async function write(key: string, change: (document: Record<string, unknown>) => object): Promise<string> {
  const { body = '{}', tag = null } = (await at.store.readPointer(key)) ?? {};
  const { sig: _, ...unsigned } = JSON.parse(body);
  const { seq } = unsigned;
  const following = key === CHANNEL ? { seq: seq + 1, previous: { seq, sha256: sha256Hex(body) } } : {};
  const document = change({ ...unsigned, ...following });
  const source = signedJson(document, at.key);
  expect(await at.store.swapPointer(key, source, tag)).toBe(true);
  return source;
}

const activateNext = () => submit(at.writer, { verb: 'activate', builds: [next] }, { gate: openGate });

describe('a store that a newer version wrote', () => {
  test('a channel with unknown fields is served, and they are not removed', async () => {
    const source = await write(CHANNEL, ({ stable, ...document }) => ({
      ...document,
      quorum: 3,
      stable: { ...(stable as object), note: 'x' },
    }));
    const unknown = isNewer('quorum', 'stable.note');
    await expect(activateNext()).rejects.toMatchObject(unknown);
    await expect(rollback(at.writer, {})).rejects.toMatchObject(unknown);
    await expect(addFreeze(at.writer, { window, why: 'holidays' })).rejects.toMatchObject(unknown);
    expect((await at.store.readPointer(CHANNEL))?.body).toBe(source);
    const releases = await openReleases({ store: at.url, publicKey: at.key.publicKey });
    expect((await releases.pageFor({ id: 'v' })).pageSet.remotes.stories?.id).toBe(first);
  });

  test('a channel of an unknown format is not reported as damaged', async () => {
    await write(CHANNEL, (document) => ({ ...document, format: 3 }));
    await expect(activateNext()).rejects.toMatchObject(isNewer(expect.stringContaining('format')));
  });

  test.each([
    ['a rule of another kind', { rules: [{ kind: 'quorum' }] }, ['rules']],
    ['a window of another kind', { freezes: [{ window: { kind: 'monthly' } }] }, expect.anything()],
  ])('an agenda with %s stops changes forward and is not changed; rollbacks succeed', async (_, fields, details) => {
    await addFreeze(at.writer, { window, why: 'holidays' });
    await at.activate(next);
    const source = await write(AGENDA, (agenda) => ({ ...agenda, ...fields }));
    const third = await at.remote('stories', '1.2.0');
    const forward = submit(at.writer, { verb: 'activate', builds: [third] }, { gate: openGate });
    await expect(forward).rejects.toMatchObject({ ...isNewer(), details });
    await expect(addFreeze(at.writer, { window, why: 'more' })).rejects.toMatchObject({ ...isNewer(), details });
    expect((await rollback(at.writer, { name: 'stories' })).document.stable?.builds).toContain(first);
    expect((await at.store.readPointer(AGENDA))?.body).toBe(source);
  });

  test('webhooks of an unknown format are not reported as damaged, and are not changed', async () => {
    const add = () => addWebhook(at.writer, 'https://chat.example/hook', { allowPrivate: false });
    await add();
    const source = await write(WEBHOOKS, (document) => ({ ...document, format: 2 }));
    const log = await stored(CHANNEL);
    await expect(listWebhooks(at.writer)).rejects.toMatchObject(isNewer(expect.stringContaining('format')));
    await expect(add()).rejects.toMatchObject(isNewer(expect.stringContaining('format')));
    expect((await at.store.readPointer(WEBHOOKS))?.body).toBe(source);
    // the log has no entry for the refused webhook
    expect(await stored(CHANNEL)).toEqual(log);
  });

  test('an unsigned change is reported as damage, with the cure to restore', async () => {
    const { tag = null } = (await at.store.readPointer(CHANNEL)) ?? {};
    await at.store.swapPointer(CHANNEL, JSON.stringify({ ...(await stored(CHANNEL)), format: 3 }), tag);
    await expect(activateNext()).rejects.toMatchObject({
      message: expect.stringContaining('is damaged'),
      cure: expect.stringContaining('Restore'),
    });
  });
});

describe('a store that an older version reads', () => {
  test('finds a format it refuses where two persons decide, and its own where one does', async () => {
    expect(await stored(CHANNEL)).toMatchObject({ format: 1 });
    await submit(at.writer, { verb: 'approval', hours: 24 }, { gate: openGate });
    expect(await stored(CHANNEL)).toMatchObject({ format: 2, approval: { hours: 24 } });
    await addFreeze(at.writer, { window, why: 'holidays' });
    expect(await stored(CHANNEL)).toMatchObject({ format: 2, approval: { hours: 24 } });
  });

  test('a rule in the older format is kept and written in the newer one', async () => {
    await submit(at.writer, { verb: 'approval', hours: 24 }, { gate: openGate });
    await write(CHANNEL, (document) => ({ ...document, format: 1 }));
    await addFreeze(at.writer, { window, why: 'holidays' });
    expect(await stored(CHANNEL)).toMatchObject({ format: 2, approval: { hours: 24 } });
  });
});
