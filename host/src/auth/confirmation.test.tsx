import { MINUTE_MS } from '@liaozhai/shared/contract';
import '../testing/pageFixture';
import { session } from '@liaozhai/shared/runtime';
import { act, memberDto, offline, screen, waitFor } from '@liaozhai/shared/testing';
import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { expectToast, login, openDialogs, register, registrationResponse, reply } from '../testing/authPopup';

const unverified = reply(403, { message: '请先完成邮箱确认' });
const resend = 'POST /v1/email/verification-notification/resend';

describe('sending the confirmation again', () => {
  const refusedLogin = { 'POST /v1/login': reply(403, {}), 'GET /v1/user': unverified };
  const counting = () => screen.findByRole<HTMLButtonElement>('button', { name: /^\d+ 秒后可重新发送$/ });

  test('has to wait for the mail that has just gone out', async () => {
    await register({ 'POST /v1/register': registrationResponse('email'), 'GET /v1/user': unverified });
    const button = await counting();
    expect(button.disabled).toBe(true);
    expect(Number.parseInt(button.textContent ?? '', 10)).toBeGreaterThan(40);
  });

  test('is sent immediately if none went out, and then has to wait too', async () => {
    const { user } = await login({ ...refusedLogin, [resend]: reply(202, {}) });
    await user.click(await screen.findByRole('button', { name: '重新发送' }));
    await expectToast('确认邮件已发送');
    expect((await counting()).disabled).toBe(true);
  });

  test('that failed can be tried again immediately', async () => {
    const { user } = await login({ ...refusedLogin, [resend]: reply(500, {}) });
    await user.click(await screen.findByRole('button', { name: '重新发送' }));
    await expectToast('发送失败');
    await waitFor(() =>
      expect(screen.getByRole<HTMLButtonElement>('button', { name: '重新发送' }).disabled).toBe(false),
    );
  });

  test('too often: the button counts down what the server says', async () => {
    const { user } = await login({ ...refusedLogin, [resend]: reply(429, {}, { 'retry-after': '117' }) });
    await user.click(await screen.findByRole('button', { name: '重新发送' }));
    expect(Number.parseInt((await counting()).textContent ?? '', 10)).toBeGreaterThan(60);
  });
});

describe('a confirmation made on another device', () => {
  beforeEach(() => void rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true }));
  afterEach(() => void rs.useRealTimers());

  /** Registers with an address. `user` answers `GET /v1/user`; `asked` counts those requests. */
  async function waits(user: () => unknown) {
    const host = await register({ 'POST /v1/register': registrationResponse('email'), 'GET /v1/user': user });
    await screen.findByRole('heading', { name: '确认邮箱' });
    return { ...host, asked: () => host.requests.filter(({ url }) => url === '/v1/user').length };
  }
  const pass = (ms: number) => act(() => rs.advanceTimersByTimeAsync(ms));
  const returnToPage = () => act(async () => void document.dispatchEvent(new Event('visibilitychange')));
  const confirmed = { data: memberDto({ email_verified_at: '2026-11-22T08:00:00Z' }) };

  test('is noticed after a while, and what waited for the sign-in goes on', async () => {
    let isConfirmed = false;
    const { loginResult } = await waits(() => (isConfirmed ? confirmed : unverified));
    await pass(MINUTE_MS);
    expect(session.current().status).toBe('guest');
    isConfirmed = true;
    await pass(MINUTE_MS);
    expect(await loginResult).toBe(true);
    expect(session.current().status).toBe('member');
    await waitFor(() => expect(openDialogs()).toBe(0));
  });

  test('is noticed as soon as the page is looked at again', async () => {
    await waits(() => confirmed);
    expect(session.current().status).toBe('guest');
    await returnToPage();
    await expectToast('邮箱已确认，欢迎来到聊斋。');
    expect(session.current().status).toBe('member');
  });

  test('is requested ever more rarely, through failures too', async () => {
    const { asked } = await waits(() => {
      throw offline();
    });
    await pass(2 * MINUTE_MS);
    const soon = asked();
    await pass(10 * MINUTE_MS);
    expect(soon).toBeGreaterThan(2);
    // each request is tried three times
    expect(asked() - soon).toBeLessThanOrEqual(3 * 11);
    expect(asked() - soon).toBeGreaterThan(5);
  });

  test('is not accepted from a server that answers with the former user', async () => {
    await waits(() => ({ data: memberDto({ email_verified_at: null }) }));
    await returnToPage();
    await pass(MINUTE_MS);
    expect(session.current().status).toBe('guest');
  });

  test('that is still being requested when the window is closed does not open it again', async () => {
    let finish: (answer: unknown) => void = () => undefined;
    const { user, asked } = await waits(() => new Promise((resolve) => (finish = resolve)));
    await returnToPage();
    expect(asked()).toBe(1);
    await user.click(screen.getByRole('button', { name: '关闭' }));
    // until the sheet has slid out
    await waitFor(() => expect(screen.queryByRole('heading', { name: '确认邮箱', hidden: true })).toBeNull());
    await act(async () => finish(reply(401, {})));
    expect(openDialogs()).toBe(0);
  });

  test('is no longer requested once the session is gone, nor in a window that was left', async () => {
    const { user, asked } = await waits(() => reply(401, {}));
    await pass(MINUTE_MS);
    expect(asked()).toBe(1);
    await user.click(screen.getByRole('button', { name: '返回登录' }));
    await returnToPage();
    expect(asked()).toBe(1);
  });
});
