import { describe, expect, rs, test } from '@rstest/core';
import { fakeApi, type Handlers, memberDto, offline, onTestEnd } from '../../testing';
import { api } from '../api';
import { request } from '../client/request';
import { onUnauthenticated } from '../client/unauthenticated';
import { drafts } from '../storage/drafts';
import { type OutboxEntry, outboxStore } from '../storage/outboxStore';
import { positions } from '../storage/positions';
import { snapshots } from '../storage/snapshots';
import { uncopiedCredentials } from '../storage/uncopied';
import { store } from '../store';
import { session, takeStoredUser } from './session';

const stored = () => JSON.parse(localStorage.getItem('user-store') ?? 'null') as unknown;

const user = () => {
  const current = session.current();
  return current.status === 'member' ? current.user : null;
};

function network(handlers: Handlers) {
  const { requests, restore } = fakeApi(handlers);
  onTestEnd(restore);
  return requests;
}

/** An answer that comes when the test says so. */
function held() {
  let release = (_: unknown) => {};
  const promise = new Promise((resolve) => {
    release = resolve;
  });
  return { answer: () => promise, release };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

const otherTabSays = (text: string | null) => {
  if (text === null) localStorage.removeItem('user-store');
  else localStorage.setItem('user-store', text);
  window.dispatchEvent(new StorageEvent('storage', { key: 'user-store', newValue: text }));
};

const entry = (clientId: string): OutboxEntry => ({
  clientId,
  storyId: 's-1',
  conversationId: null,
  body: clientId,
  createdAt: 1,
  state: 'waiting',
});

const sessionRunsOut = async () => {
  network({ 'GET /v1/private': { status: 401 } });
  await request({ url: '/v1/private' }).catch(() => {});
};

test('keeps exactly the seven fields of the specification under user-store', () => {
  session.userReceived(memberDto({ id: 7, gender: 'male', checked_in_today: true }));
  expect(stored()).toEqual({
    id: '7',
    name: '宁采臣',
    username: 'a20261121',
    avatar: '',
    balance: 100,
    invite_code: 'LANRUO',
    persona: '',
  });
});

describe('what is stored is read without ever failing', () => {
  const empty = ['', 'null', '[]', '{}', '"id"', '{broken', '{"id":null}', '{"id":""}', '{"id":{"a":1}}', '7'];
  for (const text of empty)
    test(`${JSON.stringify(text)} is nobody`, () => {
      localStorage.setItem('user-store', text);
      takeStoredUser();
      expect(session.current()).toEqual({ status: 'guest' });
    });

  test('an id alone is somebody, and wrong fields are empty ones', () => {
    localStorage.setItem('user-store', '{"id":42,"name":7,"balance":"many","future":true}');
    takeStoredUser();
    expect(user()).toMatchObject({ id: '42', name: '', balance: 0, inviteCode: '' });
  });

  test('storage that refuses everything leaves a working session', () => {
    const refuse = () => {
      throw new DOMException('no', 'SecurityError');
    };
    const spies = (['getItem', 'setItem', 'removeItem'] as const).map((name) =>
      rs.spyOn(Storage.prototype, name).mockImplementation(refuse),
    );
    onTestEnd(() => {
      for (const spy of spies) spy.mockRestore();
    });
    session.userReceived(memberDto({ id: 'u-9' }));
    expect(user()?.id).toBe('u-9');
  });
});

describe('versions', () => {
  test('an overtaken patch is dropped whole, a newer or unnumbered one is taken', () => {
    session.userReceived(memberDto({ balance: 50, version: 5 }));
    session.userPatched({ balance: 60, version: 4 });
    expect(user()?.balance).toBe(50);
    session.userPatched({ balance: 40, version: 6 });
    expect(user()).toMatchObject({ balance: 40, version: 6 });
    session.userPatched({ name: '小倩' });
    expect(user()).toMatchObject({ name: '小倩', balance: 40, version: 6 });
  });

  test('an overtaken answer to GET /v1/user is dropped', async () => {
    const { answer, release } = held();
    network({ 'GET /v1/user': answer });
    session.userReceived(memberDto({ balance: 50, version: 5 }));
    const refreshing = session.refresh();
    await settle();
    session.userPatched({ balance: 48, version: 6 });
    release(memberDto({ balance: 50, version: 5 }));
    await refreshing;
    expect(user()?.balance).toBe(48);
  });

  test('a patch of somebody else is not ours', () => {
    session.userReceived(memberDto());
    session.userPatched({ id: 'u-2', name: '别人' });
    expect(user()?.name).toBe('宁采臣');
  });
});

describe('an optimistic balance', () => {
  test('is taken back when refused, once', () => {
    session.userReceived(memberDto({ balance: 10 }));
    const undo = session.balanceShifted(-2);
    expect(user()?.balance).toBe(8);
    undo();
    undo();
    expect(user()?.balance).toBe(10);
  });

  test('gives way to what the server says', () => {
    session.userReceived(memberDto({ balance: 10, version: 1 }));
    const undo = session.balanceShifted(-2);
    session.userPatched({ balance: 1, version: 2 });
    undo();
    expect(user()?.balance).toBe(1);
  });

  test('of one user is not taken back from another', () => {
    session.userReceived(memberDto({ id: 'u-1', balance: 10 }));
    const undo = session.balanceShifted(-2);
    session.userReceived(memberDto({ id: 'u-2', balance: 30 }));
    undo();
    expect(user()?.balance).toBe(30);
  });
});

describe('races', () => {
  test('an answer about who has signed out brings nobody back', async () => {
    const { answer, release } = held();
    network({ 'GET /v1/user': answer, 'POST /v1/logout': { status: 204 } });
    session.userReceived(memberDto());
    const refreshing = session.refresh();
    await settle();
    await session.signOut();
    release(memberDto());
    await refreshing;
    expect(session.current()).toEqual({ status: 'guest' });
    expect(stored()).toBeNull();
  });

  test('an answer about the former user does not replace the present', async () => {
    const { answer, release } = held();
    network({ 'GET /v1/user': answer });
    session.userReceived(memberDto({ id: 'u-1' }));
    const refreshing = session.refresh();
    await settle();
    session.userReceived(memberDto({ id: 'u-2' }));
    release(memberDto({ id: 'u-1' }));
    await refreshing;
    expect(user()?.id).toBe('u-2');
  });

  test('a late 401 of before does not end the new session', async () => {
    const { answer, release } = held();
    network({ 'GET /v1/user': answer });
    session.userReceived(memberDto({ id: 'u-1' }));
    const refreshing = session.refresh();
    await settle();
    session.userReceived(memberDto({ id: 'u-2' }));
    release({ status: 401 });
    await refreshing;
    expect(user()?.id).toBe('u-2');
  });

  test('several refreshes at once are one request', async () => {
    const requests = network({ 'GET /v1/user': memberDto({ balance: 7, version: 2 }) });
    session.userReceived(memberDto());
    await Promise.all([session.refresh(), session.refresh(), session.refresh()]);
    expect(requests).toHaveLength(1);
    expect(user()?.balance).toBe(7);
    await session.refresh();
    expect(requests).toHaveLength(2);
  });

  test('a refresh that fails changes nothing', async () => {
    network({ 'GET /v1/user': { status: 500 } });
    const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
    onTestEnd(() => warned.mockRestore());
    session.userReceived(memberDto());
    await session.refresh();
    expect(user()?.id).toBe('u-1');
    expect(warned).toHaveBeenCalledTimes(1);
  });
});

describe('signing out', () => {
  test('that the server refuses leaves the user signed in', async () => {
    network({ 'POST /v1/logout': { status: 500 } });
    session.userReceived(memberDto());
    await expect(session.signOut()).rejects.toEqual({ kind: 'server', status: 500 });
    expect(user()?.id).toBe('u-1');
  });

  test('from a session that has run out is done', async () => {
    network({ 'POST /v1/logout': { status: 401 } });
    session.userReceived(memberDto());
    await session.signOut();
    expect(session.current()).toEqual({ status: 'guest' });
  });

  test('sec.user-switch: leaves nothing of the user on the device or in the caches', async () => {
    network({ 'POST /v1/logout': { status: 204 }, 'GET /v1/thing': 'private' });
    session.userReceived(memberDto());
    const withThing = api.injectEndpoints({
      overrideExisting: true,
      endpoints: (build) => ({ testGetThing: build.query<unknown, void>({ query: () => '/v1/thing' }) }),
    });
    await store.dispatch(withThing.endpoints.testGetThing.initiate());
    drafts.write('s-1', '草稿');
    drafts.flush();
    positions.write('c-1', { messageId: 'm-1', offset: 3 });
    uncopiedCredentials.keep('密码');
    await outboxStore.put(entry('k-1'));
    await snapshots.write('chat.1', { secret: true });
    await session.signOut();
    drafts.flush();
    expect(Object.keys(localStorage).filter((key) => key !== 'liaozhai-preferences')).toEqual([]);
    expect(sessionStorage.length).toBe(0);
    expect(store.getState().api.queries).toEqual({});
    session.userReceived(memberDto());
    expect(drafts.read('s-1')).toBe('');
    expect(positions.read('c-1')).toBeUndefined();
    expect(await outboxStore.all()).toEqual([]);
    expect(await snapshots.read('chat.1')).toBeUndefined();
  });
});

describe('a log-out that has no answer yet', () => {
  const lose = () => {
    throw offline();
  };
  const quiet = () => {
    const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
    onTestEnd(() => warned.mockRestore());
  };
  /** How often anybody was told that the session has run out, which opens the popup. */
  const countRunningOut = () => {
    let count = 0;
    onTestEnd(
      onUnauthenticated(() => {
        count += 1;
      }),
    );
    return () => count;
  };
  const writes = () => {
    quiet();
    session.userReceived(memberDto());
    drafts.write('s-1', '草稿');
    drafts.flush();
  };
  const traces = () => Object.keys(localStorage).filter((key) => key !== 'liaozhai-preferences');

  test('and never will, was done where the next request is refused', async () => {
    network({ 'POST /v1/logout': lose, 'GET /v1/user': { status: 401 } });
    const ranOut = countRunningOut();
    writes();
    await expect(session.signOut()).rejects.toEqual({ kind: 'offline' });
    expect(user()?.id).toBe('u-1');
    await Promise.all([session.refresh(), request({ url: '/v1/user' }).catch(() => {})]);
    expect(session.current()).toEqual({ status: 'guest' });
    expect(traces()).toEqual([]);
    expect(ranOut()).toBe(0);
  });

  test('is overtaken by the refusal of something else, and still is one log-out', async () => {
    const { answer, release } = held();
    network({ 'POST /v1/logout': answer, 'GET /v1/user': { status: 401 } });
    const ranOut = countRunningOut();
    writes();
    const leaving = session.signOut();
    await session.refresh();
    expect(traces()).toEqual([]);
    session.userReceived(memberDto({ id: 'u-2' }));
    release({ status: 204 });
    await leaving;
    expect(user()?.id).toBe('u-2');
    expect(ranOut()).toBe(0);
  });

  test.each([
    ['the server refuses it', { status: 429 }, { status: 401 }],
    ['the server still knows the user', { status: 500 }, memberDto()],
  ])('leaves a session that may run out like any other where %s', async (_, refusal, known) => {
    network({ 'POST /v1/logout': refusal, 'GET /v1/user': known, 'GET /v1/private': { status: 401 } });
    const ranOut = countRunningOut();
    writes();
    await session.signOut().catch(() => {});
    await session.refresh();
    await request({ url: '/v1/private' }).catch(() => {});
    expect(session.current()).toEqual({ status: 'guest' });
    expect(ranOut()).toBeGreaterThan(0);
    session.userReceived(memberDto());
    expect(drafts.read('s-1')).toBe('草稿');
  });
});

describe('a session that runs out', () => {
  test('tells the act that found it out why it was refused, then forgets what was read', async () => {
    network({ 'POST /v1/thing': { status: 401 }, 'GET /v1/thing': 'private' });
    session.userReceived(memberDto());
    const withThing = api.injectEndpoints({
      overrideExisting: true,
      endpoints: (build) => ({
        testGetThing: build.query<unknown, void>({ query: () => '/v1/thing' }),
        testDoThing: build.mutation<unknown, void>({ query: () => ({ url: '/v1/thing', method: 'POST' }) }),
      }),
    });
    await store.dispatch(withThing.endpoints.testGetThing.initiate());
    const { error } = await store.dispatch(withThing.endpoints.testDoThing.initiate());
    expect(error).toEqual({ kind: 'unauthenticated' });
    expect(session.current()).toEqual({ status: 'guest' });
    await settle();
    expect(store.getState().api.queries).toEqual({});
  });

  test('shows nothing of the user, and gives the same user everything back', async () => {
    session.userReceived(memberDto());
    drafts.write('s-1', '没写完');
    await outboxStore.put(entry('k-1'));
    await sessionRunsOut();
    expect(session.current()).toEqual({ status: 'guest' });
    expect(stored()).toBeNull();
    expect(drafts.read('s-1')).toBe('');
    expect(await outboxStore.all()).toEqual([]);
    session.userReceived(memberDto());
    expect(drafts.read('s-1')).toBe('没写完');
    expect((await outboxStore.all()).map(({ clientId }) => clientId)).toEqual(['k-1']);
  });

  test('gives another user nothing, for ever', async () => {
    session.userReceived(memberDto({ id: 'u-1' }));
    drafts.write('s-1', '没写完');
    await outboxStore.put(entry('k-1'));
    await sessionRunsOut();
    session.userReceived(memberDto({ id: 'u-2' }));
    expect(drafts.read('s-1')).toBe('');
    expect(await outboxStore.all()).toEqual([]);
    session.userReceived(memberDto({ id: 'u-1' }));
    expect(drafts.read('s-1')).toBe('');
    expect(await outboxStore.all()).toEqual([]);
  });
});

test('what an anonymous visitor wrote belongs to whoever signs in', async () => {
  drafts.write('s-1', '路过');
  positions.write('c-1', { messageId: 'm-1', offset: 3 });
  await outboxStore.put(entry('k-1'));
  session.userReceived(memberDto());
  expect(drafts.read('s-1')).toBe('路过');
  expect(positions.read('c-1')).toEqual({ messageId: 'm-1', offset: 3 });
  expect((await outboxStore.all()).map(({ clientId }) => clientId)).toEqual(['k-1']);
  await sessionRunsOut();
  expect(drafts.read('s-1')).toBe('');
  expect(await outboxStore.all()).toEqual([]);
});

describe('other tabs', () => {
  test('signing in there signs in here, and out', () => {
    const changes: unknown[] = [];
    onTestEnd(session.onUserChanged((previousId, id) => changes.push([previousId, id])));
    otherTabSays('{"id":"u-1","name":"宁采臣","balance":3}');
    expect(user()).toMatchObject({ id: 'u-1', name: '宁采臣', balance: 3 });
    otherTabSays(null);
    expect(session.current()).toEqual({ status: 'guest' });
    expect(changes).toEqual([
      [null, 'u-1'],
      ['u-1', null],
    ]);
  });

  test('signing in there outlives a refusal of what this tab had asked as a guest', async () => {
    const { answer, release } = held();
    network({ 'GET /v1/private': answer });
    const asked = request({ url: '/v1/private' });
    await settle();
    otherTabSays(JSON.stringify(memberDto()));
    release({ status: 401 });
    await expect(asked).rejects.toEqual({ kind: 'unauthenticated' });
    expect(user()?.id).toBe('u-1');
    expect(stored()).toMatchObject({ id: 'u-1' });
  });

  test('a balance told there is told here, and what only this tab knows stays', () => {
    session.userReceived(memberDto({ check_in_streak: 4, version: 2 }));
    otherTabSays(JSON.stringify({ ...memberDto(), balance: 77 }));
    expect(user()).toMatchObject({ balance: 77, checkInStreak: 4, version: 2 });
  });

  test('what was typed or shown here is not kept after a log-out there', () => {
    session.userReceived(memberDto());
    uncopiedCredentials.keep('密码');
    drafts.write('s-1', '还没存');
    localStorage.clear();
    otherTabSays(null);
    drafts.flush();
    expect([...Object.keys(localStorage), ...Object.keys(sessionStorage)]).toEqual([]);
  });
});
