import { type Capability, session, store } from '@liaozhai/shared/runtime';
import { act, openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { deviceName, texts } from '../components/securityApi';
import { userDto } from '../fixtures';
import remote from '../remote';

const open = (capabilities: Capability[], handlers = {}) =>
  openRemote(
    remote,
    { 'GET /v1/user': { data: userDto() }, ...handlers },
    { path: '/my/security', user: userDto(), capabilities },
  );

const invalid = (errors: Record<string, string[]>) => ({ status: 422, body: { message: '有误', errors } });
const bodiesOf = (requests: { method: string; url: string; body: unknown }[], call: string) =>
  requests.filter(({ method, url }) => `${method} ${url}` === call).map(({ body }) => body);

test('what the server does not announce is neither shown nor requested', async () => {
  const { requests } = open([]);
  expect(await screen.findByText(texts.security.password.title)).toBeTruthy();
  for (const title of [texts.email.title, texts.devices.title, texts.deletion.title])
    expect(screen.queryByRole('region', { name: title })).toBeNull();
  expect(requests.map(({ url }) => url).filter((url) => url.startsWith('/v1/user/'))).toEqual([]);
});

describe('the address', () => {
  const none = { data: { email: null, verified_at: null, pending: null } };
  const pending = { data: { ...none.data, pending: { email: 'ning@example.org', sent_at: '2026-11-22T08:00:00Z' } } };
  const bound = { data: { email: 'ning@example.org', verified_at: '2026-11-22T08:01:00Z', pending: null } };
  const get = 'GET /v1/user/email';
  const put = 'PUT /v1/user/email';

  const fill = async (user: ReturnType<typeof open>['user'], email: string, password: string) => {
    await user.click(await screen.findByRole('button', { name: texts.email.bind }));
    if (email) await user.type(screen.getByLabelText(texts.email.field), email);
    if (password) await user.type(screen.getByLabelText(texts.security.currentPassword), password);
    await user.click(screen.getByRole('button', { name: texts.email.send }));
  };

  test('is requested with the password, waits for its mail, and is there once another device opened the link', async () => {
    let now: object = none;
    const { user, requests, live } = open(['account.email'], {
      [get]: () => now,
      [put]: () => {
        now = pending;
        return { status: 202, body: pending };
      },
    });
    expect(await screen.findByText(texts.email.none)).toBeTruthy();
    await fill(user, ' ning＠example.org ', '１３５７９０');
    expect(await screen.findByText(texts.email.pending('ning@example.org'))).toBeTruthy();
    expect(bodiesOf(requests, put)).toEqual([{ email: 'ning@example.org', current_password: '135790' }]);
    const again = screen.getByRole<HTMLButtonElement>('button', { name: /^\d+ 秒后可重新发送$/ });
    expect(again.disabled).toBe(true);
    now = bound;
    live.push('user.updated', { user: userDto({ version: 9 }) });
    expect(await screen.findByText(texts.email.confirmed)).toBeTruthy();
    expect(screen.queryByText(texts.email.pending('ning@example.org'))).toBeNull();
  });

  const unverified = { data: { email: 'ning@example.org', verified_at: null, pending: null } };
  test.each([
    [{ status: 204 }, pending],
    [{}, pending],
    [{ message: '已发送' }, pending],
    [unverified, unverified],
    [{ data: { email: 'ning@example.org' } }, unverified],
  ])('waits for its mail where its change is confirmed by %j', async (answer, stored) => {
    let now: object = none;
    const { user } = open(['account.email'], {
      [get]: () => now,
      [put]: () => {
        now = stored;
        return answer;
      },
    });
    await fill(user, 'ning@example.org', '135790');
    expect(await screen.findByText(texts.email.pending('ning@example.org'))).toBeTruthy();
    expect(screen.queryByText(texts.email.confirmed)).toBeNull();
  });

  test('that is stored and not confirmed waits for its mail', async () => {
    open(['account.email'], { [get]: unverified });
    expect(await screen.findByText(texts.email.pending('ning@example.org'))).toBeTruthy();
    expect(screen.queryByText(texts.email.confirmed)).toBeNull();
  });

  test('what is missing or refused is said at its field, and nothing is sent before', async () => {
    const { user, requests } = open(['account.email'], {
      [get]: none,
      [put]: invalid({ current_password: ['当前密码不正确'] }),
    });
    await fill(user, 'ning', '');
    const wrong = () => screen.getAllByRole('alert').map(({ textContent }) => textContent);
    await waitFor(() => expect(wrong()).toEqual(['邮箱格式不正确', '请填写当前密码']));
    expect(bodiesOf(requests, put)).toEqual([]);
    await user.type(screen.getByLabelText(texts.email.field), '@example.org');
    await user.type(screen.getByLabelText(texts.security.currentPassword), 'guess!');
    await user.click(screen.getByRole('button', { name: texts.email.send }));
    await waitFor(() => expect(wrong()).toEqual(['当前密码不正确']));
    expect(screen.getByLabelText<HTMLInputElement>(texts.email.field).value).toBe('ning@example.org');
  });

  test('stays typed when the session expires and the user signs in again', async () => {
    const { user } = open(['account.email'], { [get]: none, [put]: { status: 401, body: {} } });
    await fill(user, 'ning@example.org', '135790');
    await waitFor(() => expect(session.current().status).toBe('guest'));
    act(() => session.userReceived(userDto()));
    expect(screen.getByLabelText<HTMLInputElement>(texts.email.field).value).toBe('ning@example.org');
  });

  test('the mail is sent again, and a refusal says how long to wait', async () => {
    let answer: object = { status: 202, body: pending };
    const { user } = open(['account.email'], { [get]: pending, 'POST /v1/user/email/resend': () => answer });
    answer = { status: 429, body: {}, headers: { 'retry-after': '137' } };
    await user.click(await screen.findByRole('button', { name: texts.email.resend }));
    expect(await screen.findByRole('button', { name: '3 分钟后可重新发送' })).toBeTruthy();
  });

  test('that is bound can be changed', async () => {
    const { user } = open(['account.email'], { [get]: bound });
    const card = within(await screen.findByRole('region', { name: texts.email.title }));
    expect(await card.findByText('ning@example.org')).toBeTruthy();
    await user.click(card.getByRole('button', { name: texts.email.change }));
    expect(card.getByLabelText(texts.email.field)).toBeTruthy();
    await user.click(card.getByRole('button', { name: texts.security.cancel }));
    expect(card.queryByLabelText(texts.email.field)).toBeNull();
  });

  test('of a server that announces it and lacks it', async () => {
    open(['account.email'], { [get]: { status: 404, body: { code: 'route_missing', message: '没有这个接口' } } });
    expect(await screen.findByText('服务器还没有这项功能')).toBeTruthy();
  });
});

describe('the end of the account', () => {
  const post = 'POST /v1/user/deletion';
  const words = texts.deletion;
  const at = '2999-12-01T07:30:00.000000Z';

  test('says what it means, wants the password and a sentence typed, and can be taken back', async () => {
    const { user, requests } = open(['account.delete'], {
      [post]: { data: { deletion_at: at } },
      'DELETE /v1/user/deletion': { status: 204 },
    });
    await user.click(await screen.findByRole('button', { name: words.begin }));
    for (const consequence of words.about) expect(screen.getByText(consequence)).toBeTruthy();
    await user.type(screen.getByLabelText(texts.security.currentPassword), '１３５７９０');
    await user.click(screen.getByRole('button', { name: words.confirm }));
    expect(await screen.findByText(words.mistyped(words.typedWords))).toBeTruthy();
    expect(bodiesOf(requests, post)).toEqual([]);
    await user.type(screen.getByLabelText(words.typed(words.typedWords)), words.typedWords);
    await user.click(screen.getByRole('button', { name: words.confirm }));
    expect(await screen.findByText(words.scheduled('2999年12月1日 15:30'))).toBeTruthy();
    expect(bodiesOf(requests, post)).toEqual([{ current_password: '135790' }]);
    await user.click(screen.getByRole('button', { name: words.keep }));
    expect(await screen.findByRole('button', { name: words.begin })).toBeTruthy();
  });

  test.each([{ status: 204 }, { message: '已申请' }])('is said where the server confirms it by %j', async (answer) => {
    const { user } = open(['account.delete'], { [post]: answer });
    await user.click(await screen.findByRole('button', { name: words.begin }));
    await user.type(screen.getByLabelText(texts.security.currentPassword), '135790');
    await user.type(screen.getByLabelText(words.typed(words.typedWords)), words.typedWords);
    await user.click(screen.getByRole('button', { name: words.confirm }));
    expect(await screen.findByText(words.scheduled(''))).toBeTruthy();
    expect(screen.queryByLabelText(texts.security.currentPassword)).toBeNull();
  });

  const undo = async (answer: unknown) => {
    const user = userDto({ deletion_at: at });
    const remove = { 'DELETE /v1/user/deletion': answer };
    const opened = openRemote(remote, remove, { path: '/my/security', user, capabilities: ['account.delete'] });
    await opened.user.click(await screen.findByRole('button', { name: words.keep }));
    await waitFor(() => expect(store.getState().toasts).toHaveLength(1));
    return store.getState().toasts.map(({ text }) => text);
  };

  test.each([{ status: 204 }, {}, { message: '已撤销' }, { data: { deletion_at: null } }, { data: userDto() }])(
    'is taken back where the answer is %j',
    async (answer) => {
      expect(await undo(answer)).toEqual([words.kept]);
      expect(screen.getByRole('button', { name: words.begin })).toBeTruthy();
    },
  );

  test.each([
    [{ data: { deletion_at: '2999-12-05T07:30:00Z' } }, '2999年12月5日 15:30'],
    [{ deletion_at: '2999-12-05 07:30:00' }, '2999年12月5日 15:30'],
    [{ data: { deletion_at: '过几天' } }, ''],
  ])('stays scheduled where the answer is %j', async (answer, when) => {
    expect(await undo(answer)).toEqual([words.notKept]);
    expect(screen.getByText(words.scheduled(when))).toBeTruthy();
  });

  test('a wrong password is said at its field', async () => {
    const { user } = open(['account.delete'], { [post]: invalid({ current_password: ['当前密码不正确'] }) });
    await user.click(await screen.findByRole('button', { name: words.begin }));
    await user.type(screen.getByLabelText(texts.security.currentPassword), 'guess!');
    await user.type(screen.getByLabelText(words.typed(words.typedWords)), words.typedWords);
    await user.click(screen.getByRole('button', { name: words.confirm }));
    await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('当前密码不正确'));
  });

  test('requested on another device it shows here', async () => {
    const { live } = open(['account.delete']);
    await screen.findByRole('button', { name: words.begin });
    live.push('user.updated', { user: userDto({ deletion_at: at, version: 9 }) });
    expect(await screen.findByText(words.scheduled('2999年12月1日 15:30'))).toBeTruthy();
  });
});

describe('the devices', () => {
  const iPhone =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1';
  const windows =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36';
  const device = (id: string, user_agent: string, is_current = false) => ({
    id,
    user_agent,
    is_current,
    created_at: '2026-11-20T08:00:00Z',
    last_used_at: new Date().toISOString(),
  });
  const get = 'GET /v1/user/sessions';
  const rows = async () => {
    const card = await screen.findByRole('region', { name: texts.devices.title });
    return within(card).findAllByRole('listitem');
  };

  test('stand there in plain words, this one first and marked', async () => {
    open(['account.devices'], { [get]: { data: [device('s-2', iPhone), device('s-1', windows, true)] } });
    expect((await rows()).map(({ textContent }) => textContent)).toEqual([
      'Windows 电脑上的 Chrome最近使用：刚刚本机',
      'iPhone 上的 Safari最近使用：刚刚退出',
    ]);
    expect(screen.getByRole('button', { name: '退出登录：iPhone 上的 Safari' })).toBeTruthy();
  });

  test('that the server repeats under one id are one', async () => {
    const again = { ...device('s-2', iPhone), last_used_at: '2026-11-20T08:00:00Z' };
    open(['account.devices'], { [get]: { data: [device('s-1', windows, true), device('s-2', iPhone), again] } });
    expect(await rows()).toHaveLength(2);
  });

  test('one is logged out after a question, and gone from the list', async () => {
    let sessions = [device('s-1', windows, true), device('s/2', iPhone), device('s-3', iPhone)];
    const call = 'DELETE /v1/user/sessions/s%2F2';
    const { user, requests } = open(['account.devices'], {
      [get]: () => ({ data: sessions }),
      [call]: () => {
        sessions = sessions.filter(({ id }) => id !== 's/2');
        return { status: 204 };
      },
    });
    const [first] = await screen.findAllByRole('button', { name: texts.devices.endOf('iPhone 上的 Safari') });
    await user.click(first as HTMLElement);
    const dialog = within(await screen.findByRole('alertdialog', { name: texts.devices.ask('iPhone 上的 Safari') }));
    expect(bodiesOf(requests, call)).toEqual([]);
    await user.click(dialog.getByRole('button', { name: texts.devices.confirm }));
    await waitFor(async () => expect(await rows()).toHaveLength(2));
    expect(bodiesOf(requests, call)).toHaveLength(1);
  });

  test('all others are logged out together; alone there is nothing to log out', async () => {
    let sessions = [device('s-1', windows, true), device('s-2', iPhone)];
    const { user } = open(['account.devices'], {
      [get]: () => ({ data: sessions }),
      'DELETE /v1/user/sessions': () => {
        sessions = sessions.slice(0, 1);
        return { status: 204 };
      },
    });
    await user.click(await screen.findByRole('button', { name: texts.devices.endOthers }));
    const dialog = within(await screen.findByRole('alertdialog', { name: texts.devices.askOthers }));
    await user.click(dialog.getByRole('button', { name: texts.devices.confirm }));
    await waitFor(async () => expect(await rows()).toHaveLength(1));
    expect(screen.queryByRole('button', { name: texts.devices.endOthers })).toBeNull();
  });

  test('one that another device has logged out leaves the list', async () => {
    let sessions = [device('s-1', windows, true), device('s-2', iPhone)];
    const { live } = open(['account.devices'], { [get]: () => ({ data: sessions }) });
    expect(await rows()).toHaveLength(2);
    sessions = sessions.slice(0, 1);
    live.push('session.ended', {});
    await waitFor(async () => expect(await rows()).toHaveLength(1));
  });

  test('that the server refuses to log out is said', async () => {
    const refusal = { status: 404, body: { code: 'route_missing', message: '没有这个接口' } };
    const { user } = open(['account.devices'], {
      [get]: { data: [device('s-1', windows, true), device('s-2', iPhone)] },
      'DELETE /v1/user/sessions/s-2': refusal,
    });
    await user.click(await screen.findByRole('button', { name: texts.devices.endOf('iPhone 上的 Safari') }));
    const dialog = within(await screen.findByRole('alertdialog', { name: texts.devices.ask('iPhone 上的 Safari') }));
    await user.click(dialog.getByRole('button', { name: texts.devices.confirm }));
    await waitFor(() => expect(store.getState().toasts.map(({ text }) => text)).toEqual(['服务器还没有这项功能']));
  });
});

test.each([
  [
    'iPhone 上的微信',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 MicroMessenger/8.0.49',
  ],
  [
    '安卓手机上的 Chrome',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/124.0.0.0 Mobile Safari/537.36',
  ],
  [
    '安卓平板上的三星浏览器',
    'Mozilla/5.0 (Linux; Android 14; SM-X710) AppleWebKit/537.36 SamsungBrowser/25.0 Chrome/121.0 Safari/537.36',
  ],
  [
    'Windows 电脑上的 Edge',
    'Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/124.0.0.0 Safari/537.36 Edg/124.0.0.0',
  ],
  [
    'Mac 上的 Safari',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.4 Safari/605.1.15',
  ],
  ['Linux 电脑上的 Firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0'],
  ['Linux 电脑', 'curl on Linux'],
  ['未知设备', ''],
])('a device is called %s', (name, userAgent) => {
  expect(deviceName(userAgent)).toBe(name);
});
