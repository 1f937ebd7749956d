import { CONSENT_VERSION } from '@liaozhai/shared/contract';
import { capabilities, session } from '@liaozhai/shared/runtime';
import { memberDto, onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import {
  expectToast,
  input,
  inputValue,
  login,
  openDialogs,
  openPopup,
  register,
  registrationResponse,
  reply,
} from '../testing/authPopup';
import { serveBuild } from '../testing/fakeRemotes';

describe('what the popup shows', () => {
  test('registration is filled in, with the password in clear', async () => {
    await openPopup();
    expect(inputValue('login')).toMatch(/^a\d+$/);
    expect(inputValue('password')).toMatch(/^\d{6}$/);
    expect(inputValue('name')).toMatch(/^\p{Script=Han}{2,4}$/u);
    expect(input('password')?.type).toBe('text');
    expect(screen.getAllByRole('radio', { name: /男|女/ })).toHaveLength(2);
  });

  // a name may be generated twice by chance
  test.each([
    ['each change of gender', ['女', '男', '女', '男', '女', '男'], 'radio'],
    ['each press of the refresh icon', Array(6).fill('换一个昵称'), 'button'],
  ])('%s makes a new nickname', async (_, presses: string[], role) => {
    const { user } = await openPopup();
    const seen = new Set([inputValue('name')]);
    for (const name of presses) {
      await user.click(screen.getByRole(role, { name }));
      seen.add(inputValue('name'));
    }
    expect(seen.size).toBeGreaterThan(4);
  });

  test('switching to login clears and hides, switching back fills again', async () => {
    const { user } = await openPopup();
    const before = inputValue('login');
    await user.click(screen.getByRole('button', { name: '已有账号？去登录' }));
    expect([inputValue('login'), inputValue('password'), inputValue('name')]).toEqual(['', '', null]);
    expect(input('password')?.type).toBe('password');
    await user.click(screen.getByRole('button', { name: '显示密码' }));
    expect(input('password')?.type).toBe('text');
    await user.click(screen.getByRole('button', { name: '没有账号？去注册' }));
    expect(inputValue('login')).toMatch(/^a\d+$/);
    expect(inputValue('login')).not.toBe(before);
    expect(input('password')?.type).toBe('text');
  });

  test('fields carry the names that password managers know', async () => {
    const { user } = await openPopup();
    const kinds = () => ['name', 'login', 'password'].map((name) => input(name)?.autocomplete);
    expect(kinds()).toEqual(['nickname', 'username', 'new-password']);
    await user.click(screen.getByRole('button', { name: '已有账号？去登录' }));
    expect(kinds()).toEqual([undefined, 'username', 'current-password']);
  });
});

describe('what a registration agrees to', () => {
  test('stands below the button, as links with addresses of their own', async () => {
    const { user } = await openPopup();
    for (const [name, href] of [
      ['《用户协议》', '/terms'],
      ['《隐私政策》', '/privacy'],
    ] as const) {
      const link = screen.getByRole('link', { name });
      expect([link.getAttribute('href'), link.getAttribute('target')]).toEqual([href, '_blank']);
    }
    await user.click(screen.getByRole('button', { name: '已有账号？去登录' }));
    expect(screen.queryByRole('link', { name: '《用户协议》' })).toBeNull();
  });

  test('can be read over the form, which keeps what was typed', async () => {
    serveBuild('account', {
      legal: async () => ({ default: ({ document }: { document: string }) => <p>{document} 的全文</p> }),
    });
    const { user } = await openPopup();
    await user.clear(screen.getByLabelText('昵称'));
    await user.type(screen.getByLabelText('昵称'), '月下客');
    await user.click(screen.getByRole('link', { name: '《隐私政策》' }));
    expect(await screen.findByText('privacy 的全文')).toBeTruthy();
    await user.click(screen.getByRole('button', { name: '读完了' }));
    await waitFor(() => expect(openDialogs()).toBe(1));
    expect(inputValue('name')).toBe('月下客');
  });

  test.each([
    ['a server that stores it receives the version', ['account.consent'], { consent_version: CONSENT_VERSION }],
    ['another receives nothing beyond the specification', [], {}],
  ] as const)('%s', async (_, announced, extra) => {
    capabilities.set(announced);
    onTestEnd(() => capabilities.set([]));
    const { typedValues, requests } = await register({ 'POST /v1/register': registrationResponse() });
    await expectToast('账号密码已复制到剪贴板');
    expect(requests.find(({ url }) => url === '/v1/register')?.body).toEqual({ ...typedValues, ...extra });
  });
});

/** Fills a field without an event, as some password managers do. */
function fillSilently(name: string, value: string) {
  const field = input(name);
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, value);
}

/** Fills a field as most scripts do, which React does not notice either. */
function assign(name: string, value: string) {
  Object.assign(input(name) ?? {}, { value });
}

describe.each([
  ['without an event', fillSilently],
  ['by a script', assign],
])('fields that are filled %s', (_, fill) => {
  test('stay filled, and what they show is sent', async () => {
    const { user, requests } = await openPopup({ 'POST /v1/login': { user: memberDto() } }, 'login');
    fill('login', 'fox');
    fill('password', '384756');
    await user.click(screen.getByRole('button', { name: '显示密码' }));
    expect([inputValue('login'), inputValue('password')]).toEqual(['fox', '384756']);
    await user.click(screen.getByRole('button', { name: '登录' }));
    await expectToast('登录成功');
    expect(requests.find(({ url }) => url === '/v1/login')?.body).toEqual({ login: 'fox', password: '384756' });
  });

  test('take the place of what a registration was filled in with', async () => {
    const { user, requests } = await openPopup({ 'POST /v1/register': registrationResponse() });
    fill('password', '987654');
    await user.click(screen.getByRole('button', { name: '注册（请截图保存）' }));
    await waitFor(() => expect(requests.map(({ url }) => url)).toContain('/v1/register'));
    expect(requests.find(({ url }) => url === '/v1/register')?.body).toMatchObject({ password: '987654' });
    expect(inputValue('password') ?? '987654').toBe('987654');
  });
});

test.each([
  ['用户名', '用户名：fox\n密码：384756'],
  ['密码', '账号：ｆｏｘ 密码：384756 '],
])('into %s the whole copied text can be pasted', async (label, text) => {
  const { user, requests } = await openPopup({ 'POST /v1/login': { user: memberDto() } }, 'login');
  await user.click(screen.getByLabelText(label));
  await user.paste(text);
  expect([inputValue('login'), inputValue('password')]).toEqual(['fox', '384756']);
  await user.click(screen.getByRole('button', { name: '登录' }));
  await expectToast('登录成功');
  expect(requests.find(({ url }) => url === '/v1/login')?.body).toEqual({ login: 'fox', password: '384756' });
});

test.each([
  ['full-width letters', 'ｆｏｘ', '３８４７５６'],
  ['blanks copied along', ' fox ', '384756 '],
  ['marks that do not show', '\u200bfox', '384756\u2060'],
])('pasted credentials with %s are sent as they were meant, and shown so', async (_, name, password) => {
  const { user, requests } = await openPopup({ 'POST /v1/login': reply(422, { message: '', errors: {} }) }, 'login');
  await user.click(screen.getByLabelText('用户名'));
  await user.paste(name);
  await user.click(screen.getByLabelText('密码'));
  await user.paste(password);
  await user.click(screen.getByRole('button', { name: '登录' }));
  await waitFor(() => expect(requests.map(({ url }) => url)).toContain('/v1/login'));
  expect(requests.find(({ url }) => url === '/v1/login')?.body).toEqual({ login: 'fox', password: '384756' });
  expect([inputValue('login'), inputValue('password')]).toEqual(['fox', '384756']);
});

describe('logging in', () => {
  test('says so and closes', async () => {
    const { loginResult, requests } = await login({ 'POST /v1/login': { user: memberDto() } });
    await expectToast('登录成功');
    expect(await loginResult).toBe(true);
    expect(requests.find(({ url }) => url === '/v1/login')?.body).toEqual({ login: 'fox', password: '123456' });
  });

  const deletionAt = '2999-12-01T07:30:00.000Z';
  test.each([
    ['keeps it by one tap', { status: 204 }, '账号保留了', null],
    ['does not say that a server kept it that did not', { deletion_at: deletionAt }, '还没有撤销', deletionAt],
  ])('into an account that is to be erased says when, and %s', async (_, answer, told, expected) => {
    const { user, requests } = await login({
      'POST /v1/login': { user: memberDto({ deletion_at: deletionAt }) },
      'DELETE /v1/user/deletion': answer,
    });
    await expectToast('这个账号将于 2999年12月1日 15:30 注销');
    await user.click(screen.getByRole('button', { name: '撤销' }));
    await expectToast(told);
    expect(requests.filter(({ method }) => method === 'DELETE').map(({ url }) => url)).toEqual(['/v1/user/deletion']);
    const current = session.current();
    expect(current.status === 'member' && current.user.deletionAt).toBe(expected);
  });

  test('an account that is not confirmed yet goes to the confirmation', async () => {
    await login({ 'POST /v1/login': reply(403, { message: '请先完成邮箱确认' }) });
    expect(await screen.findByRole('heading', { name: '确认邮箱' })).toBeTruthy();
    await expectToast('请先完成邮箱确认');
  });
});

describe('what is said when a call fails', () => {
  test.each([
    ['登录失败', '', 500, login, 'POST /v1/login'],
    ['用户名或密码不正确', '用户名或密码不正确', 422, login, 'POST /v1/login'],
    ['注册失败', '', 500, register, 'POST /v1/register'],
    ['今天注册得太多了', '今天注册得太多了', 429, register, 'POST /v1/register'],
  ])('%s', async (expected, message, status, act_, call) => {
    await act_({ [call]: reply(status, message ? { message } : {}) });
    await expectToast(expected);
    expect(openDialogs()).toBe(1);
  });
});

describe('an answer of another shape', () => {
  test.each([
    ['the user bare', memberDto()],
    ['the user in data', { data: memberDto() }],
    ['all of it in data', { data: { user: memberDto() } }],
    ['the user in data of its own', { user: { data: memberDto() } }],
  ])('%s signs in', async (_, body) => {
    const { loginResult } = await login({ 'POST /v1/login': reply(200, body) });
    await expectToast('登录成功');
    expect(await loginResult).toBe(true);
  });

  test.each([
    ['nothing', { status: 204 }],
    ['an empty object', reply(200, {})],
    ['a sentence', reply(200, { message: 'Logged in.' })],
    ['the state of another factor', reply(200, { two_factor: false })],
  ])('%s signs in if the server then knows the user', async (_, answer) => {
    const { loginResult } = await login({ 'POST /v1/login': answer, 'GET /v1/user': { data: memberDto() } });
    await expectToast('登录成功');
    expect(await loginResult).toBe(true);
  });

  test('without a user registers if the server then knows the user', async () => {
    const answers = { 'POST /v1/register': { status: 201 }, 'GET /v1/user': { data: memberDto() } };
    const { loginResult } = await register(answers);
    await expectToast('账号密码已复制到剪贴板');
    expect(await loginResult).toBe(true);
  });

  test.each([
    ['登录失败', login, 'POST /v1/login'],
    ['注册失败', register, 'POST /v1/register'],
  ])('without a session: %s', async (expected, act_, call) => {
    await act_({ [call]: reply(200, {}), 'GET /v1/user': reply(401, { message: 'Unauthenticated.' }) });
    await expectToast(expected);
    expect(session.current().status).toBe('guest');
  });
});

describe('before anything is sent', () => {
  const wrongAt = (name: string) => {
    const field = input(name);
    const text = document.getElementById(field?.getAttribute('aria-describedby') ?? '')?.textContent;
    return field?.getAttribute('aria-invalid') === 'true' ? text : null;
  };

  test('what is missing is said at its field, and the first one takes the focus', async () => {
    const { user, requests } = await openPopup();
    await user.clear(screen.getByLabelText('用户名'));
    await user.clear(screen.getByLabelText('密码'));
    await user.click(screen.getByRole('button', { name: '注册（请截图保存）' }));
    expect(['name', 'login', 'password'].map(wrongAt)).toEqual([null, '请填写用户名', '请填写密码']);
    expect(document.activeElement).toBe(input('login'));
    expect(requests.map(({ url }) => url)).not.toContain('/v1/register');
  });

  test('a new password is held to its rule, one that was made long ago is not', async () => {
    const { user, requests } = await openPopup({ 'POST /v1/login': { user: memberDto() } });
    await user.clear(screen.getByLabelText('密码'));
    await user.type(screen.getByLabelText('密码'), '12345');
    await user.click(screen.getByRole('button', { name: '注册（请截图保存）' }));
    expect(wrongAt('password')).toBe('密码至少 6 位');
    await user.click(screen.getByRole('button', { name: '已有账号？去登录' }));
    await user.type(screen.getByLabelText('用户名'), 'fox');
    await user.type(screen.getByLabelText('密码'), '12345');
    await user.click(screen.getByRole('button', { name: '登录' }));
    await expectToast('登录成功');
    expect(requests.map(({ url }) => url)).not.toContain('/v1/register');
  });
});

test.each([
  ['no cookie is kept', () => ''],
  [
    'cookies may not even be read, as in a sandboxed frame,',
    () => {
      throw new DOMException('The document is sandboxed', 'SecurityError');
    },
  ],
])('where %s the form says what to allow', async (_, get) => {
  Object.defineProperty(document, 'cookie', { configurable: true, get, set: () => {} });
  onTestEnd(() => void Reflect.deleteProperty(document, 'cookie'));
  await register({
    'GET /sanctum/csrf-cookie': { status: 204 },
    'POST /v1/register': reply(419, { message: '页面已过期，请重试' }),
  });
  await expectToast('请允许 Cookie、关掉拦截插件后再试');
});
