import '../testing/pageFixture';
import { session } from '@liaozhai/shared/runtime';
import { memberDto, screen, within } from '@liaozhai/shared/testing';
import { beforeAll, describe, expect, test } from '@rstest/core';
import { pendingConfirmation } from '../auth/visitMemory';
import { serveBuild } from '../testing/fakeRemotes';
import { openHost } from '../testing/openHost';

const link = '/email/verify/u-1/abc?expires=9&signature=s';
const call = 'GET /v1/email/verify/u-1/abc?expires=9&signature=s';

beforeAll(() => serveBuild('stories', { explore: async () => ({ default: () => <h1>书架</h1> }) }));

test('in the browser that registered, the visitor is signed in', async () => {
  pendingConfirmation.store({ userId: 'u-1', mailedAt: Date.now() });
  await openHost({ path: link, handlers: { [call]: { message: '邮箱已确认' } } });
  expect(await screen.findByText('邮箱已确认，欢迎来到聊斋。')).toBeTruthy();
  expect(session.current().status).toBe('member');
});

test('a member who gave the account another address is not welcomed again', async () => {
  await openHost({ path: link, handlers: { [call]: { message: '邮箱已确认' } }, member: true });
  expect(await screen.findByText('邮箱已确认。')).toBeTruthy();
});

test('elsewhere it offers to sign in and asks nothing of the server that would open the popup', async () => {
  const { user, requests } = await openHost({
    path: link,
    handlers: { [call]: {}, 'POST /v1/login': { user: memberDto() } },
  });
  await user.click(await screen.findByRole('button', { name: '去登录' }));
  const popup = within(await screen.findByRole('dialog', { name: '登录' }));
  await user.type(popup.getByLabelText('用户名'), 'fox@example.com');
  await user.type(popup.getByLabelText('密码'), '123456');
  await user.click(popup.getByRole('button', { name: '登录' }));
  expect(await screen.findByRole('heading', { name: '书架' })).toBeTruthy();
  expect(requests.map(({ url }) => url)).not.toContain('/v1/user');
});

describe('a link that is no longer good', () => {
  const bad = { [call]: { status: 403, body: { message: '链接无效或已过期' } } };
  const resend = 'POST /v1/email/verification-notification/resend';

  test.each([
    [403, '链接无效或已过期'],
    [403, 'Invalid signature.'],
    [404, 'No query results for model [App\\Models\\User] u-1'],
    [409, 'Already verified.'],
    [410, 'Expired.'],
  ])('says so and offers no retry after a %i: %s', async (status, message) => {
    await openHost({ path: link, handlers: { [call]: { status, body: { message } } } });
    expect(await screen.findByText('链接无效或已过期')).toBeTruthy();
    expect(screen.queryByRole('button', { name: '重试' })).toBeNull();
  });

  test('is replaced by another mail in the browser that registered', async () => {
    pendingConfirmation.store({ userId: 'u-1', mailedAt: 0 });
    const { user, requests } = await openHost({ path: link, handlers: { ...bad, [resend]: { status: 202 } } });
    await user.click(await screen.findByRole('button', { name: '重新发送' }));
    expect(await screen.findByRole('button', { name: /^\d+ 秒后可重新发送$/ })).toBeTruthy();
    expect(requests.map(({ url }) => url)).toContain('/v1/email/verification-notification/resend');
    expect(pendingConfirmation.read()?.userId).toBe('u-1');
  });

  test('elsewhere leads through the log-in, asking nothing that would open the registration', async () => {
    const refusal = { 'POST /v1/login': { status: 403, body: {} }, 'GET /v1/user': { status: 403, body: {} } };
    const { user, requests } = await openHost({ path: link, handlers: { ...bad, ...refusal } });
    await user.click(await screen.findByRole('button', { name: '登录后重新发送' }));
    const popup = within(await screen.findByRole('dialog', { name: '登录' }));
    expect(requests.map(({ url }) => url)).not.toContain('/v1/email/verification-notification/resend');
    await user.type(popup.getByLabelText('用户名'), 'fox@example.com');
    await user.type(popup.getByLabelText('密码'), '123456');
    await user.click(popup.getByRole('button', { name: '登录' }));
    const waiting = within(await screen.findByRole('dialog', { name: '确认邮箱' }));
    expect(waiting.getByRole<HTMLButtonElement>('button', { name: '重新发送' }).disabled).toBe(false);
  });
});

test('a server out of order may be asked again', async () => {
  let broken = true;
  const answer = () => (broken ? { status: 500, body: {} } : {});
  const { user } = await openHost({ path: link, handlers: { [call]: answer } });
  const again = await screen.findByRole('button', { name: '重试' });
  broken = false;
  await user.click(again);
  expect(await screen.findByText('邮箱已确认，请登录。')).toBeTruthy();
});
