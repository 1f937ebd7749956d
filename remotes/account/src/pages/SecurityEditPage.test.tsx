import type { Capability } from '@liaozhai/shared/runtime';
import { openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { userDto } from '../fixtures';
import remote from '../remote';
import { texts } from '../texts';

const open = (capabilities: Capability[], handlers = {}) =>
  openRemote(
    remote,
    { 'GET /v1/user': { data: userDto() }, ...handlers },
    { path: '/my/security', user: userDto(), capabilities },
  );

const invalid = (errors: Record<string, string[]>) => ({ status: 422, body: { message: '有误', errors } });
const bodiesOf = (requests: { method: string; url: string; body: unknown }[], call: string) =>
  requests.filter(({ method, url }) => `${method} ${url}` === call).map(({ body }) => body);

test('of what the server does not announce nothing is shown or asked for', async () => {
  const { requests } = open([]);
  expect(await screen.findByText(texts.security.password.title)).toBeTruthy();
  for (const title of [texts.email.title]) expect(screen.queryByRole('region', { name: title })).toBeNull();
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

  test('is asked for with the password, waits for its mail, and is there once another device opened the link', async () => {
    let now: object = none;
    const { user, requests, live } = open(['account.email'], {
      [get]: () => now,
      [put]: () => {
        now = pending;
        return { status: 202, body: pending };
      },
    });
    expect(await screen.findByText(texts.email.none)).toBeTruthy();
    await fill(user, ' ning@example.org ', '135790');
    expect(await screen.findByText(texts.email.pending('ning@example.org'))).toBeTruthy();
    expect(bodiesOf(requests, put)).toEqual([{ email: 'ning@example.org', current_password: '135790' }]);
    const again = screen.getByRole<HTMLButtonElement>('button', { name: /^\d+ 秒后可重新发送$/ });
    expect(again.disabled).toBe(true);
    now = bound;
    live.push('user.updated', { user: userDto({ version: 9 }) });
    expect(await screen.findByText(texts.email.confirmed)).toBeTruthy();
    expect(screen.queryByText(texts.email.pending('ning@example.org'))).toBeNull();
  });

  test('what is missing or refused is said at its field, and nothing is sent before', async () => {
    const { user, requests } = open(['account.email'], {
      [get]: none,
      [put]: invalid({ current_password: ['当前密码不正确'] }),
    });
    await fill(user, 'ning', '');
    const wrong = () => screen.getAllByRole('alert').map(({ textContent }) => textContent);
    await waitFor(() => expect(wrong()).toEqual([texts.email.badEmail, '请填写当前密码']));
    expect(bodiesOf(requests, put)).toEqual([]);
    await user.type(screen.getByLabelText(texts.email.field), '@example.org');
    await user.type(screen.getByLabelText(texts.security.currentPassword), 'guess!');
    await user.click(screen.getByRole('button', { name: texts.email.send }));
    await waitFor(() => expect(wrong()).toEqual(['当前密码不正确']));
    expect(screen.getByLabelText<HTMLInputElement>(texts.email.field).value).toBe('ning@example.org');
  });

  test('the mail is sent again, and a refusal says how long to wait', async () => {
    let answer: object = { status: 202, body: pending };
    const { user } = open(['account.email'], { [get]: pending, 'POST /v1/user/email/resend': () => answer });
    answer = { status: 429, body: {}, headers: { 'retry-after': '137' } };
    await user.click(await screen.findByRole('button', { name: texts.email.resend }));
    expect(await screen.findByRole('button', { name: /^13\d 秒后可重新发送$/ })).toBeTruthy();
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
