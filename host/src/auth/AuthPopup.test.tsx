import '../testing/pageFixture';
import { request, requestLogin, session } from '@liaozhai/shared/runtime';
import { act, type Handlers, memberDto, offline, onTestEnd, screen, waitFor } from '@liaozhai/shared/testing';
import { beforeAll, beforeEach, describe, expect, test } from '@rstest/core';
import { serveBuild } from '../testing/fakeRemotes';
import { openHost } from '../testing/openHost';
import { loadAuthPopup } from './AuthGate';

const named = (text: string) => async () => ({ default: () => <h1>{text}</h1> });

beforeAll(() => {
  serveBuild('stories', { explore: named('书架') });
  serveBuild('account', { my: named('我的书房'), profile: named('改名换姓') });
});

// heard before the overlays' own listener, which keeps such steps to itself
let steps = 0;
window.addEventListener(
  'popstate',
  () => {
    steps += 1;
  },
  { capture: true },
);

let copied: string[] = [];
let clipboardWorks = true;

beforeEach(() => {
  copied = [];
  clipboardWorks = true;
  document.execCommand = () => false;
});

/** user-event puts a clipboard of its own in place; this one comes after it. */
function placeClipboard() {
  const writeText = async (text: string) => {
    if (!clipboardWorks) throw new DOMException('refused', 'NotAllowedError');
    copied.push(text);
  };
  Object.defineProperty(navigator, 'clipboard', { value: { writeText }, configurable: true });
}

const input = (name: string) => document.querySelector<HTMLInputElement>(`dialog[open] input[name="${name}"]`);
const typedInto = (name: string) => input(name)?.value ?? null;
const openDialogs = () => document.querySelectorAll('dialog[open]').length;
const toasts = () => screen.getByRole('region', { name: '提示' }).textContent ?? '';
const said = (text: string) => waitFor(() => expect(toasts()).toContain(text));
const refused = (status: number, body: object, headers = {}) => ({ status, body, headers });

async function openPopup(handlers: Handlers = {}, mode: 'register' | 'login' = 'register') {
  const host = await openHost({ handlers });
  const answer = requestLogin(mode);
  await screen.findByRole('dialog');
  return { ...host, answer };
}

const registered = (type = 'username') => refused(201, { user: memberDto(), type });

async function register(handlers: Handlers) {
  const host = await openPopup(handlers);
  placeClipboard();
  const typed = { login: typedInto('login'), password: typedInto('password'), name: typedInto('name') };
  await host.user.click(screen.getByRole('button', { name: '注册（请截图保存）' }));
  return { ...host, typed };
}

async function login(handlers: Handlers) {
  const host = await openPopup(handlers, 'login');
  await host.user.type(screen.getByLabelText('账号'), 'fox');
  await host.user.type(screen.getByLabelText('密码'), '123456');
  await host.user.click(screen.getByRole('button', { name: '登录' }));
  return host;
}

describe('what the popup shows', () => {
  test('registration is filled in, with the password in clear', async () => {
    await openPopup();
    expect(typedInto('login')).toMatch(/^a\d+$/);
    expect(typedInto('password')).toMatch(/^\d{6}$/);
    expect(typedInto('name')).toMatch(/^\p{Script=Han}{2,4}$/u);
    expect(input('password')?.type).toBe('text');
    expect(screen.getAllByRole('radio', { name: /男|女/ })).toHaveLength(2);
  });

  // now and then chance makes the same name twice
  test.each([
    ['each change of gender', ['女', '男', '女', '男', '女', '男'], 'radio'],
    ['each press of the refresh icon', Array(6).fill('换一个昵称'), 'button'],
  ])('%s makes a new nickname', async (_, presses: string[], role) => {
    const { user } = await openPopup();
    const seen = new Set([typedInto('name')]);
    for (const name of presses) {
      await user.click(screen.getByRole(role, { name }));
      seen.add(typedInto('name'));
    }
    expect(seen.size).toBeGreaterThan(4);
  });

  test('switching to login clears and hides, switching back fills anew', async () => {
    const { user } = await openPopup();
    const before = typedInto('login');
    await user.click(screen.getByRole('button', { name: '已有账号？去登录' }));
    expect([typedInto('login'), typedInto('password'), typedInto('name')]).toEqual(['', '', null]);
    expect(input('password')?.type).toBe('password');
    await user.click(screen.getByRole('button', { name: '显示密码' }));
    expect(input('password')?.type).toBe('text');
    await user.click(screen.getByRole('button', { name: '没有账号？去注册' }));
    expect(typedInto('login')).toMatch(/^a\d+$/);
    expect(typedInto('login')).not.toBe(before);
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

describe('registering', () => {
  test('sends login, password and name, copies the credentials, closes, and suggests another password', async () => {
    const { typed, requests, answer } = await register({ 'POST /v1/register': registered() });
    await said('账号密码已复制到剪贴板');
    expect(requests.filter(({ url }) => url === '/v1/register').map(({ body }) => body)).toEqual([typed]);
    expect(copied[0]).toContain(typed.login ?? '?');
    expect(copied[0]).toContain(typed.password ?? '?');
    expect(await answer).toBe(true);
    expect(session.current().status).toBe('member');
    await waitFor(() => expect(openDialogs()).toBe(0));
    await said('去修改');
  });

  test('an e-mail address waits for its confirmation, as a guest', async () => {
    const { user } = await register({ 'POST /v1/register': registered('email') });
    expect(await screen.findByRole('heading', { name: '确认邮箱' })).toBeTruthy();
    expect(session.current().status).toBe('guest');
    expect(copied).toEqual([]);
    await user.click(screen.getByRole('button', { name: '返回登录' }));
    expect(screen.getByRole('heading', { name: '登录' })).toBeTruthy();
  });

  test('the invite code goes along for whoever came by an invite link', async () => {
    sessionStorage.setItem('liaozhai-invite', 'LANRUO');
    const host = await openHost({ path: '/', handlers: { 'POST /v1/register': registered() } });
    void requestLogin();
    await host.user.click(await screen.findByRole('button', { name: '注册（请截图保存）' }));
    await said('账号密码已复制到剪贴板');
    expect(host.requests.find(({ url }) => url === '/v1/register')?.body).toMatchObject({ invite_code: 'LANRUO' });
  });

  test('what the server refuses stands at its field and in a toast; typing takes it away', async () => {
    const errors = { login: ['这个账号已被注册'] };
    const { user } = await register({ 'POST /v1/register': refused(422, { message: '这个账号已被注册', errors }) });
    await said('这个账号已被注册');
    expect(input('login')?.getAttribute('aria-invalid')).toBe('true');
    await user.type(screen.getByLabelText('用户名'), '1');
    expect(input('login')?.getAttribute('aria-invalid')).toBeNull();
  });

  test('what is on its way keeps the popup open, whatever would close it', async () => {
    let finish: (answer: unknown) => void = () => undefined;
    const answers = () => new Promise((resolve) => (finish = resolve));
    const { user } = await register({ 'POST /v1/register': answers });
    await user.keyboard('{Escape}');
    await user.click(screen.getByRole('button', { name: '关闭' }));
    steps = 0;
    history.back();
    await waitFor(() => expect(steps).toBe(2));
    expect(openDialogs()).toBe(1);
    await act(async () => finish(registered()));
    await said('账号密码已复制到剪贴板');
    await waitFor(() => expect(openDialogs()).toBe(0));
  });

  test('two presses register once', async () => {
    let finish: (answer: unknown) => void = () => undefined;
    const host = await openPopup({ 'POST /v1/register': () => new Promise((resolve) => (finish = resolve)) });
    const form = screen.getByRole('button', { name: '注册（请截图保存）' }).closest('form');
    // faster than the button can be drawn as busy
    await act(async () => {
      form?.requestSubmit();
      form?.requestSubmit();
    });
    await act(async () => finish(registered()));
    await said('账号密码已复制到剪贴板');
    expect(host.requests.filter(({ url }) => url === '/v1/register')).toHaveLength(1);
  });
});

describe('credentials that the clipboard refuses', () => {
  test('stand in a dialog that only its button closes', async () => {
    clipboardWorks = false;
    const { user, typed, answer } = await register({ 'POST /v1/register': registered() });
    const dialog = await screen.findByRole('alertdialog', { name: '自动复制失败' });
    const box = screen.getByLabelText<HTMLTextAreaElement>('请手工复制账号密码');
    expect(box.readOnly).toBe(true);
    expect(box.value).toContain(typed.password ?? '?');
    await user.keyboard('{Escape}');
    await user.click(dialog);
    expect(screen.queryByRole('alertdialog', { name: '自动复制失败' })).toBeTruthy();
    await user.click(screen.getByRole('button', { name: '我已经复制' }));
    expect(await answer).toBe(true);
    await waitFor(() => expect(openDialogs()).toBe(0));
  });

  test('outlive the page until they are copied', async () => {
    clipboardWorks = false;
    const first = await register({ 'POST /v1/register': registered() });
    const credentials = async () => (await screen.findByLabelText<HTMLTextAreaElement>('请手工复制账号密码')).value;
    const shown = await credentials();
    first.unmount();
    const second = await openHost();
    expect(await credentials()).toBe(shown);
    expect(openDialogs()).toBe(1);
    await second.user.click(screen.getByRole('button', { name: '我已经复制' }));
    await waitFor(() => expect(openDialogs()).toBe(0));
    second.unmount();
    await openHost();
    await act(loadAuthPopup);
    expect(screen.queryByLabelText('请手工复制账号密码')).toBeNull();
  });
});

describe('registering anew after the answer was lost', () => {
  const button = () => screen.getByRole<HTMLButtonElement>('button', { name: '注册（请截图保存）' });

  async function registerTwice(handlers: Handlers) {
    let isFirst = true;
    const answer = () => {
      if (!isFirst) return refused(422, { errors: { login: ['这个账号已被注册'] } });
      isFirst = false;
      throw offline();
    };
    const host = await register({ 'POST /v1/register': answer, ...handlers });
    await said('注册失败');
    await waitFor(() => expect(button().disabled).toBe(false));
    return { ...host, again: () => host.user.click(button()) };
  }

  test('signs in to the account that was made all the same', async () => {
    const { typed, requests, answer, again } = await registerTwice({ 'POST /v1/login': { user: memberDto() } });
    await again();
    await said('账号密码已复制到剪贴板');
    const { login: name, password } = typed;
    expect(requests.find(({ url }) => url === '/v1/login')?.body).toEqual({ login: name, password });
    expect(copied[0]).toContain(password ?? '?');
    expect(await answer).toBe(true);
    expect(session.current().status).toBe('member');
  });

  test('leads to the confirmation where that account waits for it', async () => {
    const { again } = await registerTwice({ 'POST /v1/login': refused(403, {}) });
    await again();
    expect(await screen.findByRole('heading', { name: '确认邮箱' })).toBeTruthy();
  });

  test('tells that the name is taken where it is somebody else’s', async () => {
    const { again } = await registerTwice({
      'POST /v1/login': refused(422, { errors: { login: ['账号或密码不正确'] } }),
    });
    await again();
    expect(await screen.findByText('这个账号已被注册')).toBeTruthy();
    expect(screen.queryByText('账号或密码不正确')).toBeNull();
  });

  test('under another password tries no account', async () => {
    const { user, requests, again } = await registerTwice({ 'POST /v1/login': { user: memberDto() } });
    await user.type(screen.getByLabelText('密码'), '7');
    await again();
    expect(await screen.findByText('这个账号已被注册')).toBeTruthy();
    expect(requests.some(({ url }) => url === '/v1/login')).toBe(false);
  });
});

describe('logging in', () => {
  test('says so and closes', async () => {
    const { answer, requests } = await login({ 'POST /v1/login': { user: memberDto() } });
    await said('登录成功');
    expect(await answer).toBe(true);
    expect(requests.find(({ url }) => url === '/v1/login')?.body).toEqual({ login: 'fox', password: '123456' });
  });

  test('an account that is not confirmed yet goes to the confirmation', async () => {
    await login({ 'POST /v1/login': refused(403, { message: '请先完成邮箱确认' }) });
    expect(await screen.findByRole('heading', { name: '确认邮箱' })).toBeTruthy();
    await said('请先完成邮箱确认');
  });
});

describe('signing in in another tab', () => {
  const signInElsewhere = () => {
    localStorage.setItem('user-store', JSON.stringify(memberDto()));
    window.dispatchEvent(new StorageEvent('storage', { key: 'user-store' }));
  };

  test('closes the popup that is still being fetched', async () => {
    await openHost();
    const answer = requestLogin();
    act(signInElsewhere);
    expect(await answer).toBe(true);
    await waitFor(() => expect(openDialogs()).toBe(0));
  });

  test('while a form is on its way closes the popup once that is refused', async () => {
    let finish: (answer: unknown) => void = () => undefined;
    const { answer } = await login({ 'POST /v1/login': () => new Promise((resolve) => (finish = resolve)) });
    act(signInElsewhere);
    await act(async () => finish(refused(422, { message: '账号或密码不正确' })));
    expect(await answer).toBe(true);
    await waitFor(() => expect(openDialogs()).toBe(0));
  });
});

describe('what is said when a call fails', () => {
  test.each([
    ['登录失败', '', 500, login, 'POST /v1/login'],
    ['账号或密码不正确', '账号或密码不正确', 422, login, 'POST /v1/login'],
    ['注册失败', '', 500, register, 'POST /v1/register'],
    ['今天注册得太多了', '今天注册得太多了', 429, register, 'POST /v1/register'],
  ])('%s', async (expected, message, status, act_, call) => {
    await act_({ [call]: refused(status, message ? { message } : {}) });
    await said(expected);
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
    const { answer } = await login({ 'POST /v1/login': refused(200, body) });
    await said('登录成功');
    expect(await answer).toBe(true);
  });

  test.each([
    ['登录失败', login, 'POST /v1/login'],
    ['注册失败', register, 'POST /v1/register'],
  ])('without a user: %s is said, and why on the console', async (expected, act_, call) => {
    const { error } = console;
    const told: string[] = [];
    console.error = (cause) => told.push(String(cause));
    onTestEnd(() => Object.assign(console, { error }));
    await act_({ [call]: refused(200, {}) });
    await said(expected);
    expect(told).toEqual(['TypeError: the answer holds no user']);
    expect(session.current().status).toBe('guest');
  });
});

describe('sending the confirmation again', () => {
  const resend = 'POST /v1/email/verification-notification/resend';
  const unverified = { 'POST /v1/login': refused(403, {}) };

  test.each([
    ['确认邮件已发送', refused(202, {})],
    ['发送失败', refused(500, {})],
  ])('%s', async (expected, answer) => {
    const { user } = await login({ ...unverified, [resend]: answer });
    await user.click(await screen.findByRole('button', { name: '重新发送' }));
    await said(expected);
  });

  test('too often: the button counts down', async () => {
    const { user } = await login({ ...unverified, [resend]: refused(429, {}, { 'retry-after': '37' }) });
    await user.click(await screen.findByRole('button', { name: '重新发送' }));
    const button = await screen.findByRole<HTMLButtonElement>('button', { name: /^3\d 秒后可重新发送$/ });
    expect(button.disabled).toBe(true);
  });
});

describe('a 401', () => {
  const expired = { 'GET /v1/conversations': refused(401, { message: '请先登录' }) };
  const ask = () => request({ url: '/v1/conversations' }).catch((error: { kind: string }) => error.kind);

  test('opens registration with the password in clear, and still rejects', async () => {
    await openHost({ handlers: expired });
    const outcome = ask();
    expect(await screen.findByRole('heading', { name: '注册' })).toBeTruthy();
    expect(input('password')?.type).toBe('text');
    expect(await outcome).toBe('unauthenticated');
  });

  test('ten at once open one popup', async () => {
    await openHost({ handlers: expired });
    const all = Promise.all(Array.from({ length: 10 }, ask));
    await screen.findByRole('heading', { name: '注册' });
    await all;
    expect(openDialogs()).toBe(1);
  });

  test('while the popup is open it changes nothing', async () => {
    const { user } = await openPopup(expired, 'login');
    await user.type(screen.getByLabelText('账号'), 'fox');
    await ask();
    expect(screen.getByRole('heading', { name: '登录' })).toBeTruthy();
    expect(typedInto('login')).toBe('fox');
  });
});
