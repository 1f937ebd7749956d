import { describe, expect, rs, test } from '@rstest/core';
import { memberDto, onTestEnd, waitFor } from '../../testing';
import { request } from '../client/request';
import { onUnauthenticated } from '../client/unauthenticated';
import { drafts } from '../storage/drafts';
import { uncopiedCredentials } from '../storage/owner';
import { fakeNetwork, holdResponse, settle, storedUser, user } from './fixtures';
import { session } from './session';

const otherTabSays = (text: string | null) => {
  if (text === null) localStorage.removeItem('user-store');
  else localStorage.setItem('user-store', text);
  window.dispatchEvent(new StorageEvent('storage', { key: 'user-store', newValue: text }));
};

const otherTabSignsIn = (text: string) => {
  localStorage.setItem('liaozhai-owner', JSON.parse(text).id);
  otherTabSays(text);
};

test('keeps exactly the seven fields of the specification under user-store', () => {
  session.userReceived(memberDto({ id: '7', gender: 'male', checked_in_today: true }));
  expect(storedUser()).toEqual({
    id: '7',
    name: '宁采臣',
    username: 'a20261121',
    avatar: '',
    balance: 100,
    invite_code: 'LANRUO',
    persona: '',
  });
});

describe('the stored user', () => {
  const empty = ['', 'null', '[]', '{}', '"id"', '{broken', '{"id":null}', '{"id":""}', '{"id":{"a":1}}', '7'];
  for (const text of empty)
    test(`${JSON.stringify(text)} is no user`, () => {
      localStorage.setItem('user-store', text);
      session.takeStored();
      expect(session.current()).toEqual({ status: 'guest' });
    });

  test('is a user with an id alone; invalid fields are empty', () => {
    localStorage.setItem('user-store', '{"id":42,"name":[7],"balance":"many","future":true}');
    session.takeStored();
    expect(user()).toMatchObject({ id: '42', name: '', balance: 0, inviteCode: '' });
  });

  test.each([
    ['of an older build', { balance: '38.50' }, { balance: 38.5 }],
    [
      'edited by hand',
      { balance: 1e21, name: '\u202e宁\n采臣', avatar: null },
      { balance: 999_999_999_999, name: '宁 采臣' },
    ],
    ['with an endless name', { name: '宁'.repeat(300_000) }, { name: '宁'.repeat(500) }],
    [
      'with fields of a newer build',
      { deletion_at: '2999-12-01', minor: { on: true } },
      { deletionAt: null, minor: null },
    ],
  ])('is read like an answer: %s', (_, stored, expected) => {
    localStorage.setItem('user-store', JSON.stringify({ id: 'u-1', ...stored }));
    session.takeStored();
    expect(user()).toMatchObject(expected);
  });

  test('is optional: the session works if storage refuses everything', () => {
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
  test('an older patch is dropped, a newer or unnumbered one is applied', () => {
    session.userReceived(memberDto({ balance: 50, version: 5 }));
    session.userPatched({ balance: 60, version: 4 });
    expect(user()?.balance).toBe(50);
    session.userPatched({ balance: 40, version: 6 });
    expect(user()).toMatchObject({ balance: 40, version: 6 });
    session.userPatched({ name: '小倩' });
    expect(user()).toMatchObject({ name: '小倩', balance: 40, version: 6 });
  });

  test('an older response to GET /v1/user is dropped', async () => {
    const { answer, release } = holdResponse();
    fakeNetwork({ 'GET /v1/user': answer });
    session.userReceived(memberDto({ balance: 50, version: 5 }));
    const refreshing = session.refresh();
    await settle();
    session.userPatched({ balance: 48, version: 6 });
    release(memberDto({ balance: 50, version: 5 }));
    await refreshing;
    expect(user()?.balance).toBe(48);
  });

  test.each([
    ['a restored backup', 3],
    ['an event with a version that no user has', 9e15],
  ])('two older responses in a row are the truth: %s', async (_name, version) => {
    fakeNetwork({ 'GET /v1/user': memberDto({ balance: 20, version: 2 }) });
    session.userReceived(memberDto({ balance: 50, version: 1 }));
    session.userPatched({ balance: 60, version });
    await session.refresh();
    expect(user()?.balance).toBe(60);
    await session.refresh();
    expect(user()?.balance).toBe(20);
    session.userPatched({ balance: 30, version: 3 });
    expect(user()?.balance).toBe(30);
  });

  test('a response without a version is requested again if an event arrived meanwhile', async () => {
    const { answer, release } = holdResponse();
    let asked = 0;
    fakeNetwork({ 'GET /v1/user': () => (asked++ === 0 ? answer() : memberDto({ balance: 48, version: undefined })) });
    session.userReceived(memberDto({ balance: 50, version: undefined }));
    const refreshing = session.refresh();
    await settle();
    session.userPatched({ balance: 48 });
    release(memberDto({ balance: 50, version: undefined }));
    await refreshing;
    expect([user()?.balance, asked]).toEqual([48, 2]);
  });

  test('a patch of another user is ignored', () => {
    session.userReceived(memberDto());
    session.userPatched({ id: 'u-2', name: '别人' });
    expect(user()?.name).toBe('宁采臣');
  });
});

describe('a sign-in with a part of the user', () => {
  test('fetches the rest', async () => {
    const { answer, release } = holdResponse();
    const requests = fakeNetwork({ 'GET /v1/user': answer });
    session.signedIn({ id: 'u-1', name: '宁采臣' });
    expect([user()?.name, user()?.isWhole, session.isFresh()]).toEqual(['宁采臣', false, false]);
    release(memberDto({ minor: { on: true } }));
    await waitFor(() => expect(user()).toMatchObject({ balance: 100, minor: { on: true }, isWhole: true }));
    expect(requests).toHaveLength(1);
  });

  test('keeps what is known of this user', async () => {
    fakeNetwork({ 'GET /v1/user': { status: 503 } });
    session.userReceived(memberDto({ persona: '书生', minor: { on: true } }));
    session.signedIn({ id: 'u-1', name: '宁生' });
    await session.refresh();
    const known = { name: '宁生', persona: '书生', balance: 100 };
    expect(user()).toMatchObject({ ...known, minor: { on: true } });
    expect(storedUser()).toMatchObject(known);
  });
});

describe('an optimistic balance', () => {
  test('is reverted once when it is refused', () => {
    session.userReceived(memberDto({ balance: 10 }));
    const undo = session.balanceShifted(-2);
    expect(user()?.balance).toBe(8);
    undo();
    undo();
    expect(user()?.balance).toBe(10);
  });

  test('is replaced by the server’s balance', () => {
    session.userReceived(memberDto({ balance: 10, version: 1 }));
    const undo = session.balanceShifted(-2);
    session.userPatched({ balance: 1, version: 2 });
    undo();
    expect(user()?.balance).toBe(1);
  });

  test('of one user is not reverted for another', () => {
    session.userReceived(memberDto({ id: 'u-1', balance: 10 }));
    const undo = session.balanceShifted(-2);
    session.userReceived(memberDto({ id: 'u-2', balance: 30 }));
    undo();
    expect(user()?.balance).toBe(30);
  });
});

describe('races', () => {
  test('a response about a signed-out user does not sign in', async () => {
    const { answer, release } = holdResponse();
    fakeNetwork({ 'GET /v1/user': answer, 'POST /v1/logout': { status: 204 } });
    session.userReceived(memberDto());
    const refreshing = session.refresh();
    await settle();
    await session.signOut();
    release(memberDto());
    await refreshing;
    expect(session.current()).toEqual({ status: 'guest' });
    expect(storedUser()).toBeNull();
  });

  test('a response about the former user does not replace the current one', async () => {
    const { answer, release } = holdResponse();
    fakeNetwork({ 'GET /v1/user': answer });
    session.userReceived(memberDto({ id: 'u-1' }));
    const refreshing = session.refresh();
    await settle();
    session.userReceived(memberDto({ id: 'u-2' }));
    release(memberDto({ id: 'u-1' }));
    await refreshing;
    expect(user()?.id).toBe('u-2');
  });

  test('a late 401 of the former session does not end the new one', async () => {
    const { answer, release } = holdResponse();
    fakeNetwork({ 'GET /v1/user': answer });
    session.userReceived(memberDto({ id: 'u-1' }));
    const refreshing = session.refresh();
    await settle();
    session.userReceived(memberDto({ id: 'u-2' }));
    release({ status: 401 });
    await refreshing;
    expect(user()?.id).toBe('u-2');
  });

  test('several refreshes in parallel are one request', async () => {
    const requests = fakeNetwork({ 'GET /v1/user': memberDto({ balance: 7, version: 2 }) });
    session.userReceived(memberDto());
    await Promise.all([session.refresh(), session.refresh(), session.refresh()]);
    expect(requests).toHaveLength(1);
    expect(user()?.balance).toBe(7);
    await session.refresh();
    expect(requests).toHaveLength(2);
  });

  test('a refresh that fails changes nothing', async () => {
    fakeNetwork({ 'GET /v1/user': { status: 500 } });
    const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
    onTestEnd(() => warned.mockRestore());
    session.userReceived(memberDto());
    await session.refresh();
    expect(user()?.id).toBe('u-1');
    expect(warned).toHaveBeenCalledWith(
      'the user could not be refreshed',
      expect.objectContaining({ kind: 'server', status: 500 }),
    );
  });
});

describe('a session that is not stored', () => {
  const setCookie = (cookie = 'XSRF-TOKEN=token') => {
    Object.defineProperty(document, 'cookie', { configurable: true, get: () => cookie });
    onTestEnd(() => void Reflect.deleteProperty(document, 'cookie'));
  };
  const nobody = { 'GET /v1/user': { status: 401 } };
  const somebody = { 'GET /v1/user': { data: memberDto({ id: 'u-3' }) } };

  test('is found by the cookie that scripts may read', async () => {
    setCookie();
    const requests = fakeNetwork(somebody);
    await session.recover();
    await session.recover();
    expect([user()?.id, requests.length]).toEqual(['u-3', 1]);
  });

  test.each([
    ['goes on where storage is cleared under an open page', somebody, 'u-3', 'u-3'],
    ['runs out there once the server refuses it', nobody, undefined, null],
  ])('%s', async (_, answer, id, owner) => {
    setCookie();
    const requests = fakeNetwork(answer);
    session.userReceived(memberDto({ id: 'u-3' }));
    localStorage.clear();
    window.dispatchEvent(new StorageEvent('storage', { key: null }));
    await settle();
    expect([user()?.id, (storedUser() as { id?: string } | null)?.id ?? null, requests.length]).toEqual([id, owner, 1]);
  });

  test('that has ended is requested once, without a sign-in popup or a warning', async () => {
    setCookie();
    let refusals = 0;
    onTestEnd(onUnauthenticated(() => (refusals += 1)));
    const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
    onTestEnd(() => warned.mockRestore());
    const requests = fakeNetwork({ ...nobody, 'GET /v1/private': { status: 401 } });
    await session.recover();
    await session.recover();
    expect([session.current(), requests.length, refusals]).toEqual([{ status: 'guest' }, 1, 0]);
    expect(warned).not.toHaveBeenCalled();
    await request({ url: '/v1/private' }).catch(() => undefined);
    expect(refusals).toBe(1);
  });

  test('is requested again after a sign-in', async () => {
    setCookie();
    const requests = fakeNetwork(nobody);
    await session.recover();
    session.userReceived(memberDto());
    localStorage.clear();
    session.takeStored();
    await session.recover();
    expect(requests).toHaveLength(2);
  });

  test.each(['{', '[]', '{"id":null}', null])('is found if the stored user is damaged: %s', async (damaged) => {
    setCookie();
    const requests = fakeNetwork(somebody);
    localStorage.setItem('liaozhai-owner', 'u-3');
    if (damaged !== null) localStorage.setItem('user-store', damaged);
    session.takeStored();
    await session.recover();
    expect([user()?.id, requests.length]).toEqual(['u-3', 1]);
  });

  test('is not requested without the cookie', async () => {
    setCookie('other=1');
    const requests = fakeNetwork(somebody);
    await session.recover();
    expect(requests).toEqual([]);
  });

  test('is not requested after it expired in this page', async () => {
    setCookie();
    const requests = fakeNetwork({ ...somebody, 'GET /v1/private': { status: 401 } });
    session.userReceived(memberDto({ id: 'u-3' }));
    await request({ url: '/v1/private' }).catch(() => undefined);
    await session.recover();
    expect([session.current().status, requests.length]).toEqual(['guest', 1]);
  });
});

describe('other tabs', () => {
  test('signing in or out there applies here', () => {
    const changes: unknown[] = [];
    onTestEnd(session.onUserChanged((previousId, id) => changes.push([previousId, id])));
    otherTabSignsIn('{"id":"u-1","name":"宁采臣","balance":3}');
    expect(user()).toMatchObject({ id: 'u-1', name: '宁采臣', balance: 3 });
    localStorage.removeItem('liaozhai-owner');
    otherTabSays(null);
    expect(session.current()).toEqual({ status: 'guest' });
    expect(changes).toEqual([
      [null, 'u-1'],
      ['u-1', null],
    ]);
  });

  test('signing in there survives a refusal of this tab’s guest request', async () => {
    const { answer, release } = holdResponse();
    fakeNetwork({ 'GET /v1/private': answer });
    const asked = request({ url: '/v1/private' });
    await settle();
    otherTabSignsIn(JSON.stringify(memberDto()));
    release({ status: 401 });
    await expect(asked).rejects.toEqual({ kind: 'unauthenticated' });
    expect(user()?.id).toBe('u-1');
    expect(storedUser()).toMatchObject({ id: 'u-1' });
  });

  test('a balance from there applies here, and this tab’s own data remains', () => {
    session.userReceived(memberDto({ check_in_streak: 4, version: 2 }));
    otherTabSays(JSON.stringify({ ...memberDto(), balance: 77 }));
    expect(user()).toMatchObject({ balance: 77, checkInStreak: 4, version: 2 });
  });

  test('drafts and content here are removed after a log-out there', () => {
    session.userReceived(memberDto());
    uncopiedCredentials.keep('密码');
    drafts.write('s-1', '还没存');
    localStorage.clear();
    otherTabSays(null);
    drafts.flush();
    expect([...Object.keys(localStorage), ...Object.keys(sessionStorage)]).toEqual([]);
  });

  test('a page from the back/forward cache, which missed their events, applies a log-out and another user’s sign-in', () => {
    const restore = () => window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
    session.userReceived(memberDto());
    localStorage.clear();
    restore();
    expect(session.current()).toEqual({ status: 'guest' });
    localStorage.setItem('liaozhai-owner', 'u-2');
    localStorage.setItem('user-store', JSON.stringify(memberDto({ id: 'u-2' })));
    restore();
    expect(user()?.id).toBe('u-2');
  });

  test('a user stored there after a log-out here is ignored, a new sign-in is accepted', async () => {
    const leaver = memberDto({ id: 'u-8' });
    fakeNetwork({ 'POST /v1/logout': { status: 204 } });
    session.userReceived(leaver);
    await session.signOut();
    otherTabSays(JSON.stringify(leaver));
    expect(session.current()).toEqual({ status: 'guest' });
    expect(storedUser()).toBeNull();
    otherTabSignsIn(JSON.stringify(leaver));
    expect(user()?.id).toBe('u-8');
  });
});
