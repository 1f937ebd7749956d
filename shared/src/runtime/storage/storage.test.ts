import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { onTestEnd } from '../../testing';
import { local } from './browserStorage';
import { drafts } from './drafts';
import { outboxEntry } from './fixtures';
import { lastOwner, uncopiedCredentials } from './owner';
import { positions } from './positions';
import { offlineCache, outboxStore } from './recordStore';

const draftKey = 'liaozhai-draft:anonymous:s-1';

describe('drafts', () => {
  beforeEach(() => {
    rs.useFakeTimers();
  });
  afterEach(() => {
    rs.useRealTimers();
  });

  test('are stored at most 200 ms after each key, however fast the user types', () => {
    for (const text of ['你', '你好', '你好啊']) {
      drafts.write('s-1', text);
      rs.advanceTimersByTime(90);
    }
    expect(drafts.read('s-1')).toBe('你好啊');
    expect(localStorage.getItem(draftKey)).toBe('你好啊');
    drafts.write('s-1', '你好啊！');
    rs.advanceTimersByTime(199);
    expect(localStorage.getItem(draftKey)).toBe('你好啊');
    rs.advanceTimersByTime(1);
    expect(localStorage.getItem(draftKey)).toBe('你好啊！');
  });

  test('are stored immediately when the page ends', () => {
    drafts.write('s-1', '你好');
    window.dispatchEvent(new Event('pagehide'));
    expect(localStorage.getItem(draftKey)).toBe('你好');
  });

  test('are removed when they are emptied', () => {
    drafts.write('s-1', '你好');
    drafts.flush();
    drafts.write('s-1', '');
    drafts.flush();
    expect(localStorage.getItem(draftKey)).toBeNull();
  });

  test('are written per tab and follow other tabs, also after a return from the back/forward cache', () => {
    const heard: string[] = [];
    onTestEnd(drafts.subscribe('s-1', (text) => heard.push(text)));
    localStorage.setItem(draftKey, '从那边来');
    window.dispatchEvent(new StorageEvent('storage', { key: draftKey }));
    drafts.write('s-2', '这边');
    drafts.flush();
    expect(heard).toEqual(['从那边来']);
    expect(drafts.read('s-1')).toBe('从那边来');
    localStorage.setItem(draftKey, '又改了');
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    expect(heard.at(-1)).toBe('又改了');
  });

  test('are in memory if the device is full', () => {
    const full = rs.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new DOMException('full', 'QuotaExceededError');
    });
    drafts.write('s-1', '你好');
    drafts.flush();
    expect(drafts.read('s-1')).toBe('你好');
    full.mockRestore();
    local.remove(draftKey);
  });
});

describe('positions', () => {
  test('are stored for the 200 latest conversations', () => {
    for (let index = 0; index < 205; index++) positions.write(`c-${index}`, { messageId: `m-${index}`, offset: index });
    expect(positions.read('c-4')).toBeUndefined();
    expect(positions.read('c-5')).toEqual({ messageId: 'm-5', offset: 5 });
    positions.write('c-5', { messageId: 'm-x', offset: 0 });
    positions.write('c-new', { messageId: 'm', offset: 0 });
    expect(positions.read('c-5')).toEqual({ messageId: 'm-x', offset: 0 });
    expect(positions.read('c-6')).toBeUndefined();
  });

  test('are ignored if they are damaged', () => {
    for (const text of ['{', '{}', '[["c-1"]]', '[["c-1",{"messageId":1}]]']) {
      localStorage.setItem('liaozhai-positions:anonymous', text);
      expect(positions.read('c-1')).toBeUndefined();
    }
  });
});

describe('the outbox', () => {
  test('returns entries in order, and reports each change', async () => {
    let changes = 0;
    onTestEnd(
      outboxStore.subscribe(() => {
        changes += 1;
      }),
    );
    await outboxStore.put(outboxEntry('b', 2));
    await outboxStore.put(outboxEntry('a', 1));
    expect((await outboxStore.all()).map(({ clientId }) => clientId)).toEqual(['a', 'b']);
    await outboxStore.put({ ...outboxEntry('a', 1), state: 'failed' });
    await outboxStore.remove('b');
    expect(await outboxStore.all()).toEqual([{ ...outboxEntry('a', 1), state: 'failed' }]);
    expect(changes).toBe(4);
  });

  test('is read again by a page from the back/forward cache, which missed the changes of other tabs', () => {
    let changes = 0;
    onTestEnd(
      outboxStore.subscribe(() => {
        changes += 1;
      }),
    );
    for (const persisted of [false, true]) window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted }));
    expect(changes).toBe(1);
  });
});

test('the outbox reads what another build has stored: a text with its story is listed, the rest neither lost nor in the way', async () => {
  const put = (key: string, value: unknown) =>
    localStorage.setItem(
      `liaozhai-unsent:anonymous:${key}`,
      JSON.stringify({ owner: 'anonymous', key, savedAt: 2, value }),
    );
  put('null', null);
  put('number', 5);
  put('bare', { storyId: 7, body: '一更' });
  put('odd', {
    ...outboxEntry('odd'),
    createdAt: 3,
    state: 'parked',
    conversationId: 12,
    price: '2',
    error: {},
    mood: 'sad',
  });
  put('no-text', { ...outboxEntry('no-text'), body: 1 });
  for (const [key, json] of [
    ['a', 'null'],
    ['b', '5'],
    ['c', '{"owner":1}'],
    ['d', '{'],
  ])
    localStorage.setItem(`liaozhai-unsent:anonymous:${key}`, json ?? '');
  await outboxStore.put(outboxEntry('own', 4));
  expect(await outboxStore.all()).toMatchObject([
    { clientId: 'bare', storyId: '7', body: '一更', createdAt: 2, state: 'waiting', conversationId: null },
    { clientId: 'odd', createdAt: 3, state: 'waiting', conversationId: '12', price: undefined, mood: 'sad' },
    { clientId: 'own' },
  ]);
  expect(localStorage.getItem('liaozhai-unsent:anonymous:no-text')).toContain('no-text');
});

test('the offline cache stores the 60 newest entries', async () => {
  for (let index = 0; index < 62; index++) await offlineCache.write(`k-${index}`, { index });
  expect(await offlineCache.read('k-0')).toBeUndefined();
  expect(await offlineCache.read('k-61')).toEqual({ index: 61 });
});

test('the offline cache stores new entries after a fast clock was corrected', async () => {
  const clock = rs.spyOn(Date, 'now').mockReturnValue(Date.now() + 24 * 3_600_000);
  for (let index = 0; index < 60; index++) await offlineCache.write(`k-${index}`, { index });
  clock.mockRestore();
  for (const key of ['today', 'later today']) await offlineCache.write(key, { key });
  expect(await offlineCache.read('today')).toEqual({ key: 'today' });
});

describe('credentials that the clipboard refused', () => {
  beforeEach(() => {
    lastOwner.write('u-1', 'a1');
    uncopiedCredentials.keep('账号：fox\n密码：123456');
  });

  test('are stored unchanged', () => {
    expect(uncopiedCredentials.read()).toBe('账号：fox\n密码：123456');
  });

  test('are hidden from another user who signed in meanwhile', () => {
    lastOwner.write('u-2', 'a2');
    expect(uncopiedCredentials.read()).toBeNull();
    expect(sessionStorage.length).toBe(0);
  });
});
