import { describe, expect, test } from '@rstest/core';
import { rules } from '../src/rules.ts';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import type { ErrorDto, UserDto } from './wire.ts';

let now = Date.parse('2026-03-01T10:00:00+08:00');
const backend = await openBackend({ RATE_LIMIT_PASSWORD: '1000' }, () => now);

interface EmailDto {
  data: { email: string | null; verified_at: string | null; pending: { email: string; sent_at: string } | null };
}

const ask = (member: Client, email: string, current_password = '135790') =>
  member.put<EmailDto & ErrorDto>('/user/email', { email, current_password });
const state = async (member: Client) => (await member.get<EmailDto>('/user/email')).body.data;
const linkTo = (address: string) =>
  backend
    .mailsTo(address)
    .at(-1)
    ?.match(/\/email\/verify\S+/)?.[0] ?? '';
const open = async (link: string) => (await backend.client().get(link)).status;
const loginAs = async (login: string, password = '135790') =>
  (await backend.client().fetchToken()).post<{ user: UserDto }>('/login', { login, password });

/** Creates a member with a confirmed address. */
async function memberWith(email: string, form = {}) {
  const member = await backend.reader(form);
  await ask(member, email);
  expect(await open(linkTo(email))).toBe(200);
  return member;
}

test('an address is confirmed by a mailed link and then signs in', async () => {
  const member = await backend.reader({ login: 'ning_caichen' });
  expect(await state(member)).toEqual({ email: null, verified_at: null, pending: null });
  const asked = await ask(member, 'Ning@example.org');
  expect([asked.status, asked.body.data]).toMatchObject([202, { email: null, pending: { email: 'ning@example.org' } }]);
  expect((await loginAs('ning@example.org')).status).toBe(422);
  expect(await open(linkTo('ning@example.org'))).toBe(200);
  expect(await state(member)).toMatchObject({ email: 'ning@example.org', pending: null });
  expect((await state(member)).verified_at).not.toBeNull();
  expect((await loginAs('ning@example.org')).body.user.username).toBe('ning_caichen');
  // a link may be opened twice, for example by a mail scanner
  expect(await open(linkTo('ning@example.org'))).toBe(200);
});

test('a wrong password changes no address and sends no mail', async () => {
  const member = await backend.reader();
  const refused = await ask(member, 'wrong@example.org', 'guess!');
  expect([refused.status, Object.keys(refused.body.errors ?? {})]).toEqual([422, ['current_password']]);
  expect(backend.mailsTo('wrong@example.org')).toEqual([]);
});

test('a new address replaces the old one on confirmation, and the old one gets a mail', async () => {
  const member = await memberWith('old@example.org', { login: 'two_addresses' });
  await ask(member, 'new@example.org');
  expect(await state(member)).toMatchObject({ email: 'old@example.org', pending: { email: 'new@example.org' } });
  await open(linkTo('new@example.org'));
  expect(await state(member)).toMatchObject({ email: 'new@example.org', pending: null });
  expect(backend.mailsTo('old@example.org').at(-1)).toContain('已换成 new@example.org');
  expect([(await loginAs('old@example.org')).status, (await loginAs('new@example.org')).status]).toEqual([422, 200]);
});

test('a user name that is the address changes with it', async () => {
  const member = await backend.reader({ login: 'named@example.org' });
  await member.get(linkTo('named@example.org'));
  await ask(member, 'renamed@example.org');
  await open(linkTo('renamed@example.org'));
  expect((await member.get<{ data: UserDto }>('/user')).body.data.username).toBe('renamed@example.org');
  expect((await loginAs('named@example.org')).status).toBe(422);
});

describe('a taken address', () => {
  test.each(['bound', 'a name'])('gets the same response as a free one, and a mail to its owner (%s)', async (kind) => {
    const address = `${kind.replace(' ', '-')}@example.org`;
    if (kind === 'bound') await memberWith(address, { login: 'owner_of_it' });
    else await backend.reader({ login: address });
    const other = await backend.reader();
    const [taken, free] = [await ask(other, address), await ask(await backend.reader(), `free-${address}`)];
    expect([taken.status, taken.body.data.pending?.email]).toEqual([free.status, address]);
    expect(Object.keys(taken.body.data)).toEqual(Object.keys(free.body.data));
    expect(backend.mailsTo(address).at(-1)).toContain('已经属于一个账号');
    expect(backend.mailsTo(address).at(-1)).not.toContain('/email/verify');
  });

  test('belongs to the account whose link is opened first', async () => {
    const [first, second] = [await backend.reader(), await backend.reader()];
    await ask(first, 'contested@example.org');
    const slow = linkTo('contested@example.org');
    await ask(second, 'contested@example.org');
    expect(await open(linkTo('contested@example.org'))).toBe(200);
    expect(await open(slow)).toBe(403);
    expect((await state(first)).email).toBeNull();
  });

  test('cannot be registered as a user name', async () => {
    await memberWith('mine@example.org');
    const visitor = await backend.client().fetchToken();
    const form = { login: 'mine@example.org', password: '135790', name: '甲' };
    expect((await visitor.post('/register', form)).status).toBe(422);
  });
});

test('a link for an address that was replaced before confirmation is refused', async () => {
  const member = await backend.reader();
  await ask(member, 'first@example.org');
  await ask(member, 'second@example.org');
  expect([await open(linkTo('first@example.org')), await open(linkTo('second@example.org'))]).toEqual([403, 200]);
});

test('the mail can be requested again until its link expires', async () => {
  const member = await backend.reader();
  expect((await member.post<ErrorDto>('/user/email/resend')).body.code).toBe('nothing_pending');
  await ask(member, 'again@example.org');
  expect((await member.post('/user/email/resend')).status).toBe(202);
  expect(backend.mailsTo('again@example.org')).toHaveLength(2);
  now += rules.verificationLinkHours * 3_600_000;
  expect((await state(member)).pending).toBeNull();
  expect((await member.post('/user/email/resend')).status).toBe(409);
  expect(await open(linkTo('again@example.org'))).toBe(403);
});

test('a confirmed address receives the reset link, whose mail names the account', async () => {
  await memberWith('bound-reset@example.org', { login: 'forgetful' });
  await (await backend.client().fetchToken()).post('/forgot-password', { email: 'bound-reset@example.org' });
  await expect.poll(() => backend.mailsTo('bound-reset@example.org').at(-1)).toContain('你的用户名是 forgetful');
  const link = new URL(
    backend
      .mailsTo('bound-reset@example.org')
      .at(-1)
      ?.match(/https?:\S+/)?.[0] ?? '',
  );
  const form = { ...Object.fromEntries(link.searchParams), password: '新的密码真长' };
  expect((await (await backend.client().fetchToken()).post('/reset-password', form)).status).toBe(200);
  expect((await loginAs('forgetful', '新的密码真长')).status).toBe(200);
});

test('wrong passwords for address and user name share one limit', async () => {
  const strict = await openBackend({ RATE_LIMIT_LOGIN: '5' }, () => now);
  const member = await strict.reader({ login: 'hunted' });
  await member.put('/user/email', { email: 'hunted@example.org', current_password: '135790' });
  await strict.client().get(
    strict
      .mailsTo('hunted@example.org')
      .at(-1)
      ?.match(/\/email\/verify\S+/)?.[0] ?? '',
  );
  const thief = await strict.client().fetchToken();
  const statuses: number[] = [];
  for (let guess = 0; guess < 6; guess += 1) {
    const login = guess % 2 ? 'hunted' : 'hunted@example.org';
    statuses.push((await thief.post('/login', { login, password: 'guess!' })).status);
  }
  expect(statuses).toEqual([422, 422, 422, 422, 422, 429]);
});
