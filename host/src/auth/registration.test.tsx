import '../testing/pageFixture';
import { capabilities, requestLogin, session } from '@liaozhai/shared/runtime';
import { act, type Handlers, memberDto, offline, onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import {
  clipboard,
  expectToast,
  hasToast,
  input,
  openDialogs,
  openPopup,
  register,
  registrationResponse,
  reply,
} from '../testing/authPopup';
import { openHost } from '../testing/openHost';
import { loadAuthPopup } from './AuthGate';

// runs before the overlays' listener, which stops these events
let steps = 0;
window.addEventListener(
  'popstate',
  () => {
    steps += 1;
  },
  { capture: true },
);

describe('registering', () => {
  test('sends login, password and name, copies the credentials, closes, and suggests another password', async () => {
    const { typedValues, requests, loginResult } = await register({ 'POST /v1/register': registrationResponse() });
    await expectToast('账号密码已复制到剪贴板');
    expect(requests.filter(({ url }) => url === '/v1/register').map(({ body }) => body)).toEqual([typedValues]);
    expect(clipboard.copied[0]).toContain(typedValues.login ?? '?');
    expect(clipboard.copied[0]).toContain(typedValues.password ?? '?');
    expect(await loginResult).toBe(true);
    expect(session.current().status).toBe('member');
    await waitFor(() => expect(openDialogs()).toBe(0));
    await expectToast('去修改');
  });

  test('the suggestion of another password is gone after the user logs out', async () => {
    const { loginResult } = await register({
      'POST /v1/register': registrationResponse(),
      'POST /v1/logout': { status: 204 },
    });
    await expectToast('去修改');
    await loginResult;
    await act(() => session.signOut());
    expect(hasToast('去修改')).toBe(false);
  });

  test('has the token that it needs fetched while the popup opens', async () => {
    Reflect.set(document, 'cookie', 'XSRF-TOKEN=; expires=Thu, 01 Jan 1970 00:00:00 GMT');
    const { requests } = await openPopup({ 'GET /sanctum/csrf-cookie': { status: 204 } });
    expect(requests.map(({ url }) => url)).toContain('/sanctum/csrf-cookie');
  });

  test('an e-mail address waits for its confirmation, as a guest', async () => {
    const { user } = await register({ 'POST /v1/register': registrationResponse('email') });
    expect(await screen.findByRole('heading', { name: '确认邮箱' })).toBeTruthy();
    expect(session.current().status).toBe('guest');
    expect(clipboard.copied).toEqual([]);
    await user.click(screen.getByRole('button', { name: '返回登录' }));
    expect(screen.getByRole('heading', { name: '登录' })).toBeTruthy();
  });

  test('the invite code is sent for a guest who came by an invite link', async () => {
    sessionStorage.setItem('liaozhai-invite', 'LANRUO');
    const host = await openHost({ path: '/', handlers: { 'POST /v1/register': registrationResponse() } });
    void requestLogin();
    await host.user.click(await screen.findByRole('button', { name: '注册（请截图保存）' }));
    await expectToast('账号密码已复制到剪贴板');
    expect(host.requests.find(({ url }) => url === '/v1/register')?.body).toMatchObject({ invite_code: 'LANRUO' });
  });

  test('what the server refuses stands at its field and in a toast; typing takes it away', async () => {
    const errors = { login: ['这个用户名已被注册'] };
    const { user } = await register({
      'POST /v1/register': reply(422, { message: '这个用户名已被注册', errors }),
    });
    await expectToast('这个用户名已被注册');
    expect(input('login')?.getAttribute('aria-invalid')).toBe('true');
    await user.type(screen.getByLabelText('用户名'), '1');
    expect(input('login')?.getAttribute('aria-invalid')).toBeNull();
  });

  test('a running request keeps the popup open against every way to close it', async () => {
    let finish: (answer: unknown) => void = () => undefined;
    const answers = () => new Promise((resolve) => (finish = resolve));
    const { user } = await register({ 'POST /v1/register': answers });
    await user.keyboard('{Escape}');
    await user.click(screen.getByRole('button', { name: '关闭' }));
    steps = 0;
    history.back();
    await waitFor(() => expect(steps).toBe(2));
    expect(openDialogs()).toBe(1);
    await act(async () => finish(registrationResponse()));
    await expectToast('账号密码已复制到剪贴板');
    await waitFor(() => expect(openDialogs()).toBe(0));
  });

  test('two presses register once', async () => {
    let finish: (answer: unknown) => void = () => undefined;
    const host = await openPopup({ 'POST /v1/register': () => new Promise((resolve) => (finish = resolve)) });
    const form = screen.getByRole('button', { name: '注册（请截图保存）' }).closest('form');
    // before the button renders as busy
    await act(async () => {
      form?.requestSubmit();
      form?.requestSubmit();
    });
    await act(async () => finish(registrationResponse()));
    await expectToast('账号密码已复制到剪贴板');
    expect(host.requests.filter(({ url }) => url === '/v1/register')).toHaveLength(1);
  });
});

describe('the chosen gender', () => {
  const gender = () => {
    const current = session.current();
    return current.status === 'member' ? current.user.gender : null;
  };
  const told = (requests: { method: string; url: string; body: unknown }[]) =>
    requests.filter(({ method, url }) => method === 'PUT' && url === '/v1/user').map(({ body }) => body);

  async function registerAsWoman(handlers: Handlers) {
    const host = await openPopup(handlers);
    await host.user.click(screen.getByRole('radio', { name: '女' }));
    await host.user.click(screen.getByRole('button', { name: '注册（请截图保存）' }));
    return host;
  }

  test('is sent to the profile, since the registration has no field for it', async () => {
    const { requests } = await registerAsWoman({
      'POST /v1/register': registrationResponse(),
      'PUT /v1/user': { status: 204 },
    });
    await waitFor(() => expect(gender()).toBe('female'));
    expect(told(requests)).toEqual([{ gender: 'female' }]);
  });

  test('is sent again if the first attempt had no answer', async () => {
    rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    onTestEnd(() => void rs.useRealTimers());
    const answers: (() => unknown)[] = [
      () => {
        throw offline();
      },
      () => ({ status: 503, body: {} }),
      () => ({ status: 204 }),
    ];
    const { requests } = await registerAsWoman({
      'POST /v1/register': registrationResponse(),
      'PUT /v1/user': () => answers.shift()?.(),
    });
    await waitFor(() => expect(openDialogs()).toBe(0));
    await act(() => rs.advanceTimersByTimeAsync(20_000));
    expect(gender()).toBe('female');
    expect(told(requests)).toHaveLength(3);
  });

  test('is not sent again once the profile has another', async () => {
    rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    onTestEnd(() => void rs.useRealTimers());
    const { requests } = await registerAsWoman({
      'POST /v1/register': registrationResponse(),
      'PUT /v1/user': { status: 503, body: {} },
    });
    await waitFor(() => expect(openDialogs()).toBe(0));
    act(() => session.userPatched({ gender: 'male' }));
    await act(() => rs.advanceTimersByTimeAsync(20_000));
    expect(gender()).toBe('male');
    expect(told(requests)).toHaveLength(1);
  });

  test('that a server refuses is sent once', async () => {
    const { requests } = await registerAsWoman({
      'POST /v1/register': registrationResponse(),
      'PUT /v1/user': reply(422, { errors: { gender: ['no such field'] } }),
    });
    await waitFor(() => expect(openDialogs()).toBe(0));
    await waitFor(() => expect(told(requests)).toHaveLength(1));
    expect(gender()).toBe('');
  });

  test('waits with an address that is to be confirmed', async () => {
    const first = await registerAsWoman({ 'POST /v1/register': registrationResponse('email') });
    await screen.findByRole('heading', { name: '确认邮箱' });
    expect(told(first.requests)).toEqual([]);
    first.unmount();
    const second = await openHost({
      path: '/email/verify/u-1/abc',
      handlers: { 'GET /v1/email/verify/u-1/abc': {}, 'PUT /v1/user': { status: 204 } },
    });
    await waitFor(() => expect(gender()).toBe('female'));
    expect(told(second.requests)).toEqual([{ gender: 'female' }]);
  });

  test('is not sent for somebody else who confirms an address here', async () => {
    const first = await registerAsWoman({ 'POST /v1/register': registrationResponse('email') });
    await screen.findByRole('heading', { name: '确认邮箱' });
    first.unmount();
    const second = await openHost({
      path: '/email/verify/u-2/abc',
      handlers: { 'GET /v1/email/verify/u-2/abc': {}, 'GET /v1/user': { data: memberDto({ id: 'u-2' }) } },
    });
    await screen.findByText('邮箱已确认，欢迎来到聊斋。');
    expect(told(second.requests)).toEqual([]);
  });
});

describe('the clipboard is asked within the tap', () => {
  /** Submits, and answers only after the tap is over. */
  async function registerSlowly(answer: unknown) {
    let finish: (answer: unknown) => void = () => undefined;
    const host = await register({ 'POST /v1/register': () => new Promise((resolve) => (finish = resolve)) });
    await act(async () => finish(answer));
    return host;
  }

  test('and takes the credentials whenever the server answers', async () => {
    clipboard.accepts = 'within a tap';
    const { typedValues, loginResult } = await registerSlowly(registrationResponse());
    await expectToast('账号密码已复制到剪贴板');
    expect(clipboard.copied).toEqual([`用户名：${typedValues.login}\n密码：${typedValues.password}`]);
    expect(await loginResult).toBe(true);
  });

  test('a browser that takes no promises is asked again with the answer', async () => {
    clipboard.promises = false;
    const { typedValues } = await registerSlowly(registrationResponse());
    await expectToast('账号密码已复制到剪贴板');
    expect(clipboard.copied).toEqual([`用户名：${typedValues.login}\n密码：${typedValues.password}`]);
  });

  test.each([
    ['a refused registration', reply(422, { errors: { login: ['这个用户名已被注册'] } }), '这个用户名已被注册'],
    ['an address still to be confirmed', registrationResponse('email'), '确认邮件已发到'],
  ])('%s copies nothing and raises no error', async (_, answer, shown) => {
    const unhandled: unknown[] = [];
    const hear = (cause: unknown) => unhandled.push(cause);
    process.on('unhandledRejection', hear);
    onTestEnd(() => process.off('unhandledRejection', hear));
    await registerSlowly(answer);
    await screen.findAllByText(shown, { exact: false });
    expect(clipboard.copied).toEqual([]);
    expect(openDialogs()).toBe(1);
    expect(unhandled).toEqual([]);
  });
});

describe('credentials that the clipboard refuses', () => {
  test('are selected once their dialog is open, not while it opens', async () => {
    clipboard.accepts = 'never';
    const { showModal } = HTMLDialogElement.prototype;
    const { select } = HTMLTextAreaElement.prototype;
    let isOpening = false;
    const selected: string[] = [];
    // like browsers, unlike happy-dom: the first field is focused while the dialog opens
    HTMLDialogElement.prototype.showModal = function open() {
      isOpening = true;
      showModal.call(this);
      this.querySelector<HTMLElement>('textarea')?.focus();
      isOpening = false;
    };
    HTMLTextAreaElement.prototype.select = function heard() {
      if (this.closest('[role="alertdialog"]')) selected.push(isOpening ? 'while opening' : 'once open');
    };
    onTestEnd(() => {
      HTMLDialogElement.prototype.showModal = showModal;
      HTMLTextAreaElement.prototype.select = select;
    });
    await register({ 'POST /v1/register': registrationResponse() });
    await waitFor(() => expect(selected).not.toEqual([]));
    expect(selected).toEqual(['once open']);
  });

  test('stand in a dialog that only its button closes', async () => {
    clipboard.accepts = 'never';
    const { user, typedValues, loginResult } = await register({ 'POST /v1/register': registrationResponse() });
    const dialog = await screen.findByRole('alertdialog', { name: '自动复制失败' });
    const box = screen.getByLabelText<HTMLTextAreaElement>('请手工复制账号密码');
    expect(box.readOnly).toBe(true);
    expect(box.value).toContain(typedValues.password ?? '?');
    await user.keyboard('{Escape}');
    await user.click(dialog);
    expect(screen.queryByRole('alertdialog', { name: '自动复制失败' })).toBeTruthy();
    await user.click(screen.getByRole('button', { name: '我已经复制' }));
    expect(await loginResult).toBe(true);
    await waitFor(() => expect(openDialogs()).toBe(0));
  });

  test.each(['never', 'without an answer'] as const)(
    'outlive the page until they are copied: accepted %s',
    async (accepts) => {
      clipboard.accepts = accepts;
      const first = await register({ 'POST /v1/register': registrationResponse() });
      await waitFor(() => expect(session.current().status).toBe('member'));
      first.unmount();
      const second = await openHost();
      const field = await screen.findByLabelText<HTMLTextAreaElement>('请手工复制账号密码');
      expect(field.value).toContain(first.typedValues.password ?? '?');
      expect(openDialogs()).toBe(1);
      await second.user.click(screen.getByRole('button', { name: '我已经复制' }));
      await waitFor(() => expect(openDialogs()).toBe(0));
      second.unmount();
      await openHost();
      await act(loadAuthPopup);
      expect(screen.queryByLabelText('请手工复制账号密码')).toBeNull();
    },
  );
});

describe('registering again after the answer was lost', () => {
  const button = () => screen.getByRole<HTMLButtonElement>('button', { name: '注册（请截图保存）' });

  async function registerTwice(handlers: Handlers) {
    let isFirst = true;
    const answer = () => {
      if (!isFirst) return reply(422, { errors: { login: ['这个用户名已被注册'] } });
      isFirst = false;
      throw offline();
    };
    const host = await register({ 'POST /v1/register': answer, ...handlers });
    await expectToast('连不上服务');
    await waitFor(() => expect(button().disabled).toBe(false));
    return { ...host, again: () => host.user.click(button()) };
  }

  test('signs in to the account that was made all the same', async () => {
    const { typedValues, requests, loginResult, again } = await registerTwice({
      'POST /v1/login': { user: memberDto() },
    });
    await again();
    await expectToast('账号密码已复制到剪贴板');
    const { login: name, password } = typedValues;
    expect(requests.find(({ url }) => url === '/v1/login')?.body).toEqual({ login: name, password });
    expect(clipboard.copied[0]).toContain(password ?? '?');
    expect(await loginResult).toBe(true);
    expect(session.current().status).toBe('member');
  });

  test('leads to the confirmation where that account waits for it', async () => {
    const { again } = await registerTwice({ 'POST /v1/login': reply(403, {}) });
    await again();
    expect(await screen.findByRole('heading', { name: '确认邮箱' })).toBeTruthy();
  });

  test('reports a name in use if it is somebody else’s', async () => {
    const { again } = await registerTwice({
      'POST /v1/login': reply(422, { errors: { login: ['用户名或密码不正确'] } }),
    });
    await again();
    expect(await screen.findByText('这个用户名已被注册')).toBeTruthy();
    expect(screen.queryByText('用户名或密码不正确')).toBeNull();
  });

  test('under another password tries no account', async () => {
    const { user, requests, again } = await registerTwice({ 'POST /v1/login': { user: memberDto() } });
    await user.type(screen.getByLabelText('密码'), '7');
    await again();
    expect(await screen.findByText('这个用户名已被注册')).toBeTruthy();
    expect(requests.some(({ url }) => url === '/v1/login')).toBe(false);
  });
});

/** Follows invites, as the page does once it is idle. */
async function follow() {
  const { followInvites } = await loadAuthPopup();
  await act(async () => onTestEnd(followInvites(Promise.resolve())));
}

describe('an invite link', () => {
  const invitation = { data: { name: '小倩', avatar: null, rewards: { inviter: 50, invitee: 20 } } };
  const arrive = async (
    handlers: Handlers,
    { code = 'LANRUO', ...options }: { code?: string; member?: boolean } = {},
  ) => {
    sessionStorage.setItem('liaozhai-invite', code);
    capabilities.set(['invites']);
    onTestEnd(() => capabilities.set([]));
    const host = await openHost({ path: '/', handlers, ...options });
    await follow();
    return host;
  };

  test('says who invites and what both get, and leads to the registration', async () => {
    const { user } = await arrive({ 'GET /v1/invites/LANRUO': invitation });
    expect(await screen.findByText('「小倩」邀请你一起读故事')).toBeTruthy();
    expect(screen.getByText(/注册后你得 20 点，对方得 50 点。/)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: '接受邀请，去注册' }));
    expect(await screen.findByText(/受邀注册，邀请码 LANRUO（「小倩」）。注册后你得 20 点/)).toBeTruthy();
    expect(input('login')?.value).toMatch(/^a\d+$/);
  });

  test('whose server names no rewards says nothing in their place', async () => {
    const { user } = await arrive({ 'GET /v1/invites/YANCHI': { data: { name: '小倩' } } }, { code: 'YANCHI' });
    expect((await screen.findByText('「小倩」邀请你一起读故事')).nextElementSibling?.textContent).toBe('');
    await user.click(screen.getByRole('button', { name: '接受邀请，去注册' }));
    expect((await screen.findByText(/受邀注册/)).textContent).toBe('受邀注册，邀请码 YANCHI（「小倩」）。');
  });

  test('that loads slowly opens nothing over a page that is in use, and stays a tap away', async () => {
    let answer = (_invitation: unknown) => {};
    const slow = () => new Promise((resolve) => (answer = resolve));
    const { user } = await arrive({ 'GET /v1/invites/SLOW': slow }, { code: 'SLOW' });
    await user.click(screen.getByRole('main'));
    await act(async () => answer(invitation));
    await expectToast('「小倩」邀请你一起读故事');
    expect(openDialogs()).toBe(0);
    await user.click(screen.getByRole('button', { name: '看邀请' }));
    expect(await screen.findByRole('button', { name: '接受邀请，去注册' })).toBeTruthy();
  });

  test('greets once a visit', async () => {
    const { user } = await arrive({ 'GET /v1/invites/LANRUO': invitation });
    await user.click(await screen.findByRole('button', { name: '先看看故事' }));
    await waitFor(() => expect(openDialogs()).toBe(0));
    await follow();
    expect(openDialogs()).toBe(0);
  });

  test('with a code that nobody has is said kindly, and forgotten', async () => {
    await arrive({ 'GET /v1/invites/NOBODY': reply(404, { message: '没有找到这个邀请' }) }, { code: 'NOBODY' });
    await expectToast('这个邀请链接已经失效');
    expect(openDialogs()).toBe(0);
    void requestLogin();
    await screen.findByRole('dialog');
    expect(screen.queryByText(/受邀注册/)).toBeNull();
  });

  test('asks nothing for who is signed in', async () => {
    const { requests } = await arrive({}, { member: true });
    expect(requests.filter(({ url }) => url.startsWith('/v1/invites'))).toEqual([]);
    expect(openDialogs()).toBe(0);
  });
});

describe('what came by an invitation', () => {
  const gifts = [
    { id: 'a', points: 50, name: '小倩', side: 'inviter' },
    { id: 'b', points: 50, name: '连琐', side: 'inviter' },
    { id: 'c', points: 20, name: '聂生', side: 'invitee' },
  ];
  const openWith = async (answer: unknown) => {
    capabilities.set(['invites']);
    onTestEnd(() => capabilities.set([]));
    const host = await openHost({ handlers: { 'POST /v1/invites/gifts/announced': answer }, member: true });
    await follow();
    return host;
  };

  test('is announced once, as soon as the user sees it', async () => {
    const { requests } = await openWith({ data: gifts });
    act(() => session.userPatched({ gifts }));
    await expectToast('你接受了「聂生」的邀请，得 20 点');
    await expectToast('「小倩」等 2 位好友应邀来了，你得 100 点');
    act(() => session.userPatched({ gifts, balance: 7 }));
    const claims = requests.filter(({ url }) => url === '/v1/invites/gifts/announced');
    expect(claims.map(({ body }) => body)).toEqual([{ ids: ['a', 'b', 'c'] }]);
  });

  test.each([
    ['nothing', { status: 204 }],
    ['an empty object', {}],
    ['a sentence', { message: '已记录' }],
  ])('is announced if the server confirms it with %s', async (_, answer) => {
    await openWith(answer);
    act(() => session.userPatched({ gifts }));
    await expectToast('你接受了「聂生」的邀请，得 20 点');
  });

  test.each([null, 'invited'])('is announced without its side, too: %j', async (side) => {
    await openWith({ status: 204 });
    act(() => session.userPatched({ gifts: [{ id: 'a', points: 50, name: '小倩', side }] }));
    await expectToast('邀请的奖励到了，得 50 点');
  });

  test('without points is not celebrated', async () => {
    await openWith({
      data: [{ ...gifts[0], points: -5 }, gifts[1], { ...gifts[2], points: 0 }, { id: 'd', points: 0 }],
    });
    act(() => session.userPatched({ gifts }));
    await expectToast('「连琐」应邀来了，你得 50 点');
    expect(screen.getByRole('region', { name: '提示' }).textContent).not.toMatch(/聂生|小倩|奖励/);
  });

  test('is left to the page that the server gives it to', async () => {
    const { requests } = await openWith({ data: [] });
    act(() => session.userPatched({ gifts }));
    await waitFor(() => expect(requests.map(({ url }) => url)).toContain('/v1/invites/gifts/announced'));
    await act(async () => {});
    expect(screen.getByRole('region', { name: '提示' }).textContent).toBe('');
  });
});
