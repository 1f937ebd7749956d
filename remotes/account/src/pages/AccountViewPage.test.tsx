import { store } from '@liaozhai/shared/runtime';
import { fireEvent, onTestEnd, openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { userDto } from '../fixtures';
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

  test('learns how many points an account starts with, and how far they go', async () => {
    const config = { rules: { signUpGift: 100, storyPrices: { short: 2, long: 3 } } };
    openRemote(remote, {}, { path: '/my', user: null, config });
    expect(await screen.findByText('注册即送 100 点，约 33 条')).toBeTruthy();
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

  test('without a user name sees no label of one', async () => {
    open({}, { username: '' });
    await screen.findByText('宁采臣');
    expect(screen.queryByText(/用户名/)).toBeNull();
  });

  test('whose account is to be erased sees when, and keeps it by one tap', async () => {
    const { user } = openRemote(
      remote,
      { ...member, 'DELETE /v1/user/deletion': { status: 204 } },
      {
        path: '/my',
        user: userDto({ deletion_at: '2999-12-01T07:30:00.000000Z' }),
        capabilities: ['account.delete'],
      },
    );
    expect(await screen.findByText(/^这个账号将于 2999年12月1日 15:30 注销/)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: '撤销注销' }));
    await waitFor(() => expect(screen.queryByText(/^这个账号将于/)).toBeNull());
  });

  test('is led to 账号与安全 where the server offers any of it', async () => {
    openRemote(remote, member, { path: '/my', user: userDto(), capabilities: ['account.devices'] });
    const way = await screen.findByRole('link', { name: texts.my.security });
    expect(way.getAttribute('href')).toBe('/my/security');
  });

  test('sets the theme for the whole page', async () => {
    const { user } = open();
    await user.click(await screen.findByRole('radio', { name: '深色' }));
    expect(document.documentElement.dataset.theme).toBe('dark');
    await user.click(screen.getByRole('radio', { name: '特大' }));
    expect(document.documentElement.dataset.fontSize).toBe('4');
  });
});

const configure = (settings: object) => {
  const config = document.createElement('script');
  config.id = 'liaozhai-config';
  config.type = 'application/json';
  config.textContent = JSON.stringify(settings);
  document.head.append(config);
  onTestEnd(() => config.remove());
};

describe('terms and privacy policy', () => {
  const links = () => within(screen.getByRole('region', { name: texts.legal.ways })).getAllByRole('link');

  test('are read without an account, and name who answers for the site', async () => {
    configure({ support: { operator: '兰若书局', email: 'ning@lanruo.example' } });
    const { user } = openRemote(remote, {}, { path: '/my', user: null });
    await screen.findByRole('button', { name: texts.guest.register });
    expect(links().map((link) => link.textContent)).toEqual([texts.legal.terms, texts.legal.privacy]);
    await user.click(links()[1] as HTMLElement);
    const policy = await screen.findByRole('article', { name: texts.legal.privacy });
    expect(policy.textContent).toContain('联系兰若书局：邮箱 ning@lanruo.example');
    expect(policy.textContent).toContain('2026 年 11 月 22 日起施行');
  });

  test('of the site itself take their place', async () => {
    configure({ legal: { terms: 'https://lanruo.example/terms' } });
    openRemote(remote, {}, { path: '/terms', user: null });
    const way = await screen.findByRole('link', { name: texts.legal.open });
    expect(way.getAttribute('href')).toBe('https://lanruo.example/terms');
    expect(screen.queryByRole('article')).toBeNull();
  });

  test('promise 未成年人模式 only where the server has it', async () => {
    const opened = openRemote(remote, {}, { path: '/terms', user: null, capabilities: ['account.minor'] });
    expect((await screen.findByRole('article')).textContent).toContain('未成年人模式');
    opened.unmount();
    openRemote(remote, {}, { path: '/terms', user: null });
    expect((await screen.findByRole('article')).textContent).not.toContain('未成年人模式');
  });
});

describe('rewards', () => {
  test('are named where the site configures them', async () => {
    configure({ rules: { checkInRewards: [10, 12, 14, 16], inviteReward: { inviter: 50, invitee: 20 } } });
    open();
    expect(await screen.findByRole('button', { name: texts.checkIn.actionFor(16) })).toBeTruthy();
    expect(screen.getByText(texts.invite.rewards(50, 20))).toBeTruthy();
  });
});

test.each([
  [2, '客服中心2 条新回复'],
  [0, '客服中心'],
])('%s unread answers of support show at its row', async (unread_answers, row) => {
  openRemote(remote, member, { path: '/my', user: userDto({ unread_answers }) });
  expect((await screen.findByRole('link', { name: /客服中心/ })).textContent).toBe(row);
});

test.each([' ', '\u200b', '\u202e', {}])('a code that shows nothing invites nobody: %j', async (code) => {
  const user: Record<string, unknown> = { ...userDto(), invite_code: code };
  openRemote(remote, member, { path: '/my', user });
  expect(await screen.findByText('宁采臣')).toBeTruthy();
  expect(screen.queryByRole('button', { name: texts.invite.share })).toBeNull();
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
  test('asks first, then shows the page for guests and keeps nothing of the user', async () => {
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

  test("that the server refuses shows the server's words", async () => {
    expect(await leave({ status: 500, body: { message: '门房睡着了' } })).toEqual(['门房睡着了']);
  });

  test('that fails without a message of the server shows a text of our own', async () => {
    expect(await leave({ status: 500, body: {} })).toEqual([texts.signOut.failed]);
  });

  test('can be called off', async () => {
    const { user } = open();
    await user.click(await screen.findByRole('button', { name: texts.signOut.action }));
    await user.click(await screen.findByRole('button', { name: texts.signOut.cancel }));
    expect(screen.getByText('宁采臣')).toBeTruthy();
  });

  test('cannot be called off once it is under way', async () => {
    let answer = (_: unknown) => {};
    const { user } = open({
      'POST /v1/logout': new Promise((resolve) => {
        answer = resolve;
      }),
    });
    await user.click(await screen.findByRole('button', { name: texts.signOut.action }));
    const question = await screen.findByRole('alertdialog', { name: texts.signOut.title });
    await user.click(within(question).getByRole('button', { name: texts.signOut.confirm }));
    await user.click(within(question).getByRole('button', { name: texts.signOut.cancel }));
    fireEvent(question, new Event('cancel', { cancelable: true }));
    expect(question).toHaveProperty('open', true);
    answer({ status: 204 });
    expect(await screen.findByRole('button', { name: texts.guest.register })).toBeTruthy();
  });
});
