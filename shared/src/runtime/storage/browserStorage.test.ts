import { describe, expect, rs, test } from '@rstest/core';
import { onTestEnd } from '../../testing';
import { local, readJson, tab, withLock } from './browserStorage';
import { drafts, onDraftRefused } from './drafts';
import { createOutboxStore, createRecordStore } from './recordStore';

const insecure = () => {
  throw new DOMException('The operation is insecure.', 'SecurityError');
};

function replace(holder: object, name: string, descriptor: PropertyDescriptor) {
  const before = Object.getOwnPropertyDescriptor(holder, name);
  Object.defineProperty(holder, name, { configurable: true, ...descriptor });
  onTestEnd(() => {
    if (before) Object.defineProperty(holder, name, before);
    else Reflect.deleteProperty(holder, name);
  });
}

/** Behaves like Firefox with cookies blocked. */
function blockStorage() {
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB']) replace(globalThis, name, { get: insecure });
  replace(globalThis, 'BroadcastChannel', { value: insecure });
}

const giveLocks = (request: LockManager['request']) => replace(navigator, 'locks', { value: { request } });

describe('a browser without storage', () => {
  test.each([
    ['local', local],
    ['tab', tab],
  ])('%s: written values can be read until the page ends', (_, store) => {
    blockStorage();
    expect(store.get('a')).toBeNull();
    store.set('a', '1');
    store.set('ab', '{"b":2}');
    expect(store.get('a')).toBe('1');
    expect(readJson('ab', store)).toEqual({ b: 2 });
    expect(store.keys('a')).toEqual(['a', 'ab']);
    store.remove('a');
    expect(store.get('a')).toBeNull();
  });

  test('a draft that is not stored is reported', () => {
    let refusals = 0;
    onTestEnd(onDraftRefused(() => (refusals += 1)));
    drafts.write('s-1', '还没发出');
    drafts.flush();
    expect(refusals).toBe(0);
    blockStorage();
    drafts.write('s-1', '还没发出去');
    drafts.flush();
    expect([refusals, drafts.read('s-1')]).toEqual([1, '还没发出去']);
  });

  test('records are in memory', async () => {
    blockStorage();
    const records = createRecordStore('outbox');
    const record = { owner: 'u-1', key: 'k', savedAt: 1, value: '你好' };
    await records.put(record);
    expect(await records.all('u-1')).toEqual([record]);
    await records.remove('u-1', 'k');
    expect(await records.get('u-1', 'k')).toBeUndefined();
  });

  test.each([
    ['refuses a channel', insecure],
    [
      'has none any more when something is to be said',
      function Closed() {
        return { addEventListener: () => {}, postMessage: insecure };
      },
    ],
  ])('a message for the outbox is stored if the browser %s', async (_, value) => {
    blockStorage();
    replace(globalThis, 'BroadcastChannel', { value });
    const outbox = createOutboxStore();
    const entry = {
      clientId: 'c-1',
      storyId: 's-1',
      conversationId: null,
      body: '你好',
      createdAt: 1,
      state: 'waiting',
    } as const;
    await outbox.put(entry);
    expect(await outbox.all()).toEqual([entry]);
  });
});

describe('a lock', () => {
  const refusing = (() => Promise.reject(new DOMException('no', 'SecurityError'))) as LockManager['request'];
  const granting = ((_: string, _options: LockOptions, work: () => unknown) =>
    Promise.resolve(work())) as LockManager['request'];

  test.each([
    ['granted', granting],
    ['refused', refusing],
    ['unknown to the browser', undefined],
  ])('that is %s runs its work once', async (_, request) => {
    if (request) giveLocks(request);
    let done = 0;
    await withLock('liaozhai-test', async () => {
      done += 1;
    });
    expect(done).toBe(1);
  });

  test('that a suspended page never releases holds the work back for a limited time', async () => {
    const limit = new AbortController();
    const timeout = rs.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
    onTestEnd(() => timeout.mockRestore());
    const held = (_: string, { signal }: LockOptions = {}) =>
      new Promise((_granted, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    giveLocks(held as LockManager['request']);
    let done = 0;
    const finished = withLock('liaozhai-test', async () => {
      done += 1;
    });
    expect(done).toBe(0);
    limit.abort();
    await finished;
    expect(done).toBe(1);
  });

  test('does not repeat failed work', async () => {
    giveLocks(granting);
    let done = 0;
    const work = async () => {
      done += 1;
      throw new Error('offline');
    };
    await expect(withLock('liaozhai-test', work)).rejects.toThrow('offline');
    expect(done).toBe(1);
  });
});
