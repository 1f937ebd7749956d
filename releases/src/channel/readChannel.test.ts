import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import type { StoredAction } from '../model/action.ts';
import type { UnsignedChannel } from '../model/channel.ts';
import { signChannel } from '../model/channel.ts';
import { sha256Hex } from '../model/signing.ts';
import { rollback } from '../operations/goingBack.ts';
import { openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { auditKey, channelKey, readLog, readState, requireChannel } from './readChannel.ts';

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

/** Writes the next state like versions before actions were data: the same state with free text. */
async function moveOnInWords(action: Pick<StoredAction, 'verb' | 'what' | 'evidence'>): Promise<void> {
  const { document, source, tag } = await requireChannel(at.writer);
  const { sig: _, ...state } = document;
  const next: UnsignedChannel = {
    ...state,
    seq: document.seq + 1,
    nonce: String(document.seq + 1),
    action: { who: 'former', why: '', at: new Date().toISOString(), ...action },
    previous: { seq: document.seq, sha256: sha256Hex(source) },
  };
  await at.store.create(auditKey('production', document.seq), source);
  await at.store.swapPointer(channelKey('production'), signChannel(next, at.key), tag);
}

const log = async () => readLog(at.writer, await at.current(), 100);

describe('the log of a store that holds entries from before actions were data', () => {
  test('is an unbroken chain with their sentences', async () => {
    const [host, first, next] = [await at.host(), await at.remote('stories'), await at.remote('stories', '1.1.0')];
    await at.activate(host, first);
    await moveOnInWords({ verb: 'canary', what: `${next} for 10 %` });
    await moveOnInWords({ verb: 'abort', what: next, evidence: ['candidate: 20 of 60 visitors failed'] });
    await at.activate(next);
    await rollback(at.writer, { name: 'stories' });
    expect((await log()).map(({ action }) => action)).toEqual([
      { kind: 'rollback', builds: [first], to: 4, names: ['stories'], evidence: [] },
      { kind: 'activate', builds: [next], evidence: [] },
      { kind: 'abort', builds: [next], evidence: [{ kind: 'text', text: 'candidate: 20 of 60 visitors failed' }] },
      { kind: 'text', text: `${next} for 10 %`, evidence: [] },
      { kind: 'activate', builds: [host, first], evidence: [] },
      { kind: 'init', evidence: [] },
    ]);
  });

  test('breaks at a changed entry of any form', async () => {
    await at.activate(await at.host(), await at.remote('stories'));
    await moveOnInWords({ verb: 'renew', what: 'signed the same state again' });
    await at.activate(await at.remote('chat'));
    expect(await log()).toHaveLength(4);
    for (const seq of [3, 2]) {
      const key = auditKey('production', seq);
      const right = (await at.store.read(key))?.toString() ?? '';
      await at.store.remove(key);
      await at.store.create(key, right.replace('"why":""', '"why":"forged"'));
      await expect(log()).rejects.toThrow(`state ${seq} of production is not what its successor recorded`);
      await at.store.remove(key);
      await at.store.create(key, right);
    }
    expect(await log()).toHaveLength(4);
  });
});

test.each(['', '{"format":1,'])(
  'a damaged state of the audit is named with its file, and not the channel: %s',
  async (text) => {
    await at.activate(await at.host(), await at.remote('stories'));
    await at.activate(await at.remote('stories', '1.1.0'));
    const key = auditKey('production', 2);
    await at.store.remove(key);
    await at.store.create(key, text);
    await expect(readState(at.writer, await at.current(), 2)).rejects.toMatchObject({
      message: expect.stringMatching(/^audit\/production\/2\.json is damaged/),
      cure: expect.stringContaining('restore it from a copy of the store'),
    });
  },
);
