import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@rstest/core';
import { MINUTE_MS } from '../src/clock.ts';
import { rules } from '../src/rules.ts';
import { openBackend } from './testBackend.ts';
import type { ErrorDto, Registered, UserDto } from './wire.ts';

let now = Date.parse('2026-03-01T10:00:00+08:00');
const backend = await openBackend({ RATE_LIMIT_RESEND: '1000', RATE_LIMIT_PASSWORD: '1000' }, () => now);

/** Creates a member with a confirmed address. */
async function memberByMail(address: string) {
  const member = await backend.reader({ login: address });
  const { pathname, search } = new URL(await newestLink(address));
  await member.get(pathname + search);
  return member;
}

async function newestLink(address: string, count = 1): Promise<string> {
  await expect.poll(() => backend.mailsTo(address).length).toBe(count);
  return (
    backend
      .mailsTo(address)
      .at(-1)
      ?.match(/https?:\/\/\S+/)?.[0] ?? ''
  );
}

async function forget(email: string) {
  const visitor = await backend.client().fetchToken();
  return visitor.post<{ message: string }>('/forgot-password', { email });
}

/** Returns the parameters of the mailed link. */
async function resetFor(address: string, count: number) {
  const { searchParams } = new URL(await newestLink(address, count));
  return Object.fromEntries(searchParams) as { token: string; email: string };
}

async function reset(form: object) {
  const visitor = await backend.client().fetchToken();
  const { status, body } = await visitor.post<Registered & ErrorDto>('/reset-password', form);
  return { status, body, visitor };
}

test('an unknown address gets the same response as a known one, and no mail', async () => {
  await memberByMail('known@example.org');
  const [known, unknown] = [await forget('Known@example.org'), await forget('nobody@example.org')];
  expect([known.status, known.body]).toEqual([200, unknown.body]);
  await newestLink('known@example.org', 2);
  expect(backend.mailsTo('nobody@example.org')).toEqual([]);
  expect(backend.mailsTo('known@example.org').at(-1)).toContain('你的用户名是 known@example.org');
});

test('mails carry the site’s brand as sender and signature', async () => {
  const own = await openBackend({ BRAND_NAME: '夜航船' });
  await own.reader({ login: 'brand@example.org' });
  expect(own.mailsTo('brand@example.org').at(-1)).toMatch(/\n\n夜航船\n$/);
  const [file = ''] = readdirSync(join(own.dataDir, 'mail'));
  const sender = Buffer.from('夜航船').toString('base64');
  expect(readFileSync(join(own.dataDir, 'mail', file), 'utf8')).toContain(`From: =?UTF-8?B?${sender}?=`);
});

test('the link sets a new password once, signs in and ends all other sessions', async () => {
  const elsewhere = await memberByMail('once@example.org');
  expect((await elsewhere.get('/user')).status).toBe(200);
  await forget('once@example.org');
  const form = { ...(await resetFor('once@example.org', 2)), password: '新的密码真长' };
  const { status, body, visitor } = await reset(form);
  expect([status, body.user.username]).toEqual([200, 'once@example.org']);
  expect((await visitor.get<{ data: UserDto }>('/user')).body.data.username).toBe('once@example.org');
  expect((await elsewhere.get('/user')).status).toBe(401);
  const again = await reset({ ...form, password: '另一个新密码' });
  expect([again.status, Object.keys(again.body.errors ?? {})]).toEqual([422, ['email']]);
  const login = async (password: string) =>
    (await (await backend.client().fetchToken()).post('/login', { login: 'once@example.org', password })).status;
  expect([await login('135790'), await login('另一个新密码'), await login('新的密码真长')]).toEqual([422, 422, 200]);
});

test('only one of two simultaneous requests with the same link succeeds', async () => {
  await memberByMail('race@example.org');
  await forget('race@example.org');
  const form = await resetFor('race@example.org', 2);
  const answers = await Promise.all(['第一个新密码', '第二个新密码'].map((password) => reset({ ...form, password })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
});

test('the link confirms an unconfirmed address', async () => {
  await backend.client().register({ login: 'mistyped@example.org' });
  await forget('mistyped@example.org');
  const { body } = await reset({ ...(await resetFor('mistyped@example.org', 2)), password: '新的密码真长' });
  expect(body.user.email_verified_at).not.toBeNull();
});

describe('a link is refused', () => {
  test.each([
    ['after an hour', rules.resetLinkMinutes * MINUTE_MS, {}],
    ['with another token', 0, { token: 'x'.repeat(43) }],
    ['for another account', 0, { email: 'known@example.org' }],
  ])('%s, and the password is unchanged', async (name, passed, changed) => {
    const address = `link${name.length}@example.org`;
    await memberByMail(address);
    await forget(address);
    const form = await resetFor(address, 2);
    now += passed;
    const { status, body } = await reset({ ...form, ...changed, password: '新的密码真长' });
    expect([status, body.errors]).toEqual([422, { email: ['链接无效或已过期，请重新获取'] }]);
    const visitor = await backend.client().fetchToken();
    expect((await visitor.post('/login', { login: address, password: '135790' })).status).toBe(200);
  });

  test('once a newer one has been sent', async () => {
    await memberByMail('newer@example.org');
    await forget('newer@example.org');
    const first = await resetFor('newer@example.org', 2);
    now += MINUTE_MS;
    await forget('newer@example.org');
    const second = await resetFor('newer@example.org', 3);
    expect((await reset({ ...first, password: '新的密码真长' })).status).toBe(422);
    expect((await reset({ ...second, password: '新的密码真长' })).status).toBe(200);
  });
});

test('an account gets one mail per minute; earlier requests get the same response', async () => {
  await memberByMail('pause@example.org');
  for (let asked = 0; asked < 3; asked += 1) expect((await forget('pause@example.org')).status).toBe(200);
  now += MINUTE_MS;
  await forget('pause@example.org');
  await newestLink('pause@example.org', 3);
});

test('a short password and an invalid address are refused at their fields', async () => {
  const short = await reset({ token: 'x', email: 'known@example.org', password: '12345' });
  expect(Object.keys(short.body.errors ?? {})).toEqual(['password']);
  const none = (await forget('known')) as { status: number; body: { message: string } };
  expect([none.status, none.body.message]).toEqual([422, '邮箱格式不正确']);
});

test('a network may send six requests per minute', async () => {
  const strict = await openBackend({ RATE_LIMIT_RESEND: '6' }, () => now);
  const visitor = await strict.client().fetchToken();
  const statuses: number[] = [];
  for (let asked = 0; asked < 7; asked += 1)
    statuses.push((await visitor.post('/forgot-password', { email: `reader${asked}@example.org` })).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429]);
});

test('without APP_ORIGIN no link contains the request’s Host', async () => {
  await memberByMail('victim@example.org');
  const headers = { 'X-Forwarded-Host': 'evil.example' };
  const forger = await backend.client(headers).fetchToken();
  expect((await forger.post('/forgot-password', { email: 'victim@example.org' })).status).toBe(200);
  await forget('victim@example.org');
  expect(await newestLink('victim@example.org', 2)).not.toContain('evil.example');
});
