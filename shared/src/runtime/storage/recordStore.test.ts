import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import * as indexedDb from 'fake-indexeddb';
import { STORAGE_KEYS } from '../../contract';
import { onTestEnd } from '../../testing';
import { outboxEntry } from './fixtures';
import { createOutboxStore, createRecordStore } from './recordStore';

const record = { owner: 'u-1', key: 'k', savedAt: 1, value: '你好' };

/** An IndexedDB that hangs until the test makes it refuse. */
function silentDatabase() {
  class IDBRequest extends EventTarget {
    readonly error = new DOMException('gone', 'UnknownError');
  }
  const opening = new IDBRequest();
  Object.assign(globalThis, { IDBRequest, indexedDB: { open: () => opening } });
  const answer = () => opening.dispatchEvent(new Event('error'));
  onTestEnd(() => {
    answer();
    for (const name of ['IDBRequest', 'indexedDB']) Reflect.deleteProperty(globalThis, name);
  });
  return { answer };
}

describe('an unresponsive IndexedDB', () => {
  beforeEach(() => {
    rs.useFakeTimers();
  });
  afterEach(() => {
    rs.useRealTimers();
  });

  test('delays once, and records are in memory until it responds', async () => {
    const { answer } = silentDatabase();
    const records = createRecordStore('outbox');
    let recovered = 0;
    onTestEnd(
      records.onRecovered(() => {
        recovered += 1;
      }),
    );
    const kept = records.put(record);
    await rs.advanceTimersByTimeAsync(3500);
    await kept;
    // no timer runs from here on
    expect(await records.get('u-1', 'k')).toEqual(record);
    expect(await records.all('u-1')).toEqual([record]);
    await records.put({ ...record, key: 'k2' });
    await records.remove('u-1', 'k2');
    expect(await records.all('u-1')).toEqual([record]);
    expect(recovered).toBe(0);
    answer();
    await rs.advanceTimersByTimeAsync(0);
    expect(recovered).toBe(1);
    expect(await records.all('u-1')).toEqual([record]);
  });
});

test('a message that IndexedDB refuses survives the page; a cached copy does not', async () => {
  for (const kind of ['outbox', 'snapshots'] as const) await createRecordStore(kind).put(record);
  const [outbox, copies] = [createRecordStore('outbox'), createRecordStore('snapshots')];
  expect(await outbox.all('u-1')).toEqual([record]);
  expect(await outbox.get('u-1', 'k')).toEqual(record);
  expect([await outbox.all('u-2'), await outbox.all('u')]).toEqual([[], []]);
  expect(await copies.all('u-1')).toEqual([]);
  await outbox.remove('u-1', 'k');
  expect(await createRecordStore('outbox').all('u-1')).toEqual([]);
});

test('a message is on the device as soon as it is put, even while IndexedDB hangs and a guest signs in', async () => {
  rs.useFakeTimers();
  onTestEnd(() => rs.useRealTimers());
  silentDatabase();
  const outbox = createOutboxStore();
  void outbox.adopt('anonymous', 'u-1');
  void outbox.put(outboxEntry('一更', 1));
  expect(Object.values(localStorage).join()).toContain('一更');
});

/** A working IndexedDB that the test can block, as a page left open does in WebKit. */
function realDatabase() {
  const { default: _, ...parts } = indexedDb;
  Object.assign(globalThis, parts, { indexedDB: new indexedDb.IDBFactory() });
  onTestEnd(() => {
    for (const name of Object.keys(parts)) Reflect.deleteProperty(globalThis, name);
  });
  return {
    holdUp: () =>
      new Promise<() => void>((resolve) => {
        let isHeld = true;
        const opening = indexedDB.open(STORAGE_KEYS.database);
        opening.onsuccess = () => {
          const outbox = opening.result.transaction('outbox', 'readwrite').objectStore('outbox');
          const goOn = () => {
            if (isHeld) outbox.count().onsuccess = goOn;
          };
          goOn();
          resolve(() => {
            isHeld = false;
          });
        };
      }),
  };
}

describe('outbox.order: a page whose IndexedDB is slow', () => {
  beforeEach(() => {
    rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    rs.useRealTimers();
  });

  /** A store of another page, which has opened no database yet. */
  const outboxOfNewPage = async () => {
    rs.resetModules();
    return (await import('./recordStore')).createOutboxStore();
  };

  test('lists former messages before new ones, and removes them after sending', async () => {
    const { holdUp } = realDatabase();
    await (await outboxOfNewPage()).put(outboxEntry('earlier', 1));
    const letGo = await holdUp();
    const outbox = await outboxOfNewPage();
    const ids = async () => (await outbox.all()).map(({ clientId }) => clientId);
    const atFirst = ids();
    await rs.advanceTimersByTimeAsync(3500);
    expect(await atFirst).toEqual(['earlier']);
    await outbox.put(outboxEntry('later', 2));
    expect(await ids()).toEqual(['earlier', 'later']);
    await outbox.remove('earlier');
    const recovered = new Promise<void>((resolve) => onTestEnd(outbox.subscribe(resolve)));
    letGo();
    await recovered;
    expect(await ids()).toEqual(['later']);
    expect((await (await outboxOfNewPage()).all()).map(({ clientId }) => clientId)).toEqual(['later']);
  });
});

test.each(['IndexedDB', 'localStorage', 'both'])(
  'outbox: a message in %s is changed while it is stored, and stays removed once another tab has removed it',
  async (place) => {
    if (place !== 'localStorage') realDatabase();
    rs.resetModules();
    const [outbox, otherTab] = await Promise.all([
      import('./recordStore').then((module) => module.createOutboxStore()),
      import('./recordStore').then((module) => module.createOutboxStore()),
    ]);
    await outbox.put(outboxEntry('line'));
    if (place === 'IndexedDB') localStorage.clear();
    expect(await outbox.replace({ ...outboxEntry('line'), state: 'sending' })).toBe(true);
    expect((await otherTab.all()).map(({ state }) => state)).toEqual(['sending']);
    const removed = otherTab.remove('line');
    const replaced = outbox.replace({ ...outboxEntry('line'), state: 'failed' });
    await Promise.all([removed, replaced]);
    expect(await outbox.all()).toEqual([]);
    expect(await outbox.replace({ ...outboxEntry('line'), state: 'failed' })).toBe(false);
    expect(await otherTab.all()).toEqual([]);
  },
);

test('clearing site data during a read causes no unhandled failure', async () => {
  realDatabase();
  const unhandled: unknown[] = [];
  const note = (cause: unknown) => void unhandled.push(cause);
  process.on('unhandledRejection', note);
  onTestEnd(() => void process.off('unhandledRejection', note));
  rs.resetModules();
  const records = (await import('./recordStore')).createRecordStore('snapshots');
  await records.put(record);
  const { transaction } = indexedDb.IDBDatabase.prototype;
  // a browser aborts each open transaction
  const aborted = rs.spyOn(indexedDb.IDBDatabase.prototype, 'transaction').mockImplementation(function (
    this: IDBDatabase,
    ...args: Parameters<typeof transaction>
  ) {
    const begun = transaction.apply(this, args);
    queueMicrotask(() => begun.abort());
    return begun;
  });
  onTestEnd(() => aborted.mockRestore());
  expect(await records.get('u-1', 'k')).toBeUndefined();
  expect(await records.all('u-1')).toEqual([]);
  await new Promise((resolve) => setTimeout(resolve));
  expect(unhandled).toEqual([]);
});
