import { randomUUID } from 'node:crypto';
import { expect, test } from '@rstest/core';
import { DAY_MS } from '../src/clock.ts';
import { query } from '../src/db/database.ts';
import { rules } from '../src/rules.ts';
import { startSweeper } from '../src/server.ts';
import type { Client } from './client.ts';
import { openBackend } from './testBackend.ts';
import { rowsOf } from './testDatabase.ts';
import type { ErrorDto, UserDto } from './wire.ts';

let now = Date.parse('2026-03-01T10:00:00+08:00');
const backend = await openBackend({ RATE_LIMIT_PASSWORD: '1000' }, () => now);
const { db } = backend.services;

const ask = (member: Client, current_password = '135790') =>
  member.post<{ data: { deletion_at: string } } & ErrorDto>('/user/deletion', { current_password });
const userOf = async (member: Client) => (await member.get<{ data: UserDto }>('/user')).body.data;
const sweep = () => startSweeper(backend.services)();
const loginAs = async (login: string) =>
  (await backend.client().fetchToken()).post<{ user: UserDto }>('/login', { login, password: '135790' });

test('a wrong password schedules no deletion', async () => {
  const member = await backend.reader();
  const refused = await ask(member, 'guess!');
  expect([refused.status, Object.keys(refused.body.errors ?? {})]).toEqual([422, ['current_password']]);
  expect((await userOf(member)).deletion_at).toBeNull();
});

test('a request schedules the deletion in seven days, logs out other devices, and signing in shows it', async () => {
  const member = await backend.reader({ login: 'leaving' });
  const elsewhere = await backend.client().fetchToken();
  await elsewhere.post('/login', { login: 'leaving', password: '135790' });
  const at = new Date(now + 7 * DAY_MS).toISOString();
  const { body } = await ask(member);
  expect(Date.parse(body.data.deletion_at)).toBe(Date.parse(at));
  expect([(await member.get('/user')).status, (await elsewhere.get('/user')).status]).toEqual([200, 401]);
  now += DAY_MS;
  // a second request does not postpone the deletion
  expect((await ask(member)).body.data.deletion_at).toBe(body.data.deletion_at);
  expect((await loginAs('leaving')).body.user.deletion_at).toBe(body.data.deletion_at);
});

test('a cancelled deletion erases nothing', async () => {
  const member = await backend.reader({ login: 'staying' });
  await ask(member);
  expect((await member.delete('/user/deletion')).status).toBe(204);
  expect((await userOf(member)).deletion_at).toBeNull();
  now += 8 * DAY_MS;
  sweep();
  expect((await userOf(member)).username).toBe('staying');
});

test('a mail announces the deletion to a confirmed address', async () => {
  const member = await backend.reader({ login: 'leaver@example.org' });
  await member.get(
    backend
      .mailsTo('leaver@example.org')
      .at(-1)
      ?.match(/\/email\/verify\S+/)?.[0] ?? '',
  );
  await ask(member);
  expect(backend.mailsTo('leaver@example.org').at(-1)).toContain('按「撤销」');
});

test('after seven days the personal data is erased and the anonymous ledger stays', async () => {
  const inviter = await backend.reader({ login: 'inviter_stays', name: '邀请的人' });
  const { invite_code, id: inviterId } = await userOf(inviter);
  const member = await backend.reader({ login: 'erased_reader', name: '辞行的甲乙丙', invite_code });
  await member.put('/user', { persona: '一个秘密的人设' });
  await member.put('/user/email', { email: 'erased@example.org', current_password: '135790' });
  await member.get(
    backend
      .mailsTo('erased@example.org')
      .at(-1)
      ?.match(/\/email\/verify\S+/)?.[0] ?? '',
  );
  await member.say({ story_id: 'nie-xiaoqian', body: '一句秘密的话' });
  await backend.settled();
  await member.post('/check-in', {}, { 'Idempotency-Key': randomUUID() });
  const { id, balance } = await userOf(member);
  await ask(member);
  now += rules.deletionDays * DAY_MS - 1;
  sweep();
  expect((await userOf(member)).name).toBe('辞行的甲乙丙');
  now += 1;
  sweep();
  expect((await member.get('/user')).status).toBe(401);
  expect((await loginAs('erased_reader')).status).toBe(422);
  expect((await loginAs(`erased:${id}`)).status).toBe(422);
  const all = rowsOf(db);
  for (const trace of ['erased_reader', '辞行的甲乙丙', '一个秘密的人设', 'erased@example.org', '一句秘密的话'])
    expect([trace, all.includes(trace)]).toEqual([trace, false]);
  const ledger = db.all(query.selectFrom('transactions').selectAll().where('user_id', '=', id));
  expect(ledger.map(({ type }) => type).sort()).toEqual(['check_in', 'gift', 'invite', 'message']);
  expect(ledger.reduce((sum, { amount }) => sum + amount, 0)).toBe(balance);
  const theirs = db.all(query.selectFrom('transactions').selectAll().where('user_id', '=', inviterId));
  expect(theirs.find(({ type }) => type === 'invite')?.description).toBe('邀请好友');
  // the name is available again
  expect((await backend.client().register({ login: 'erased_reader' })).username).toBe('erased_reader');
});

test('erasing an account stops its running reply', async () => {
  const member = await backend.reader();
  await ask(member);
  now += rules.deletionDays * DAY_MS - 1;
  await member.say({ story_id: 'nie-xiaoqian', body: '沉默' });
  now += 1;
  sweep();
  await backend.settled();
  expect((await member.get('/user')).status).toBe(401);
});
