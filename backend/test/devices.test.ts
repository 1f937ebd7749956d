import { expect, test } from '@rstest/core';
import { MINUTE_MS } from '../src/clock.ts';
import type { Client } from './client.ts';
import { openSocket } from './socket.ts';
import { openBackend } from './testBackend.ts';
import { allowWrites } from './testDatabase.ts';

let now = Date.parse('2026-03-01T10:00:00+08:00');
const backend = await openBackend({}, () => now);

interface SessionDto {
  id: string;
  user_agent: string;
  created_at: string;
  last_used_at: string;
  is_current: boolean;
}

const sessionsOf = async (client: Client) => (await client.get<{ data: SessionDto[] }>('/user/sessions')).body.data;
const aliveOf = async (clients: Client[]) =>
  Promise.all(clients.map(async (client) => (await client.get('/user')).status));

/** Signs an account in with several browsers, by their user agents. */
async function signedIn(login: string, browsers: string[]): Promise<Client[]> {
  await backend.reader({ login });
  return Promise.all(
    browsers.map(async (name) => {
      const client = await backend.client({ 'User-Agent': name }).fetchToken();
      await client.post('/login', { login, password: '135790' });
      return client;
    }),
  );
}

test('lists each browser with its last use and the current one, without secrets', async () => {
  const [phone, desk] = (await signedIn('two_devices', ['Phone/1.0', 'Desk/2.0'])) as [Client, Client];
  now += 10 * MINUTE_MS;
  await desk.get('/user');
  const sessions = await sessionsOf(desk);
  expect(sessions.map(({ user_agent, is_current }) => [user_agent, is_current])).toContainEqual(['Phone/1.0', false]);
  expect(sessions[0]).toMatchObject({ user_agent: 'Desk/2.0', is_current: true });
  const ago = (session: SessionDto | undefined) => (now - Date.parse(session?.last_used_at ?? '')) / MINUTE_MS;
  expect(ago(sessions[0])).toBe(0);
  expect(ago(sessions.find(({ user_agent }) => user_agent === 'Phone/1.0'))).toBe(10);
  expect(JSON.stringify(sessions)).not.toContain(phone.cookies.get('liaozhai_session'));
});

test('ending one session closes its socket and keeps the others', async () => {
  const [here, there, third] = (await signedIn('three_devices', ['Here', 'There', 'Third'])) as [
    Client,
    Client,
    Client,
  ];
  const socket = await openSocket(backend, there);
  await socket.subscribe();
  const target = (await sessionsOf(here)).find(({ user_agent }) => user_agent === 'There');
  expect((await here.delete(`/user/sessions/${target?.id}`)).status).toBe(204);
  expect((await socket.closed).code).toBe(4009);
  expect(await aliveOf([here, there, third])).toEqual([200, 401, 200]);
  expect((await here.delete(`/user/sessions/${target?.id}`)).status).toBe(404);
});

test('ending all other sessions closes their sockets with an event', async () => {
  const [here, there, third] = (await signedIn('all_devices', ['Here', 'There', 'Third'])) as [Client, Client, Client];
  const socket = await openSocket(backend, here);
  await socket.subscribe();
  expect((await here.delete('/user/sessions')).status).toBe(204);
  expect(await aliveOf([here, there, third])).toEqual([200, 401, 401]);
  expect((await sessionsOf(here)).map(({ user_agent }) => user_agent)).toEqual(['Here']);
  await expect.poll(() => socket.frames.some(({ event }) => event === 'session.ended')).toBe(true);
});

test('an expired session is not listed', async () => {
  const [here] = (await signedIn('old_device', ['Old'])) as [Client];
  now += 31 * 24 * 60 * MINUTE_MS;
  const later = await backend.client().fetchToken();
  await later.post('/login', { login: 'old_device', password: '135790' });
  expect((await here.get('/user/sessions')).status).toBe(401);
  expect(await sessionsOf(later)).toHaveLength(1);
});

test('reads are answered while writes fail', async () => {
  const reader = await backend.reader();
  now += 10 * MINUTE_MS;
  allowWrites(backend.services.db, false);
  const { status } = await reader.get('/user');
  allowWrites(backend.services.db, true);
  expect(status).toBe(200);
});
