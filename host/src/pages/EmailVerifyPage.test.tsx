import '../testing/pageFixture';
import { session } from '@liaozhai/shared/runtime';
import { memberDto, screen, within } from '@liaozhai/shared/testing';
import { beforeAll, expect, test } from '@rstest/core';
import { rememberPendingConfirmation } from '../auth/visitMemory';
import { serveBuild } from '../testing/fakeRemotes';
import { openHost } from '../testing/openHost';

const link = '/email/verify/u-1/abc?expires=9&signature=s';
const call = 'GET /v1/email/verify/u-1/abc?expires=9&signature=s';

beforeAll(() => serveBuild('stories', { explore: async () => ({ default: () => <h1>书架</h1> }) }));

test('in the browser that registered, the visitor is signed in', async () => {
  rememberPendingConfirmation();
  await openHost({ path: link, handlers: { [call]: { message: '邮箱已确认' } } });
  expect(await screen.findByText('邮箱已确认，欢迎来到聊斋。')).toBeTruthy();
  expect(session.current().status).toBe('member');
});

test('elsewhere it offers to sign in and asks nothing of the server that would open the popup', async () => {
  const { user, requests } = await openHost({
    path: link,
    handlers: { [call]: {}, 'POST /v1/login': { user: memberDto() } },
  });
  await user.click(await screen.findByRole('button', { name: '去登录' }));
  const popup = within(await screen.findByRole('dialog', { name: '登录' }));
  await user.type(popup.getByLabelText('账号'), 'fox@example.com');
  await user.type(popup.getByLabelText('密码'), '123456');
  await user.click(popup.getByRole('button', { name: '登录' }));
  expect(await screen.findByRole('heading', { name: '书架' })).toBeTruthy();
  expect(requests.map(({ url }) => url)).not.toContain('/v1/user');
});

test('a link that is no longer good says so, finally', async () => {
  await openHost({ path: link, handlers: { [call]: { status: 403, body: { message: '链接无效或已过期' } } } });
  expect(await screen.findByText('链接无效或已过期')).toBeTruthy();
  expect(screen.queryByRole('button', { name: '重试' })).toBeNull();
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
