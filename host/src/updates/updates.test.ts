import '../testing/pageFixture';
import { blockReload } from '@liaozhai/shared/runtime';
import { beforeAll, describe, expect, test } from '@rstest/core';
import { createPendingUpdate, recordAttempt, wasJustAttempted } from './pendingUpdate';
import { judgeSet, readChannel } from './UpdateWatch';

const base64 = (bytes: ArrayBuffer) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
const ecdsa = { name: 'ECDSA', namedCurve: 'P-256' };
const now = Date.parse('2026-11-21T00:00:00Z');

const [setA, setB, setC] = ['a', 'b', 'c'].map((letter) => letter.repeat(40)) as [string, string, string];

// sorted keys, as the release system stores them
const unsigned = {
  candidate: null,
  channel: 'production',
  expires: '2027-01-01T00:00:00.000Z',
  killed: [] as string[],
  seq: 8,
  stable: { set: setB },
};

let keys: CryptoKeyPair;
let publicKey = '';

beforeAll(async () => {
  keys = await crypto.subtle.generateKey(ecdsa, true, ['sign', 'verify']);
  publicKey = base64(await crypto.subtle.exportKey('spki', keys.publicKey));
});

async function signed(document: object) {
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, keys.privateKey, bytes);
  const sig = base64(signature).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return JSON.stringify({ ...document, sig });
}

const read = (text: string, seq = 7) => readChannel(text, { channel: 'production', publicKey, seq, now });

describe('a channel document', () => {
  test('signed by the key of the page is believed', async () => {
    expect(await read(await signed(unsigned))).toMatchObject({ seq: 8, stable: { set: setB } });
  });

  test.each([
    ['changed after signing', async () => (await signed(unsigned)).replace(setB, setC), /signed/],
    ['without a signature', async () => JSON.stringify(unsigned), /signed/],
    ['older than what was seen', () => signed({ ...unsigned, seq: 6 }), /older/],
    ['out of date', () => signed({ ...unsigned, expires: '2026-11-20T00:00:00.000Z' }), /expired/],
    ['of another channel', () => signed({ ...unsigned, channel: 'preview' }), /not ours/],
    ['of another form', () => signed({ ...unsigned, seq: 'eight' }), /seq|Invalid/],
  ])('%s is not', async (_, make, reason) => {
    await expect(read(await make())).rejects.toThrow(reason);
  });
});

describe('the set of this page', () => {
  const running = { set: setA, candidate: false, override: null };
  const builds = ['host@1.0.0+a', 'stories@1.0.0+a'];
  const channel = { ...unsigned, stable: { set: setA } };

  test.each([
    ['is current while it is the stable one', running, channel, { kind: 'current' }],
    ['is outdated once another is stable', running, unsigned, { kind: 'outdated', live: setB }],
    [
      'stays what a candidate visitor was given',
      { ...running, set: setC, candidate: true },
      { ...channel, candidate: { set: setC } },
      { kind: 'current' },
    ],
    [
      'is outdated when its candidate is gone',
      { ...running, set: setC, candidate: true },
      channel,
      { kind: 'outdated', live: setA },
    ],
    [
      'is current while every candidate it is put together of runs, wherever it stands',
      { ...running, set: 'composed', candidate: true, candidateSets: [setC, setB] },
      { ...channel, candidate: { set: setB }, moreCandidates: [{ set: 'other' }, { set: setC }] },
      { kind: 'current' },
    ],
    [
      'is outdated when one of the candidates it is put together of is gone',
      { ...running, set: 'composed', candidate: true, candidateSets: [setC, setB] },
      { ...channel, candidate: { set: setB }, moreCandidates: [{ set: 'other' }] },
      { kind: 'outdated', live: setB },
    ],
    ['stays under an override', { ...running, override: { id: 'x', expires: '' } }, unsigned, { kind: 'current' }],
    [
      'is to be left when a build of it is killed, override or not',
      { ...running, override: { id: 'x', expires: '' } },
      { ...channel, killed: ['stories@1.0.0+a'] },
      { kind: 'killed', build: 'stories@1.0.0+a' },
    ],
  ])('%s', (_, set, document, verdict) => {
    expect(judgeSet(set, builds, document)).toEqual(verdict);
  });
});

describe('a pending update', () => {
  test('comes with the next navigation, unless somebody has unsaved work', () => {
    const update = createPendingUpdate();
    update.announce(setB);
    const release = blockReload('outbox');
    expect(update.claim()).toBe(false);
    release();
    expect(update.claim()).toBe(true);
  });

  test('that a new document did not bring is not requested again immediately', () => {
    const update = createPendingUpdate();
    update.announce(setB);
    recordAttempt(setB);
    expect(update.claim()).toBe(false);
    expect(wasJustAttempted(setB, Date.now() + 61_000)).toBe(false);
    // the clock was set back by a day
    expect(wasJustAttempted(setB, Date.now() - 86_400_000)).toBe(false);
  });

  test('does not exist until another set is live, nor once that is rolled back', () => {
    const update = createPendingUpdate();
    expect(update.claim()).toBe(false);
    update.announce(setB);
    update.announce(null);
    expect(update.claim()).toBe(false);
  });
});
