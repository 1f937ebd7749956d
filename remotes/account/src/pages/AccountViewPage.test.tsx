import { store } from '@liaozhai/shared/runtime';
import { act, onTestEnd, openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { checkInDto, userDto } from '../fixtures';
import remote from '../remote';
import { texts } from '../texts';

const member = { 'GET /v1/user': { data: userDto() } };
const open = (handlers = {}, patch: Parameters<typeof userDto>[0] = {}) =>
  openRemote(remote, { ...member, ...handlers }, { path: '/my', user: userDto(patch) });

describe('an anonymous visitor', () => {
  test('learns what an account is for, can set the display, and causes no request', async () => {
    const { requests } = openRemote(remote, {}, { path: '/my', user: null });
    expect(await screen.findByRole('button', { name: texts.guest.register })).toBeTruthy();
    expect(screen.getByRole('button', { name: texts.guest.login })).toBeTruthy();
    expect(screen.getByRole('group', { name: texts.display.theme })).toBeTruthy();
    expect(screen.queryByText(texts.signOut.action)).toBeNull();
    expect(requests).toEqual([]);
  });
});

describe('a member', () => {
  test('sees who they are and every way on', async () => {
    open();
    expect(await screen.findByText('宁采臣')).toBeTruthy();
    expect(screen.getByText('LANRUO')).toBeTruthy();
    const ways = within(screen.getByRole('navigation', { name: texts.my.more })).getAllByRole('link');
    expect(ways.map((way) => way.getAttribute('href'))).toEqual([
      '/my/profile',
      '/my/wallet/transactions',
      '/my/wallet/recharge',
      '/my/support',
    ]);
  });

  test('sets the theme for the whole page', async () => {
    const { user } = open();
    await user.click(await screen.findByRole('radio', { name: texts.display.themes.dark }));
    expect(document.documentElement.dataset.theme).toBe('dark');
    await user.click(screen.getByRole('radio', { name: texts.display.fontSizes[4] }));
    expect(document.documentElement.dataset.fontSize).toBe('4');
  });
});

describe('check-in', () => {
  const button = () => screen.findByRole('button', { name: texts.checkIn.action });

  test('in a session that has run out leaves the word to the sign-in popup', async () => {
    const { user } = open({ 'POST /v1/check-in': { status: 401, body: { message: 'Unauthenticated.' } } });
    await user.click(await button());
    expect(await screen.findByRole('button', { name: texts.guest.login })).toBeTruthy();
    expect(store.getState().toasts).toEqual([]);
  });

  test('awards once however fast it is tapped, and says so', async () => {
    const { requests } = open({ 'POST /v1/check-in': { data: checkInDto({ awarded: 16, streak: 4 }) } });
    const once = await button();
    // both taps before the page has had time to draw anything
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
    await waitFor(async () => expect((await button()).hasAttribute('disabled')).toBe(false));
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

  test('done earlier today offers no button', async () => {
    open({ 'GET /v1/user': { data: userDto({ checked_in_today: true }) } }, { checked_in_today: true });
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    expect(screen.queryByRole('button', { name: texts.checkIn.action })).toBeNull();
  });

  test('is open again when the day has turned in Shanghai', async () => {
    rs.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T15:59:00Z') });
    onTestEnd(() => rs.useRealTimers());
    const { requests } = open({}, { checked_in_today: true });
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    expect(requests).toEqual([]);
    rs.setSystemTime(new Date('2026-11-21T16:00:05Z'));
    act(() => void document.dispatchEvent(new Event('visibilitychange')));
    expect(await button()).toBeTruthy();
  });

  test("yesterday's award is not told again when today's came on another device", async () => {
    rs.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T15:59:00Z') });
    onTestEnd(() => rs.useRealTimers());
    const { user, live } = open({ 'POST /v1/check-in': { data: checkInDto({ awarded: 16, streak: 4 }) } });
    await user.click(await button());
    expect(await screen.findByText(texts.checkIn.awarded(16, 4))).toBeTruthy();
    rs.setSystemTime(new Date('2026-11-21T16:00:05Z'));
    act(() => void document.dispatchEvent(new Event('visibilitychange')));
    await button();
    live.push('user.updated', { user: userDto({ checked_in_today: true, version: 9 }) });
    expect(await screen.findByText(texts.checkIn.done)).toBeTruthy();
    expect(screen.queryByText(texts.checkIn.awarded(16, 4))).toBeNull();
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

describe('rewards', () => {
  const configure = (rules: object) => {
    const config = document.createElement('script');
    config.id = 'liaozhai-config';
    config.type = 'application/json';
    config.textContent = JSON.stringify({ rules });
    document.head.append(config);
    onTestEnd(() => config.remove());
  };

  test('are named where the site configures them', async () => {
    configure({ checkInRewards: [10, 12, 14, 16], inviteReward: { inviter: 50, invitee: 20 } });
    open();
    expect(await screen.findByRole('button', { name: texts.checkIn.actionFor(16) })).toBeTruthy();
    expect(screen.getByText(texts.invite.rewards(50, 20))).toBeTruthy();
  });
});

test('a link that can be neither shared nor copied is shown, since only who follows it counts as invited', async () => {
  const { user } = open();
  const share = await screen.findByRole('button', { name: texts.invite.share });
  const refused = rs.spyOn(navigator.clipboard, 'writeText').mockRejectedValue(new DOMException('', 'NotAllowedError'));
  onTestEnd(() => refused.mockRestore());
  await user.click(share);
  await waitFor(() => expect(store.getState().toasts.at(-1)?.text).toContain(`${location.origin}/?invite=LANRUO`));
});

describe('log-out', () => {
  test('asks first, then shows the anonymous face and keeps nothing of the user', async () => {
    const { user, requests } = open({ 'POST /v1/logout': { status: 204 } });
    await user.click(await screen.findByRole('button', { name: texts.signOut.action }));
    const question = await screen.findByRole('alertdialog', { name: texts.signOut.title });
    expect(requests.some((request) => request.url.endsWith('/logout'))).toBe(false);
    await user.click(within(question).getByRole('button', { name: texts.signOut.confirm }));
    expect(await screen.findByRole('button', { name: texts.guest.register })).toBeTruthy();
    expect(localStorage.getItem('user-store') ?? '').not.toContain('u-1');
  });

  const leave = async (refusal: { status: number; body: object }) => {
    const { user } = open({ 'POST /v1/logout': refusal });
    await user.click(await screen.findByRole('button', { name: texts.signOut.action }));
    const question = await screen.findByRole('alertdialog', { name: texts.signOut.title });
    await user.click(within(question).getByRole('button', { name: texts.signOut.confirm }));
    await waitFor(() => expect(screen.queryByRole('alertdialog')).toBeNull());
    expect(screen.getByText('宁采臣')).toBeTruthy();
    return store.getState().toasts.map(({ text }) => text);
  };

  test("that the server refuses is told in the server's words", async () => {
    expect(await leave({ status: 500, body: { message: '门房睡着了' } })).toEqual(['门房睡着了']);
  });

  test('that fails without a word from the server is told in our own', async () => {
    expect(await leave({ status: 500, body: {} })).toEqual([texts.signOut.failed]);
  });

  test('can be called off', async () => {
    const { user } = open();
    await user.click(await screen.findByRole('button', { name: texts.signOut.action }));
    await user.click(await screen.findByRole('button', { name: texts.signOut.cancel }));
    expect(screen.getByText('宁采臣')).toBeTruthy();
  });
});
