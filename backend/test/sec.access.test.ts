import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@rstest/core';
import { checks } from '../conformance/conform.ts';
import { createApp } from '../src/http/app.ts';
import { openSocket, upgrade } from './socket.ts';
import { openBackend, type TestBackend } from './testBackend.ts';
import type { ErrorDto, SuggestionDto } from './wire.ts';

const backend = await openBackend();
const story = 'nie-xiaoqian';

// Access checks that need the server's internals or go beyond the contract. The others are in
// ../conformance/checks/access.ts.
describe('sec.idor-matrix', () => {
  test('every call is covered by the conformance checks', () => {
    const tried = checks.map(({ call }) => call.replace(/^WS/, 'GET'));
    // health checks are for the operator and are not exposed
    const own = new Set([
      ...tried,
      'GET /media/{kind}/{file}',
      'GET /media/share/{file}',
      'GET /healthz',
      'GET /readyz',
      'GET /openapi.json',
      // simulates the provider's site
      'GET /payments/sandbox/{token}',
      'POST /payments/sandbox/{token}',
    ]);
    const served = createApp(backend.services)
      .routes.filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path.replace(/^\/api/, '').replace(/:(\w+)(\{.*\})?/g, '{$1}')}`);
    expect(served.length).toBeGreaterThan(20);
    expect(served.filter((call) => !own.has(call))).toEqual([]);
  });

  test("another user's suggestions cannot be sent", async () => {
    const [mine, theirs] = await Promise.all([backend.reader(), backend.reader()]);
    const { body: sent } = await theirs.say({ story_id: story });
    await backend.settled();
    const asked = await theirs.post<{ data: SuggestionDto }>('/messages/suggestion', {
      conversation_id: sent.conversation.id,
      client_id: randomUUID(),
    });
    const suggestion_id = asked.body.data.id;
    const stolen = { story_id: story, body: '借你的灵感', suggestion_id, client_id: randomUUID() };
    expect((await mine.post('/messages', stolen)).status).toBe(422);
  });
});

describe('sec.csrf', () => {
  test('a cross-site change is refused with 419 for every token', async () => {
    const mine = await backend.reader();
    const attempts = await Promise.all([
      mine.post('/check-in', {}, { Origin: 'https://evil.example' }),
      mine.post('/check-in', {}, { Origin: 'null' }),
      mine.post('/check-in', {}, { 'Sec-Fetch-Site': 'cross-site' }),
    ]);
    expect(attempts.map(({ status }) => status)).toEqual([419, 419, 419]);
    const withoutToken = await mine.post<ErrorDto>('/check-in', {}, { 'X-XSRF-TOKEN': '' });
    expect(withoutToken.body).toEqual({ message: '页面已过期，请重试' });
    expect((await mine.post('/check-in', {}, { Origin: backend.url })).status).toBe(200);
  });

  test('a token that matches only the cookie is refused', async () => {
    const [mine, theirs] = await Promise.all([backend.reader(), backend.reader()]);
    const [own, foreign] = [mine, theirs].map(({ cookies }) => cookies.get('XSRF-TOKEN') ?? '');
    const headers = { 'X-XSRF-TOKEN': foreign ?? '', Cookie: mine.cookieHeader().replace(own ?? '', foreign ?? '') };
    expect((await mine.post('/check-in', {}, headers)).status).toBe(419);
  });
});

describe('sec.ws-origin', () => {
  test('refuses every upgrade outside /app/ and continues to serve', async () => {
    expect(await upgrade(backend, '//')).toBe('HTTP/1.1 404 Not Found');
    expect(await upgrade(backend, '/elsewhere')).toBe('HTTP/1.1 404 Not Found');
    expect(await upgrade(backend, 'http://[/')).toBe('HTTP/1.1 404 Not Found');
    const socket = await openSocket(backend, backend.client());
    expect(await socket.ping()).toEqual({ event: 'pusher:pong' });
  });

  test('a configured list of origins replaces the default', async () => {
    const strict: TestBackend = await openBackend({ APP_ORIGIN: 'https://liaozhai.example' });
    expect((await openSocket(strict, strict.client(), { origin: 'https://liaozhai.example' })).id).toMatch(/\./);
    await expect(openSocket(strict, strict.client(), { origin: strict.url })).rejects.toThrow('4009');
  });

  test('an origin matches in every configured spelling', async () => {
    const lenient = await openBackend({ APP_ORIGIN: 'https://Liaozhai.Example:443/, http://localhost:80' });
    for (const origin of ['https://liaozhai.example', 'http://localhost']) {
      expect((await openSocket(lenient, lenient.client(), { origin })).id).toMatch(/\./);
    }
  });
});
