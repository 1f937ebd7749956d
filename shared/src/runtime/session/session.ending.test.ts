import { describe, expect, rs, test } from '@rstest/core';
import { STORAGE_KEYS } from '../../contract';
import { memberDto, offline, onTestEnd } from '../../testing';
import { api } from '../api';
import { request } from '../client/request';
import { onUnauthenticated } from '../client/unauthenticated';
import { local } from '../storage/browserStorage';
import { drafts } from '../storage/drafts';
import { outboxEntry } from '../storage/fixtures';
import { uncopiedCredentials } from '../storage/owner';
import { positions } from '../storage/positions';
import { offlineCache, outboxStore } from '../storage/recordStore';
import { store } from '../store';
import { fakeNetwork, holdResponse, settle, storedUser, user } from './fixtures';
import { createSession, session } from './session';

const sessionRunsOut = async () => {
  fakeNetwork({ 'GET /v1/private': { status: 401 } });
  await request({ url: '/v1/private' }).catch(() => {});
};

test('an earlier request’s response does not revive an expired session', async () => {
  const { answer, release } = holdResponse();
  fakeNetwork({ 'GET /v1/user': answer, 'GET /v1/private': { status: 401 } });
  session.userReceived(memberDto());
  const refreshing = session.refresh();
  await settle();
  await request({ url: '/v1/private' }).catch(() => {});
  expect(session.current().status).toBe('guest');
  release(memberDto());
  await refreshing;
  expect(session.current().status).toBe('guest');
});

describe('signing out', () => {
  test('that the server refuses leaves the user signed in', async () => {
    fakeNetwork({ 'POST /v1/logout': { status: 500 } });
    session.userReceived(memberDto());
    await expect(session.signOut()).rejects.toMatchObject({ kind: 'server', status: 500 });
    expect(user()?.id).toBe('u-1');
  });

  test('from an expired session succeeds', async () => {
    fakeNetwork({ 'POST /v1/logout': { status: 401 } });
    session.userReceived(memberDto());
    await session.signOut();
    expect(session.current()).toEqual({ status: 'guest' });
  });

  test('sec.user-switch: leaves nothing of the user on the device or in the caches', async () => {
    fakeNetwork({ 'POST /v1/logout': { status: 204 }, 'GET /v1/thing': ['private'] });
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
    await outboxStore.put(outboxEntry('k-1'));
    local.set(STORAGE_KEYS.lastMessage, '1');
    await offlineCache.write('chat.1', { secret: true });
    await session.signOut();
    drafts.flush();
    expect(Object.keys(localStorage).filter((key) => key !== 'liaozhai-preferences')).toEqual([]);
    expect(sessionStorage.length).toBe(0);
    expect(store.getState().api.queries).toEqual({});
    session.userReceived(memberDto());
    expect(drafts.read('s-1')).toBe('');
    expect(positions.read('c-1')).toBeUndefined();
    expect(await outboxStore.all()).toEqual([]);
    expect(await offlineCache.read('chat.1')).toBeUndefined();
  });
});

const quiet = () => {
  const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
  onTestEnd(() => warned.mockRestore());
};

/** Number of reported expiries, each of which opens the popup. */
const countRunningOut = () => {
  let count = 0;
  onTestEnd(
    onUnauthenticated(() => {
      count += 1;
    }),
  );
  return () => count;
};

test('a refresh that begins after the log-out does not open the popup', async () => {
  fakeNetwork({ 'POST /v1/logout': { status: 204 }, 'GET /v1/user': { status: 401 } });
  quiet();
  const ranOut = countRunningOut();
  session.userReceived(memberDto());
  await session.signOut();
  await session.refresh();
  expect(session.current()).toEqual({ status: 'guest' });
  expect(ranOut()).toBe(0);
});

describe('a log-out without a response', () => {
  const lose = () => {
    throw offline();
  };
  const writes = () => {
    quiet();
    session.userReceived(memberDto());
    drafts.write('s-1', '草稿');
    drafts.flush();
  };
  const traces = () => Object.keys(localStorage).filter((key) => key !== 'liaozhai-preferences');

  test('counts as done if the next request is refused', async () => {
    fakeNetwork({ 'POST /v1/logout': lose, 'GET /v1/user': { status: 401 } });
    const ranOut = countRunningOut();
    writes();
    await expect(session.signOut()).rejects.toEqual({ kind: 'offline' });
    expect(user()?.id).toBe('u-1');
    await Promise.all([session.refresh(), request({ url: '/v1/user' }).catch(() => {})]);
    expect(session.current()).toEqual({ status: 'guest' });
    expect(traces()).toEqual([]);
    expect(ranOut()).toBe(0);
  });

  test('remains one log-out if another request is refused before', async () => {
    const { answer, release } = holdResponse();
    fakeNetwork({ 'POST /v1/logout': answer, 'GET /v1/user': { status: 401 } });
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
  ])('keeps a session that can expire if %s', async (_, refusal, known) => {
    fakeNetwork({ 'POST /v1/logout': refusal, 'GET /v1/user': known, 'GET /v1/private': { status: 401 } });
    const ranOut = countRunningOut();
    writes();
    await session.signOut().catch(() => {});
    await session.refresh();
    await request({ url: '/v1/private' }).catch(() => {});
    expect(session.current().status).toBe('guest');
    expect(ranOut()).toBeGreaterThan(0);
    session.userReceived(memberDto());
    expect(drafts.read('s-1')).toBe('草稿');
  });
});

describe('an expired session', () => {
  test('rejects the request that found it, and keeps cached data for the same user only', async () => {
    fakeNetwork({ 'POST /v1/thing': { status: 401 }, 'GET /v1/thing': ['private'] });
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
    await settle();
    const thing = () => withThing.endpoints.testGetThing.select()(store.getState()).data;
    expect(thing()).toEqual(['private']);
    session.userReceived(memberDto());
    expect(thing()).toEqual(['private']);
    await sessionRunsOut();
    session.userReceived(memberDto({ id: 'u-2' }));
    expect(thing()).toBeUndefined();
  });

  test('names its user, and keeps the page’s content', async () => {
    session.userReceived(memberDto());
    drafts.write('s-1', '没写完');
    await outboxStore.put(outboxEntry('k-1'));
    await sessionRunsOut();
    expect(session.current()).toEqual({ status: 'guest', expired: { id: 'u-1', login: memberDto().username } });
    expect(storedUser()).toBeNull();
    expect(drafts.read('s-1')).toBe('没写完');
    session.userReceived(memberDto());
    expect(drafts.read('s-1')).toBe('没写完');
    expect((await outboxStore.all()).map(({ clientId }) => clientId)).toEqual(['k-1']);
  });

  test('is still known after a reload, without the user’s content', async () => {
    session.userReceived(memberDto());
    await sessionRunsOut();
    const next = createSession();
    expect(next.current()).toEqual({ status: 'guest', expired: { id: 'u-1', login: memberDto().username } });
  });

  test('gives another user nothing, immediately or later', async () => {
    session.userReceived(memberDto({ id: 'u-1' }));
    drafts.write('s-1', '没写完');
    await outboxStore.put(outboxEntry('k-1'));
    await sessionRunsOut();
    session.userReceived(memberDto({ id: 'u-2' }));
    expect(drafts.read('s-1')).toBe('');
    expect(await outboxStore.all()).toEqual([]);
    session.userReceived(memberDto({ id: 'u-1' }));
    expect(drafts.read('s-1')).toBe('');
    expect(await outboxStore.all()).toEqual([]);
  });
});

test('drafts of an anonymous visitor belong to the user who signs in', async () => {
  drafts.write('s-1', '路过');
  positions.write('c-1', { messageId: 'm-1', offset: 3 });
  await outboxStore.put(outboxEntry('k-1'));
  session.userReceived(memberDto());
  expect(drafts.read('s-1')).toBe('路过');
  expect(positions.read('c-1')).toEqual({ messageId: 'm-1', offset: 3 });
  expect((await outboxStore.all()).map(({ clientId }) => clientId)).toEqual(['k-1']);
  fakeNetwork({ 'POST /v1/logout': {} });
  await session.signOut();
  expect(drafts.read('s-1')).toBe('');
  expect(await outboxStore.all()).toEqual([]);
});
