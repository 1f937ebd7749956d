import { authPopup, session, store } from '@liaozhai/shared/runtime';
import { act, offline, onTestEnd, openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { checkInDto, userDto } from '../fixtures';
import remote from '../remote';
import { texts } from '../texts';

const member = { 'GET /v1/user': { data: userDto() } };
const open = (handlers = {}, patch: Parameters<typeof userDto>[0] = {}) =>
  openRemote(remote, { ...member, ...handlers }, { path: '/my', user: userDto(patch) });

const button = () => screen.findByRole('button', { name: texts.checkIn.action });

describe('check-in', () => {
  test('in an expired session shows no error next to the sign-in popup', async () => {
    onTestEnd(authPopup.onRequest(async () => false));
    const { user } = open({ 'POST /v1/check-in': { status: 401, body: { message: 'Unauthenticated.' } } });
    await user.click(await button());
    expect(await screen.findByRole('button', { name: texts.guest.login })).toBeTruthy();
    expect(store.getState().toasts).toEqual([]);
  });

  test('in an expired session counts once the user has signed in again', async () => {
    let isExpired = true;
    let isDone = false;
    const { user, requests } = open({
      'GET /v1/user': () => ({ data: userDto({ checked_in_today: isDone }) }),
      'POST /v1/check-in': () => {
        if (isExpired) return { status: 401, body: { message: 'Unauthenticated.' } };
        isDone = true;
        return { data: checkInDto() };
      },
    });
    onTestEnd(
      authPopup.onRequest(async () => {
        isExpired = false;
        session.userReceived(userDto());
        return true;
      }),
    );
    await user.click(await button());
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    const keys = requests.filter(({ method }) => method === 'POST').map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  });

  test('awards once however fast it is tapped, and says so', async () => {
    const { requests } = open({ 'POST /v1/check-in': { data: checkInDto({ awarded: 16, streak: 4 }) } });
    const once = await button();
    // both clicks before the page renders again
    act(() => {
      once.click();
      once.click();
    });
    expect(await screen.findByText(texts.checkIn.awarded(16, 4))).toBeTruthy();
    expect(screen.queryByRole('button', { name: texts.checkIn.action })).toBeNull();
    expect(requests.filter((request) => request.method === 'POST')).toHaveLength(1);
  });

  test('that fails can be tried again, under the same key', async () => {
    let works = false;
    const { user, requests } = open({
      'POST /v1/check-in': () =>
        works ? { data: checkInDto() } : { status: 500, body: { message: '签到簿暂时打不开' } },
    });
    await user.click(await button());
    await waitFor(() => expect(store.getState().toasts).toMatchObject([{ text: '签到簿暂时打不开' }]));
    await waitFor(async () => expect((await button()).hasAttribute('aria-busy')).toBe(false));
    works = true;
    await user.click(await button());
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    const keys = requests
      .filter((request) => request.method === 'POST')
      .map((request) => request.headers['idempotency-key']);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toBeTruthy();
    expect(keys[1]).toBe(keys[0]);
  });

  test('whose answer is lost is not offered again where it was done', async () => {
    let isDone = false;
    const { user } = open({
      'POST /v1/check-in': () => {
        isDone = true;
        throw offline();
      },
      'GET /v1/user': () => ({ data: userDto({ checked_in_today: isDone }) }),
    });
    await user.click(await button());
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    expect(screen.queryByRole('button', { name: texts.checkIn.action })).toBeNull();
  });

  test.each([409, 422, 400, 500])(
    'that is refused with %i as it was done before is not offered again',
    async (status) => {
      let isDone = false;
      const { user } = open({
        'POST /v1/check-in': () => {
          isDone = true;
          return { status, body: { message: 'Already checked in.' } };
        },
        'GET /v1/user': () => ({ data: userDto({ checked_in_today: isDone, balance: isDone ? 136 : 120 }) }),
      });
      await user.click(await button());
      expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
      expect(session.current()).toMatchObject({ user: { balance: 136 } });
      expect(store.getState().toasts).toEqual([]);
    },
  );

  test('done earlier today offers no button', async () => {
    open({ 'GET /v1/user': { data: userDto({ checked_in_today: true }) } }, { checked_in_today: true });
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    expect(screen.queryByRole('button', { name: texts.checkIn.action })).toBeNull();
  });

  test('shows the days of the streak in the week and in the month', async () => {
    const { user } = open();
    const week = await screen.findByRole('list', { name: texts.checkIn.week });
    expect(within(week).getAllByRole('listitem')).toHaveLength(7);
    await user.click(screen.getByRole('button', { name: /已连续 3 天/ }));
    const month = screen.getByRole('list', { name: /月签到$/ });
    expect(within(month).getAllByRole('listitem').length).toBeGreaterThanOrEqual(28);
  });
});

describe('at midnight in Shanghai check-in', () => {
  /** Time at which the page was opened; it advances only when the test sets it. */
  const openedAt = (time: string) => {
    rs.useFakeTimers({ toFake: ['Date'], now: new Date(time) });
    const opened = rs.spyOn(performance, 'timeOrigin', 'get').mockReturnValue(Date.now());
    onTestEnd(() => opened.mockRestore());
    onTestEnd(() => rs.useRealTimers());
  };
  const isLookedAtAt = (time: string) => {
    rs.setSystemTime(new Date(time));
    act(() => void document.dispatchEvent(new Event('visibilitychange')));
  };

  test('is open again', async () => {
    openedAt('2026-11-21T15:59:00Z');
    const { requests } = open({}, { checked_in_today: true });
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    expect(requests).toEqual([]);
    isLookedAtAt('2026-11-21T16:00:05Z');
    expect(await button()).toBeTruthy();
  });

  test('is open again also where 我的 is looked at for the first time afterwards', async () => {
    openedAt('2026-11-21T15:50:00Z');
    session.userReceived(userDto({ checked_in_today: true }));
    rs.setSystemTime(new Date('2026-11-21T16:10:00Z'));
    openRemote(remote, member, { path: '/my' });
    expect(await button()).toBeTruthy();
  });

  test('opens a little later where the clock of the device is ahead', async () => {
    openedAt('2026-11-21T15:59:00Z');
    rs.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: Date.now(), shouldAdvanceTime: true });
    let serverDayTurned = false;
    const { requests } = open(
      { 'GET /v1/user': () => ({ data: userDto({ checked_in_today: !serverDayTurned }) }) },
      { checked_in_today: true },
    );
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    await act(() => rs.advanceTimersByTimeAsync(62_000));
    expect(requests.map(({ url }) => url)).toEqual(['/v1/user']);
    expect(screen.getByText(texts.checkIn.done)).toBeTruthy();
    serverDayTurned = true;
    await act(() => rs.advanceTimersByTimeAsync(120_000));
    expect(await button()).toBeTruthy();
  });

  test('whose answer comes too late leaves the new day open', async () => {
    openedAt('2026-11-21T15:59:59Z');
    const yesterdays = checkInDto({ streak: 4 });
    let answer = (_: unknown) => {};
    const { user } = open({
      'GET /v1/user': { data: userDto({ check_in_streak: 4 }) },
      'POST /v1/check-in': new Promise((resolve) => {
        answer = resolve;
      }),
    });
    await user.click(await button());
    isLookedAtAt('2026-11-21T16:00:05Z');
    await screen.findByRole('button', { name: /已连续 4 天/ });
    answer({ data: yesterdays });
    await waitFor(() =>
      expect(screen.getByRole('button', { name: texts.checkIn.action })).toHaveProperty('disabled', false),
    );
    expect(screen.queryByText(texts.checkIn.done)).toBeNull();
  });

  test("yesterday's award is not shown again when today's came on another device", async () => {
    openedAt('2026-11-21T15:59:00Z');
    const { user, live } = open({ 'POST /v1/check-in': { data: checkInDto({ awarded: 16, streak: 4 }) } });
    await user.click(await button());
    expect(await screen.findByText(texts.checkIn.awarded(16, 4))).toBeTruthy();
    isLookedAtAt('2026-11-21T16:00:05Z');
    await button();
    live.push('user.updated', { user: userDto({ checked_in_today: true, version: 9 }) });
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    expect(screen.queryByText(texts.checkIn.awarded(16, 4))).toBeNull();
  });
});
