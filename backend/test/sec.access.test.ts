import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@rstest/core';
import { createApp } from '../src/http/app.ts';
import { openSocket, upgrade } from './socket.ts';
import { openBackend, type TestBackend } from './testBackend.ts';
import type { ErrorDto, Page, SuggestionDto, TransactionDto, UserDto } from './wire.ts';

const backend = await openBackend();
const story = 'nie-xiaoqian';
/** They act on the session's own user, or on what everybody may read. */
const withoutIds = [
  'GET /api/media/avatars.json',
  'GET /api/media/:kind/:file{[a-z0-9-]+\\.svg}',
  'GET /sanctum/csrf-cookie',
  'GET /app/:key',
  'POST /broadcasting/user-auth',
  'POST /api/v1/register',
  'POST /api/v1/login',
  'POST /api/v1/logout',
  'POST /api/v1/email/verification-notification/resend',
  'GET /api/v1/user',
  'PUT /api/v1/user',
  'PUT /api/v1/user/password',
  'GET /api/v1/stories',
  'GET /api/v1/stories/:id',
  'GET /api/v1/conversations',
  'POST /api/v1/check-in',
  'GET /api/v1/transactions',
];

describe('sec.idor-matrix', () => {
  test('nothing of another user can be read, changed, continued or listened to', async () => {
    const [mine, theirs] = await Promise.all([backend.reader(), backend.reader()]);
    const { body: sent } = await theirs.say({ story_id: story });
    await backend.settled();
    const conversation_id = sent.conversation.id;
    const client_id = randomUUID();
    const { body: asked } = await theirs.post<{ data: SuggestionDto }>('/messages/suggestion', {
      conversation_id,
      client_id,
    });
    await backend.settled();
    const other = (await theirs.get<{ data: UserDto }>('/user')).body.data;
    const channel = (kind: string) => ({ socket_id: '1.2', channel_name: `${kind}-App.Models.User.${other.id}` });
    const matrix: [call: string, answer: Promise<{ status: number }>, status: number][] = [
      ['GET /api/v1/messages/latest', mine.get(`/messages/latest?conversation_id=${conversation_id}`), 404],
      ['GET /api/v1/messages/suggestion/:id', mine.get(`/messages/suggestion/${asked.data.id}`), 404],
      ['POST /api/v1/messages', mine.say({ conversation_id }), 404],
      [
        'POST /api/v1/messages',
        mine.post('/messages', {
          story_id: story,
          body: '借你的灵感',
          suggestion_id: asked.data.id,
          client_id: randomUUID(),
        }),
        422,
      ],
      [
        'POST /api/v1/messages/continue',
        mine.post('/messages/continue', { conversation_id, message_id: sent.reply.id, client_id: randomUUID() }),
        404,
      ],
      [
        'POST /api/v1/messages/suggestion',
        mine.post('/messages/suggestion', { conversation_id, client_id: randomUUID() }),
        404,
      ],
      ['DELETE /api/v1/conversations/:id', mine.delete(`/conversations/${conversation_id}`), 404],
      ['POST /broadcasting/auth', mine.post('//broadcasting/auth', channel('private')), 403],
      ['POST /broadcasting/auth', mine.post('//broadcasting/auth', channel('presence')), 403],
      ['GET /api/v1/email/verify/:id/:hash', mine.get(`/email/verify/${other.id}/${'0'.repeat(40)}`), 403],
    ];
    for (const [call, answer, status] of matrix) expect([call, (await answer).status]).toEqual([call, status]);
    // whoever adds a call says here whether it takes an id of a user's own things
    const calls = createApp(backend.services).routes.map(({ method, path }) => `${method} ${path}`);
    const tried = new Set([...matrix.map(([call]) => call), ...withoutIds]);
    expect(calls.filter((call) => !call.startsWith('ALL ') && !tried.has(call))).toEqual([]);
    expect((await mine.latest({ story_id: story })).data).toEqual([]);
    expect(
      (await mine.get<Page<TransactionDto>>('/transactions')).body.data.every(({ type }) => type === 'recharge'),
    ).toBe(true);
    expect((await theirs.latest({ conversation_id })).data).toHaveLength(2);
  });

  test("a stored answer is not given out for another user's key", async () => {
    const [mine, theirs] = await Promise.all([backend.reader(), backend.reader()]);
    const line = { story_id: story, body: '同一把钥匙', client_id: randomUUID() };
    const first = await theirs.post<{ message: { id: string } }>('/messages', line);
    const second = await mine.post<{ message: { id: string } }>('/messages', line);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.message.id).not.toBe(first.body.message.id);
  });
});

describe('sec.csrf', () => {
  test('a change without a token, with a foreign one, or from another site is refused with 419', async () => {
    const [mine, theirs] = await Promise.all([backend.reader(), backend.reader()]);
    const foreign = theirs.cookies.get('XSRF-TOKEN') ?? '';
    const own = mine.cookies.get('XSRF-TOKEN') ?? '';
    const attempts = await Promise.all([
      mine.post('/check-in', {}, { 'X-XSRF-TOKEN': '' }),
      mine.post('/check-in', {}, { 'X-XSRF-TOKEN': foreign }),
      mine.post('/check-in', {}, { 'X-XSRF-TOKEN': foreign, Cookie: `${mine.cookieHeader().replace(own, foreign)}` }),
      mine.post('/check-in', {}, { Origin: 'https://evil.example' }),
      mine.post('/check-in', {}, { Origin: 'null' }),
      mine.post('/check-in', {}, { 'Sec-Fetch-Site': 'cross-site' }),
      mine.send('DELETE', `/conversations/${randomUUID()}`, undefined, { 'X-XSRF-TOKEN': '' }),
      mine.send('PUT', '/user', { name: '改名' }, { 'X-XSRF-TOKEN': '' }),
    ]);
    expect(attempts.map(({ status }) => status)).toEqual([419, 419, 419, 419, 419, 419, 419, 419]);
    const own419 = await mine.post<ErrorDto>('/check-in', {}, { 'X-XSRF-TOKEN': '' });
    expect(own419.body).toEqual({ message: '页面已过期，请重试' });
    expect((await mine.post('/check-in', {}, { Origin: backend.url })).status).toBe(200);
  });

  test('reading changes nothing', async () => {
    const mine = await backend.reader();
    const { body } = await mine.say({ story_id: story });
    await backend.settled();
    const state = async () =>
      JSON.stringify([
        (await mine.latest({ story_id: story })).data,
        (await mine.get('/user')).body,
        (await mine.get('/transactions')).body,
      ]);
    const before = await state();
    for (const path of [
      '/stories',
      `/stories/${story}`,
      '/conversations',
      `/conversations/${body.conversation.id}`,
      '/check-in',
      '/logout',
      '/messages',
      '/messages/continue',
    ])
      await mine.get(path);
    expect(await state()).toBe(before);
  });
});

describe('sec.ws-origin', () => {
  test('a socket from another site is refused, one from this site is let in', async () => {
    const refused = await openSocket(backend, backend.client(), { origin: 'https://evil.example' }).catch(
      (error: Error) => error.message,
    );
    expect(refused).toContain('4009');
    expect((await openSocket(backend, backend.client(), { origin: backend.url })).id).toMatch(/^\d+\.\d+$/);
  });

  test('refuses every upgrade outside /app/, and goes on serving', async () => {
    expect(await upgrade(backend, '//')).toBe('HTTP/1.1 404 Not Found');
    expect(await upgrade(backend, '/elsewhere')).toBe('HTTP/1.1 404 Not Found');
    expect(await upgrade(backend, 'http://[/')).toBe('HTTP/1.1 404 Not Found');
    const socket = await openSocket(backend, backend.client());
    expect(await socket.ping()).toEqual({ event: 'pusher:pong' });
  });

  test('a configured list of origins is the only one that counts', async () => {
    const strict: TestBackend = await openBackend({ APP_ORIGIN: 'https://liaozhai.example' });
    expect((await openSocket(strict, strict.client(), { origin: 'https://liaozhai.example' })).id).toMatch(/\./);
    await expect(openSocket(strict, strict.client(), { origin: strict.url })).rejects.toThrow('4009');
  });

  test('an origin counts however it is configured', async () => {
    const lenient = await openBackend({ APP_ORIGIN: 'https://Liaozhai.Example:443/, http://localhost:80' });
    for (const origin of ['https://liaozhai.example', 'http://localhost']) {
      expect((await openSocket(lenient, lenient.client(), { origin })).id).toMatch(/\./);
    }
  });
});
