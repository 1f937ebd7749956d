import { describe, expect, test } from '@rstest/core';
import { Client } from './client.ts';
import { openSocket } from './socket.ts';
import { openBackend } from './testBackend.ts';
import { storedIn } from './testDatabase.ts';
import type { ErrorDto } from './wire.ts';

const backend = await openBackend();
// its clock is stopped, so that the minute of the rate limit does not pass during slow attempts
const now = Date.now();
const guarded = await openBackend({ RATE_LIMIT_LOGIN: '5', RATE_LIMIT_RESEND: '6' }, () => now);

describe('sec.session', () => {
  test('a session id is random, hidden from scripts, stored as a hash and new at each login', async () => {
    const mine = await backend.reader({ login: 'session_owner' });
    const first = mine.cookies.get('liaozhai_session') ?? '';
    const login = await mine.post('/login', { login: 'session_owner', password: '135790' });
    const second = mine.cookies.get('liaozhai_session') ?? '';
    const cookie = login.headers.getSetCookie().find((line) => line.startsWith('liaozhai_session=')) ?? '';
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Lax/);
    expect(Buffer.from(first, 'base64url').length * 8).toBeGreaterThanOrEqual(128);
    expect(second).not.toBe(first);
    expect((await backend.client({ Cookie: `liaozhai_session=${first}` }).get('/user')).status).toBe(401);
    expect(storedIn(backend)).not.toContain(second);
  });

  test('on https the cookie is Secure and carries the __Host- prefix', async () => {
    const visitor = await backend.client({ 'X-Forwarded-Proto': 'https' }).fetchToken();
    const registered = await visitor.post('/register', { login: 'secure_reader', password: '135790', name: '密' });
    const cookies = registered.headers.getSetCookie();
    expect(cookies.find((line) => line.startsWith('__Host-liaozhai_session='))).toMatch(/Path=\/;.*Secure/);
    expect(cookies.find((line) => line.startsWith('XSRF-TOKEN='))).toMatch(/Secure/);
  });

  test.each(['/api', '/sanctum', '/'])('an old cookie for the path %s does not prevent a login', async (path) => {
    const mine = new Client(backend.url, {}, async (url, request) => {
      const headers = new Headers(request.headers);
      const isSent = new URL(url).pathname.startsWith(path);
      if (isSent) headers.set('Cookie', `liaozhai_session=stale; ${headers.get('Cookie')}`);
      const answer = await fetch(url, { ...request, headers });
      return { status: answer.status, headers: answer.headers, body: Buffer.from(await answer.arrayBuffer()) };
    });
    await mine.register();
    expect((await mine.get('/user')).status).toBe(200);
    expect((await mine.put('/user', { name: '宁采臣' })).status).toBe(200);
    const session = mine.cookies.get('liaozhai_session');
    expect((await mine.post('/logout')).status).toBe(204);
    expect((await backend.client({ Cookie: `liaozhai_session=${session}` }).get('/user')).status).toBe(401);
  });

  test('logging out ends the session and closes its sockets', async () => {
    const mine = await backend.reader();
    const socket = await openSocket(backend, mine);
    await socket.subscribe();
    const session = mine.cookies.get('liaozhai_session');
    expect((await mine.post('/logout')).status).toBe(204);
    expect((await socket.closed).code).toBe(4009);
    expect((await backend.client({ Cookie: `liaozhai_session=${session}` }).get('/user')).status).toBe(401);
  });

  test('the next sign-in of any user closes the sockets of an expired session', async () => {
    let now = Date.now();
    const later = await openBackend({}, () => now);
    const mine = await later.reader();
    const socket = await openSocket(later, mine);
    await socket.subscribe();
    now += 31 * 24 * 3_600_000;
    await later.reader();
    expect((await socket.closed).code).toBe(4009);
  });

  test('a new password ends every other session and its sockets, and keeps this one', async () => {
    const here = await backend.reader({ login: 'two_places' });
    const there = await backend.client().fetchToken();
    await there.post('/login', { login: 'two_places', password: '135790' });
    const [socketHere, socketThere] = await Promise.all([openSocket(backend, here), openSocket(backend, there)]);
    await Promise.all([socketHere.subscribe(), socketThere.subscribe()]);
    const form = { current_password: '135790', password: '975310', password_confirmation: '975310' };
    expect(
      (await here.put<ErrorDto>('/user/password', { ...form, current_password: 'wrong' })).body.errors,
    ).toHaveProperty('current_password');
    expect(
      (await here.put<ErrorDto>('/user/password', { ...form, password_confirmation: '1' })).body.errors,
    ).toHaveProperty('password_confirmation');
    expect((await here.put('/user/password', form)).status).toBe(204);
    expect((await socketThere.closed).code).toBe(4009);
    expect([(await here.get('/user')).status, (await there.get('/user')).status]).toEqual([200, 401]);
    expect((await socketHere.ping()).event).toBe('pusher:pong');
    // also sent on the channel, for pages whose sockets are Reverb's and stay open
    for (const { frames } of [socketHere, socketThere])
      expect(frames.filter(({ event }) => event === 'session.ended')).toHaveLength(1);
    await there.fetchToken();
    expect((await there.post('/login', { login: 'two_places', password: '135790' })).status).toBe(422);
  });
});

describe('sec.bruteforce', () => {
  test('the sixth wrong password in a minute is answered with 429 and a time to wait', async () => {
    await guarded.reader({ login: 'guessed' });
    const thief = await guarded.client().fetchToken();
    const guesses = await Promise.all(
      Array.from({ length: 6 }, () => thief.post<ErrorDto>('/login', { login: 'guessed', password: 'guess!' })),
    );
    expect(guesses.map(({ status }) => status).sort()).toEqual([422, 422, 422, 422, 422, 429]);
    const late = await thief.post<ErrorDto>('/login', { login: 'guessed', password: '135790' });
    expect(late.status).toBe(429);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('new network addresses allow at most twenty wrong passwords', async () => {
    await guarded.reader({ login: 'hunted' });
    const statuses: number[] = [];
    for (let index = 0; index < 25; index += 1) {
      const thief = await guarded.client({ 'X-Forwarded-For': `203.0.113.${index}` }).fetchToken();
      statuses.push((await thief.post('/login', { login: 'hunted', password: 'guess!' })).status);
    }
    expect(statuses.slice(20)).toEqual([429, 429, 429, 429, 429]);
  });

  test('a network may enter 30 wrong passwords, for any names and from any of its addresses', async () => {
    const own = { login: 'spraying', password: '135790' };
    await guarded.reader(own);
    const statuses: number[] = [];
    for (let index = 0; index < 60; index += 1) {
      const thief = await guarded.client({ 'X-Forwarded-For': `2001:db8:7:1::${index.toString(16)}` }).fetchToken();
      const form = index % 4 === 3 ? own : { login: `anybody${index}`, password: 'guess!' };
      statuses.push((await thief.post('/login', form)).status);
    }
    expect(statuses.filter((status) => status === 422)).toHaveLength(30);
    expect(statuses.slice(-10)).toEqual(Array(10).fill(429));
    const neighbour = await guarded.client({ 'X-Forwarded-For': '2001:db8:7:2::1' }).fetchToken();
    expect((await neighbour.post('/login', own)).status).toBe(200);
  });

  test('five wrong tries from its network do not lock out a known browser', async () => {
    const own = { login: 'neighbour', password: '135790' };
    const owner = await guarded.reader(own);
    await owner.post('/logout');
    const thief = await guarded.client().fetchToken();
    const guess = { login: 'neighbour', password: 'guess!' };
    const guesses = await Promise.all(Array.from({ length: 6 }, () => thief.post('/login', guess)));
    expect(guesses.map(({ status }) => status).sort()).toEqual([422, 422, 422, 422, 422, 429]);
    expect((await thief.post('/login', own)).status).toBe(429);
    expect((await owner.post('/login', own)).status).toBe(200);
  });

  test('a known browser has no extra tries, and is known to its own accounts only', async () => {
    const own = { login: 'lent_browser', password: '135790' };
    const owner = await guarded.reader(own);
    await guarded.reader({ login: 'someone_else' });
    for (const login of ['someone_else', 'lent_browser']) {
      const statuses: number[] = [];
      for (let index = 0; index < 6; index += 1)
        statuses.push((await owner.post('/login', { login, password: 'guess!' })).status);
      expect([login, ...statuses]).toEqual([login, 422, 422, 422, 422, 422, 429]);
    }
    const stolen = guarded.client();
    stolen.cookies.set('liaozhai_device', owner.cookies.get('liaozhai_device') ?? '');
    await stolen.fetchToken();
    expect((await stolen.post('/login', own)).status).toBe(429);
  });

  test('a new password makes other browsers unknown, and this one stays known', async () => {
    const here = await guarded.reader({ login: 'moved_house' });
    const there = await guarded.client().fetchToken();
    await there.post('/login', { login: 'moved_house', password: '135790' });
    const form = { current_password: '135790', password: '975310', password_confirmation: '975310' };
    expect((await here.put('/user/password', form)).status).toBe(204);
    const thief = await guarded.client().fetchToken();
    for (let index = 0; index < 5; index += 1) await thief.post('/login', { login: 'moved_house', password: 'guess!' });
    const again = { login: 'moved_house', password: '975310' };
    await there.fetchToken();
    expect([(await there.post('/login', again)).status, (await here.post('/login', again)).status]).toEqual([429, 200]);
  });

  test('the cookie of a known browser is hidden from scripts, and Secure on https', async () => {
    const visitor = await guarded.client({ 'X-Forwarded-Proto': 'https' }).fetchToken();
    const registered = await visitor.post('/register', { login: 'cookie_reader', password: '135790', name: '密' });
    const line = registered.headers.getSetCookie().find((one) => one.startsWith('__Host-liaozhai_device=')) ?? '';
    for (const flag of ['HttpOnly', 'SameSite=Lax', 'Secure', 'Path=/']) expect(line).toContain(flag);
  });

  test('the confirmation mail is sent six times a minute at most', async () => {
    const reader = await guarded.reader({ login: 'mail@example.org' });
    const statuses: number[] = [];
    for (let index = 0; index < 7; index += 1)
      statuses.push((await reader.post('/email/verification-notification/resend')).status);
    expect(statuses).toEqual([202, 202, 202, 202, 202, 202, 429]);
  });
});

describe('names', () => {
  test('that are reserved words or resemble the team are refused; similar names are accepted', async () => {
    const visitor = await backend.client().fetchToken();
    const register = (login: string) =>
      visitor.post<ErrorDto>('/register', { login, password: '135790', name: '无名' });
    for (const login of [
      'constructor',
      '__proto__',
      'hasOwnProperty',
      'toString',
      'Prototype',
      'null',
      'admin',
      'LIAOZHAI',
    ]) {
      const { status, body } = await register(login);
      expect([login, status, body.errors]).toEqual([login, 422, { login: ['用户名不能用这个，请换一个'] }]);
    }
    for (const login of ['constructor1', '_proto_', 'nullpointer']) expect((await register(login)).status).toBe(201);
  });
});

describe('sec.enum', () => {
  test('an unknown name and a wrong password get the same response in the same time', async () => {
    await backend.reader({ login: 'existing' });
    const visitor = await backend.client().fetchToken();
    const attempt = async (login: string) => {
      const startedAt = performance.now();
      const { status, body } = await visitor.post<ErrorDto>('/login', { login, password: 'guess!' });
      return { seen: [status, body], took: performance.now() - startedAt };
    };
    const least = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
    const series = async () => {
      for (let index = 0; index < 15; index += 1) {
        const [known, unknown] = [await attempt('existing'), await attempt(`nobody${index}`)];
        expect(unknown.seen).toEqual(known.seen);
        least.known = Math.min(least.known, known.took);
        least.unknown = Math.min(least.unknown, unknown.took);
      }
      return Math.abs(least.known - least.unknown) / Math.max(least.known, least.unknown);
    };
    // delays of a busy machine disappear with more attempts, but those of the server do not
    await expect.poll(series, { timeout: 150_000 }).toBeLessThan(0.4);
  });
});
