import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@rstest/core';
import { runAccounts, runStoryVisibility } from '../src/operator.ts';
import { openBackend } from './testBackend.ts';
import type { UserDto } from './wire.ts';

const story = 'nie-xiaoqian';

/** Creates a reader with one message, and functions for the operator's commands. */
async function openReader() {
  const backend = await openBackend();
  const login = `reader${Math.random().toString(36).slice(2, 8)}`;
  const reader = await backend.reader({ login });
  const sent = await reader.post('/messages', {
    story_id: story,
    body: '夜里的雨真大',
    client_id: crypto.randomUUID(),
  });
  await backend.settled();
  return {
    ...{ backend, login, reader, sent },
    accounts: (...words: string[]) => runAccounts(backend.services, words),
    stories: (...words: string[]) => runStoryVisibility(backend.services, words),
  };
}

test('granted points appear in balance and ledger with their reason', async () => {
  const { accounts, reader, login } = await openReader();
  const before = (await reader.get<{ data: UserDto }>('/user')).body.data.balance;
  expect(accounts('grant', login, '60', '充值', '补偿')).toBe(`${login}: 60 points more, ${before + 60} in all`);
  expect((await reader.get<{ data: UserDto }>('/user')).body.data.balance).toBe(before + 60);
  const { data } = (await reader.get<{ data: object[] }>('/transactions')).body;
  expect(data[0]).toMatchObject({ type: 'gift', amount: 60, description: '充值 补偿' });
});

test('a blocked account is signed out and cannot sign in until it is unblocked', async () => {
  const { accounts, reader, login, backend } = await openReader();
  accounts('block', login, 'abuse');
  expect((await reader.get('/user')).status).toBe(401);
  const signIn = async () => {
    const browser = backend.client();
    await browser.fetchToken();
    return browser.post<{ message: string }>('/login', { login, password: '135790' });
  };
  const refused = await signIn();
  expect([refused.status, refused.body.message]).toEqual([403, '这个账号已停用，有疑问请联系客服']);
  expect(accounts('unblock', login)).toContain('abuse');
  expect((await signIn()).status).toBe(200);
  expect(accounts('unblock', login)).toBe(`${login} was not blocked`);
});

test('a hidden story leaves feed, search, page and composer; its conversations stay readable', async () => {
  const { stories, reader, backend, sent } = await openReader();
  expect(sent.status).toBe(201);
  const shown = async (path: string) =>
    (await reader.get<{ data: { id: string }[] }>(path)).body.data.some(({ id }) => id === story);
  expect(await shown('/stories')).toBe(true);
  stories('hide', story);
  expect([await shown('/stories'), await shown(`/stories?q=${encodeURIComponent('聂小倩')}`)]).toEqual([false, false]);
  expect((await reader.get(`/stories/${story}`)).status).toBe(404);
  const again = { story_id: story, body: '还在吗', client_id: crypto.randomUUID() };
  expect((await reader.post('/messages', again)).status).toBe(404);
  expect((await backend.client().get(`/stories/${story}`)).status).toBe(404);
  const latest = await reader.get<{ data: object[] }>(`/messages/latest?story_id=${story}`);
  expect(JSON.stringify(latest.body)).toContain('夜里的雨真大');
  stories('show', story);
  expect((await reader.get(`/stories/${story}`)).status).toBe(200);
});

test('an export contains texts and ledger, no secret, and overwrites no file', async () => {
  const { accounts, login, backend } = await openReader();
  const file = join(backend.dataDir, `${login}.json`);
  expect(accounts('export', login, file)).toBe(`${file}: everything of ${login}`);
  const text = readFileSync(file, 'utf8');
  const data = JSON.parse(text);
  expect(data.user).toMatchObject({ login, minor_mode: false });
  expect(data.messages).toContainEqual(expect.objectContaining({ body: '夜里的雨真大' }));
  for (const table of ['transactions', 'conversations', 'sessions']) expect(data[table].length).toBeGreaterThan(0);
  expect(text).not.toMatch(/argon2|_hash|token/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(() => accounts('export', login, file)).toThrow('name a new file');
});

test.each([
  [['grant', 'nobody-here', '5', 'x'], 'there is no account nobody-here'],
  [['grant', 'LOGIN', '0', 'x'], 'give a whole number'],
  [['grant', 'LOGIN', '1.5', 'x'], 'give a whole number'],
  [['grant', 'LOGIN', '-5', 'x'], 'give a whole number'],
  [['grant', 'LOGIN', '5'], 'add the reason'],
  [['block', 'LOGIN', '  '], 'add the reason'],
  [['export', 'LOGIN'], 'add the name of the file'],
  [['export', 'LOGIN', '/no/such/folder/a.json'], 'name a new file'],
  [['delete', 'LOGIN'], 'say `grant`'],
])('the command refuses %j with a cure', async (words, cure) => {
  const { accounts, login } = await openReader();
  expect(() => accounts(...words.map((word) => (word === 'LOGIN' ? login : word)))).toThrow(cure);
});

test('an unknown story cannot be hidden', async () => {
  const { stories } = await openReader();
  expect(() => stories('hide', 'no-such-story')).toThrow('there is no story no-such-story');
});
