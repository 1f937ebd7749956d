import '../testing/pageFixture';
import { request, requestLogin, session } from '@liaozhai/shared/runtime';
import { act, memberDto, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { input, login, openDialogs, openPopup, refused, register, said, typedInto } from '../testing/authPopup';
import { openHost } from '../testing/openHost';

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
  ])('without a user: %s is said', async (expected, act_, call) => {
    await act_({ [call]: refused(200, {}) });
    await said(expected);
    expect(session.current().status).toBe('guest');
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
