import { describe, expect, rs, test } from '@rstest/core';
import { anyPayload, idEventSchema, messageEventSchema } from '../../contract';
import { fakeApi, fakeRealtime, memberDto, onTestEnd, renderHook, waitFor } from '../../testing';
import { Provider, session, store } from '..';
import { session as sessionOfPage } from '../session/session';
import { followUser, listen, onCaughtUpNeeded, useRealtimeStatus } from './realtime';

function open() {
  const { live, restore } = fakeRealtime();
  onTestEnd(restore);
  const { result } = renderHook(useRealtimeStatus, {
    wrapper: ({ children }) => <Provider store={store}>{children}</Provider>,
  });
  const until = (status: string) => waitFor(() => expect(result.current).toBe(status));
  return { live, until, status: () => result.current };
}

const hear = (event: string) => {
  const heard: unknown[] = [];
  onTestEnd(listen(event, anyPayload, (payload) => heard.push(payload)));
  return heard;
};

function countCatchUps() {
  let count = 0;
  onTestEnd(
    onCaughtUpNeeded(() => {
      count += 1;
    }),
  );
  return () => count;
}

test('a guest has no socket, a member who listens has one', async () => {
  const { until, status } = open();
  hear('message.created');
  expect(status()).toBe('off');
  session.userReceived(memberDto());
  await until('live');
});

test('every active listener receives the event', async () => {
  const { live, until } = open();
  session.userReceived(memberDto());
  const first = hear('message.created');
  const second: unknown[] = [];
  const stop = listen('message.created', anyPayload, (payload) => second.push(payload));
  await until('live');
  live.push('message.created', 1);
  stop();
  stop();
  live.push('message.created', 2);
  expect(first).toEqual([1, 2]);
  expect(second).toEqual([1]);
});

test('late events of a deleted conversation are dropped, those without a conversation are delivered', async () => {
  const { live, until } = open();
  session.userReceived(memberDto());
  const heard = hear('suggestion.ready');
  hear('conversation.deleted');
  await until('live');
  for (const deletion of [{}, null, { id: null }, { id: 7 }]) live.push('conversation.deleted', deletion);
  live.push('suggestion.ready', { id: 'late', conversation_id: '7' });
  live.push('suggestion.ready', { id: 'of none' });
  live.push('suggestion.ready', { id: 'of another', conversation_id: 8 });
  expect(heard).toMatchObject([{ id: 'of none' }, { id: 'of another' }]);
});

test('unreadable events cause one catch-up', async () => {
  const { live, until } = open();
  session.userReceived(memberDto());
  const heard: unknown[] = [];
  onTestEnd(listen('message.created', messageEventSchema, (payload) => heard.push(payload)));
  onTestEnd(listen('conversation.restarted', idEventSchema, (payload) => heard.push(payload)));
  await until('live');
  const caughtUp = countCatchUps();
  rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestEnd(() => rs.useRealTimers());
  for (const payload of [null, 5, 'text', '{"id":']) live.push('message.created', payload);
  for (const payload of [{}, { id: {} }, []]) live.push('conversation.restarted', payload);
  live.push('unknown.event', 5);
  rs.advanceTimersByTime(5_000);
  expect([heard, caughtUp()]).toEqual([[], 1]);
  rs.advanceTimersByTime(60_000);
  expect(caughtUp()).toBe(1);
});

test('the same handler given twice is two listeners', async () => {
  const { live, until } = open();
  session.userReceived(memberDto());
  const heard: unknown[] = [];
  const handler = (payload: unknown) => heard.push(payload);
  const stop = listen('message.created', anyPayload, handler);
  onTestEnd(listen('message.created', anyPayload, handler));
  await until('live');
  stop();
  live.push('message.created', 1);
  expect(heard).toEqual([1]);
});

test('the channel is left when its last listener stops', async () => {
  const { until } = open();
  session.userReceived(memberDto());
  const stop = listen('message.created', anyPayload, () => {});
  await until('live');
  stop();
  await until('off');
});

test('an expired session closes the socket, the next one opens another', async () => {
  const { until } = open();
  hear('message.created');
  session.userReceived(memberDto({ id: 'u-1' }));
  await until('live');
  session.userReceived(memberDto({ id: 'u-2' }));
  await until('live');
  localStorage.removeItem('user-store');
  window.dispatchEvent(new StorageEvent('storage', { key: 'user-store' }));
  await until('off');
});

test('user data from the server is in the session before other listeners receive it', async () => {
  const { live, until } = open();
  session.userReceived(memberDto({ balance: 10, version: 1 }));
  const balances: unknown[] = [];
  onTestEnd(
    listen('balance.updated', anyPayload, () => {
      const current = session.current();
      balances.push(current.status === 'member' && current.user.balance);
    }),
  );
  await until('live');
  live.push('balance.updated', { balance: 8, version: 2 });
  live.push('balance.updated', { balance: 10, version: 1 });
  expect(balances).toEqual([8, 8]);
});

test('the end of a session makes the page check its own', async () => {
  const { live, until } = open();
  session.userReceived(memberDto());
  hear('message.created');
  await until('live');
  live.push('session.ended', {});
  await waitFor(() => expect(live.reauthorizations()).toBe(1));
});

describe('catching up', () => {
  test('follows each subscription', async () => {
    const { live, until } = open();
    session.userReceived(memberDto());
    const count = countCatchUps();
    hear('message.created');
    await until('live');
    expect(count()).toBe(1);
    live.drop();
    await until('waiting');
    live.restore();
    await until('live');
    // one for `online`, one for the renewed subscription
    expect(count()).toBe(3);
  });

  test('runs once when a phone wakes with three events', () => {
    const { live } = open();
    const clock = rs.spyOn(performance, 'now').mockReturnValue(1e9);
    onTestEnd(() => clock.mockRestore());
    session.userReceived(memberDto());
    const count = countCatchUps();
    document.dispatchEvent(new Event('visibilitychange'));
    window.dispatchEvent(new Event('online'));
    live.restore();
    expect(count()).toBe(1);
  });

  test('runs at each return to the page, however short the absence', () => {
    open();
    session.userReceived(memberDto());
    const count = countCatchUps();
    const look = (state: DocumentVisibilityState) => {
      Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    };
    for (const state of ['hidden', 'visible', 'hidden', 'visible'] as const) look(state);
    Reflect.deleteProperty(document, 'visibilityState');
    expect(count()).toBe(2);
  });

  test('does not run for a guest', () => {
    open();
    const count = countCatchUps();
    window.dispatchEvent(new Event('online'));
    expect(count()).toBe(0);
  });
});

describe('the balance of the signed-in user', () => {
  const balance = () => {
    const current = session.current();
    return current.status === 'member' && current.user.balance;
  };
  const changesElsewhere = () => {
    const { requests, restore } = fakeApi({ 'GET /v1/user': memberDto({ balance: 7, version: 2 }) });
    onTestEnd(restore);
    session.userReceived(memberDto({ balance: 10, version: 1 }));
    onTestEnd(followUser());
    return requests;
  };

  test('is requested when the page becomes visible, also without a socket', async () => {
    const { live } = open();
    live.drop();
    changesElsewhere();
    document.dispatchEvent(new Event('visibilitychange'));
    await waitFor(() => expect(balance()).toBe(7));
  });

  test('is not requested again when the socket first joins', async () => {
    const { until } = open();
    const requests = changesElsewhere();
    await until('live');
    expect(requests).toEqual([]);
  });

  test('is requested when the socket first joins if the first request failed', async () => {
    let failures = 1;
    const answer = () => (failures-- > 0 ? { status: 500 } : memberDto({ balance: 7, version: 2 }));
    const { requests, restore } = fakeApi({ 'GET /v1/user': answer });
    onTestEnd(restore);
    const warned = rs.spyOn(console, 'warn').mockImplementation(() => {});
    onTestEnd(() => warned.mockRestore());
    localStorage.setItem('user-store', JSON.stringify(memberDto()));
    sessionOfPage.takeStored();
    await session.refresh();
    const { until } = open();
    onTestEnd(followUser());
    await until('live');
    await waitFor(() => expect(session.current()).toMatchObject({ user: { balance: 7, isWhole: true } }));
    expect(requests).toHaveLength(2);
  });

  test('is requested when the socket first joins long after the first request', async () => {
    const { until } = open();
    const clock = rs.spyOn(performance, 'now').mockReturnValue(1e9);
    onTestEnd(() => clock.mockRestore());
    changesElsewhere();
    clock.mockReturnValue(1e9 + 60_000);
    await until('live');
    await waitFor(() => expect(balance()).toBe(7));
  });
});
