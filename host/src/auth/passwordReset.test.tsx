import '../testing/pageFixture';
import { capabilities, session } from '@liaozhai/shared/runtime';
import { act, fireEvent, memberDto, screen, type UserEvent, waitFor } from '@liaozhai/shared/testing';
import { beforeAll, describe, expect, test } from '@rstest/core';
import { expectToast, input, openPopup, reply } from '../testing/authPopup';
import { serveBuild } from '../testing/fakeRemotes';
import { openHost } from '../testing/openHost';

const forgot = 'POST /v1/forgot-password';
const reset = 'POST /v1/reset-password';
const link = '/reset-password?token=abc&email=fox%40example.org';

beforeAll(() => serveBuild('stories', { explore: async () => ({ default: () => <h1>书架</h1> }) }));

const sentTo = (requests: { url: string; body: unknown }[], url: string) =>
  requests.filter((request) => request.url === url).map(({ body }) => body);

describe('忘记密码？', () => {
  async function forgets(handlers = {}, announced = true) {
    capabilities.set(announced ? ['password.reset'] : []);
    const host = await openPopup(handlers, 'login');
    return host;
  }
  const ask = (user: UserEvent) => user.click(screen.getByRole('button', { name: '忘记密码？' }));
  const send = () => screen.findByRole<HTMLButtonElement>('button', { name: '发送链接' });

  test('sends a link to the address, says the same for any, and waits before the next', async () => {
    const { user, requests } = await forgets({ [forgot]: { message: '' } });
    await user.type(screen.getByLabelText('用户名'), 'fox@example.org');
    await ask(user);
    await screen.findByRole('dialog', { name: '找回密码' });
    expect(input('email')?.value).toBe('fox@example.org');
    await user.click(await send());
    expect(await screen.findByText(/^如果 fox@example.org 属于一个账号，链接已经发出/)).toBeTruthy();
    expect(sentTo(requests, '/v1/forgot-password')).toEqual([{ email: 'fox@example.org' }]);
    const again = screen.getByRole<HTMLButtonElement>('button', { name: /^\d+ 秒后可重新发送$/ });
    expect(again.disabled).toBe(true);
    // a corrected address need not wait
    await user.type(screen.getByLabelText('邮箱'), '.cn');
    expect((await send()).disabled).toBe(false);
    await user.click(screen.getByRole('button', { name: '返回登录' }));
    expect(input('login')?.value).toBe('fox@example.org');
  });

  test('a name that is no address is not taken for one, and what is missing is said', async () => {
    const { user, requests } = await forgets();
    await user.type(screen.getByLabelText('用户名'), 'fox');
    await ask(user);
    await user.click(await send());
    expect(await screen.findByText('请填写邮箱')).toBeTruthy();
    await user.type(screen.getByLabelText('邮箱'), 'fox');
    await user.click(await send());
    expect(await screen.findByText('邮箱格式不正确')).toBeTruthy();
    expect(sentTo(requests, '/v1/forgot-password')).toEqual([]);
  });

  test.each([
    ['服务器还没有这项功能', reply(404, { code: 'route_missing', message: '没有这个接口' })],
    ['操作太频繁，请 90 秒后再试', reply(429, {}, { 'retry-after': '90' })],
  ])('%s', async (words, answer) => {
    const { user } = await forgets({ [forgot]: answer });
    await user.type(screen.getByLabelText('用户名'), 'fox@example.org');
    await ask(user);
    await user.click(await send());
    await expectToast(words);
    if (answer.status === 429) expect(await screen.findByRole('button', { name: /^(90|89) 秒后/ })).toBeTruthy();
  });

  test('of a server that sends no links there are only the words that say what can be done', async () => {
    const { user } = await forgets({}, false);
    await ask(user);
    expect(await screen.findByText(/没有绑定邮箱的账号，密码无法找回/)).toBeTruthy();
    expect(input('email')).toBeNull();
  });

  test('names the support of this site', async () => {
    document.body.insertAdjacentHTML(
      'beforeend',
      '<script type="application/json" id="liaozhai-config">{"support":{"email":"help@example.org"}}</script>',
    );
    const { user } = await forgets();
    await ask(user);
    const mail = await screen.findByRole('link', { name: 'help@example.org' });
    expect(mail.getAttribute('href')).toBe('mailto:help@example.org');
    document.getElementById('liaozhai-config')?.remove();
  });
});

describe('the link of the mail', () => {
  async function opens(handlers: Record<string, unknown>, path = link) {
    capabilities.set(['password.reset']);
    return openHost({ path, handlers });
  }
  async function choose(user: UserEvent, password: string) {
    await user.type(await screen.findByLabelText('新密码'), password);
    await user.click(screen.getByRole('button', { name: '保存并登录' }));
  }

  test('takes a new password, signs in, and leaves no link behind in the history', async () => {
    const { user, requests } = await opens({ [reset]: { user: memberDto() } });
    await choose(user, '新的密码真长');
    await expectToast('密码已修改');
    expect(await screen.findByRole('heading', { name: '书架' })).toBeTruthy();
    expect(session.current().status).toBe('member');
    expect(location.pathname + location.search).toBe('/explore');
    expect(sentTo(requests, '/v1/reset-password')).toEqual([
      { token: 'abc', email: 'fox@example.org', password: '新的密码真长', password_confirmation: '新的密码真长' },
    ]);
  });

  test('of a server that signs nobody in: the new password does', async () => {
    const { user, requests } = await opens({ [reset]: { status: '好' }, 'POST /v1/login': { user: memberDto() } });
    await choose(user, '２４６８１０\u200b');
    await waitFor(() => expect(session.current().status).toBe('member'));
    expect(sentTo(requests, '/v1/reset-password')).toMatchObject([{ password: '246810' }]);
    expect(sentTo(requests, '/v1/login')).toEqual([{ login: 'fox@example.org', password: '246810' }]);
  });

  test('where that name signs nobody in either, the log-in is a tap away', async () => {
    const { user } = await opens({ [reset]: {}, 'POST /v1/login': reply(422, { message: '不对', errors: {} }) });
    await choose(user, '新的密码真长');
    await user.click(await screen.findByRole('button', { name: '去登录' }));
    expect(await screen.findByRole('dialog', { name: '登录' })).toBeTruthy();
  });

  test('that an attempt without an answer has used up signs in at the second', async () => {
    let attempts = 0;
    const used = reply(422, { message: '无效', errors: { email: ['链接无效或已过期'] } });
    const { user } = await opens({
      [reset]: () => (attempts++ === 0 ? reply(504, {}) : used),
      'POST /v1/login': { user: memberDto() },
    });
    const button = () => screen.getByRole('button', { name: '保存并登录' });
    await choose(user, '新的密码真长');
    await waitFor(() => expect(button().ariaBusy).not.toBe('true'));
    await user.click(button());
    await expectToast('密码已修改');
    expect(session.current().status).toBe('member');
  });

  test('says at the field that the password is too short, before and after it is sent', async () => {
    const short = reply(422, { message: '密码太常见', errors: { password: ['密码太常见'] } });
    const { user, requests } = await opens({ [reset]: short });
    await choose(user, '123');
    expect(await screen.findByText('密码至少 6 位')).toBeTruthy();
    expect(sentTo(requests, '/v1/reset-password')).toEqual([]);
    await choose(user, '456');
    await waitFor(() => expect(screen.getByRole('alert').textContent).toBe('密码太常见'));
    expect(screen.queryByRole('button', { name: '发送链接' })).toBeNull();
  });

  test.each([
    ['used up or too old', link, reply(422, { message: '无效', errors: { email: ['链接无效或已过期'] } })],
    ['cut short', '/reset-password?token=abc', {}],
  ])('%s: another one is a tap away', async (_, path, answer) => {
    const { user, requests } = await opens({ [reset]: answer, [forgot]: {} }, path);
    if (path === link) await choose(user, '新的密码真长');
    expect(await screen.findByText('链接无效或已过期。可以再要一个：')).toBeTruthy();
    const address = await screen.findByLabelText<HTMLInputElement>('邮箱');
    if (path !== link) await user.type(address, 'ｆｏｘ＠example.org');
    await user.click(screen.getByRole('button', { name: '发送链接' }));
    await screen.findByText(/^如果 fox@example.org/);
    expect(sentTo(requests, '/v1/forgot-password')).toEqual([{ email: 'fox@example.org' }]);
  });
});

test('who has gone on to register before its code has come stays there', async () => {
  capabilities.set(['password.reset']);
  await openPopup({}, 'login');
  const forgotButton = screen.getByRole('button', { name: '忘记密码？' });
  fireEvent.click(forgotButton);
  expect(forgotButton.getAttribute('aria-busy')).toBe('true');
  fireEvent.click(screen.getByRole('button', { name: '没有账号？去注册' }));
  await act(() => import('./passwordReset'));
  expect(screen.getByRole('dialog', { name: '注册' })).toBeTruthy();
});

test('who registers has no password to forget', async () => {
  const { user } = await openPopup();
  expect(screen.queryByRole('button', { name: '忘记密码？' })).toBeNull();
  await user.click(screen.getByRole('button', { name: '已有账号？去登录' }));
  expect(screen.getByRole('button', { name: '忘记密码？' })).toBeTruthy();
});
