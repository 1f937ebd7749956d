import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openRaw, rawRequest, statusOf } from '@liaozhai/http/testing';
import { describe, expect, onTestFinished, test } from '@rstest/core';
import { ReverbBroadcaster } from '../src/realtime/reverb.ts';
import { createLog } from '../src/telemetry.ts';
import { openSocket } from './socket.ts';
import { openBackend } from './testBackend.ts';
import type { UserDto } from './wire.ts';

const backend = await openBackend();

describe('a request', () => {
  const h2c = [
    'Host: x',
    'Connection: Upgrade, HTTP2-Settings, close',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABkAAQCAAAA',
  ];

  test.each(['/api/v1/stories', '/healthz', '/readyz', '/sanctum/csrf-cookie'])(
    'to %s gets the same response with and without Upgrade, and over HTTP/1.0 without Host',
    async (path) => {
      const { status } = await fetch(backend.url + path);
      expect(statusOf(await rawRequest(backend.url, `GET ${path} HTTP/1.1`, ...h2c))).toBe(status);
      expect(statusOf(await rawRequest(backend.url, `GET ${path} HTTP/1.0`))).toBe(status);
    },
  );
});

test('sec.socket: another session cannot close a socket by its id', async () => {
  const [owner, other] = [await backend.reader(), await backend.reader()];
  const socket = await openSocket(backend, owner);
  await socket.subscribe();
  const { id } = (await other.get<{ data: UserDto }>('/user')).body.data;
  const asked = { socket_id: socket.id, channel_name: `private-App.Models.User.${id}` };
  expect((await other.post('//broadcasting/auth', asked)).status).toBe(200);
  await other.post('/logout');
  const ended = await Promise.race([socket.closed, owner.say({ story_id: 'nie-xiaoqian' })]);
  expect(ended).toMatchObject({ status: 201 });
  await socket.frame(({ event }) => event === 'message.completed');
});

test('a client that does not read whispers is disconnected', async () => {
  const wish = 'GET /app/%7Bkey%7D HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
  const key = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
  const { socket: deaf, received } = openRaw(backend.url);
  onTestFinished(() => void deaf.destroy());
  deaf.write(wish + key);
  await expect.poll(received).toContain('connection_established');
  const join = Buffer.from('{"event":"pusher:subscribe","data":{"channel":"loud"}}');
  // a frame whose mask is zero
  deaf.write(Buffer.concat([Buffer.from([0x81, 0x80 | join.length, 0, 0, 0, 0]), join]));
  await expect.poll(received).toContain('subscription_succeeded');
  deaf.pause();
  const reader = await backend.reader();
  const speaker = await openSocket(backend, reader);
  speaker.send({ event: 'pusher:subscribe', data: { channel: 'loud' } });
  const sockets = () => backend.services.broadcaster.load().sockets;
  const before = sockets();
  const words = 'x'.repeat(8_000);
  await expect
    .poll(() => {
      for (let at = 0; at < 200; at += 1) speaker.send({ event: 'client-word', channel: 'loud', data: { words } });
      return sockets();
    })
    .toBe(before - 1);
  speaker.close();
});

// Node 26 serializes any depth and forwards it; older versions cannot, and refuse it
test('sec.socket: a deeply nested whisper does not break the connection', async () => {
  const socket = await openSocket(backend, await backend.reader());
  socket.send({ event: 'pusher:subscribe', data: { channel: 'deep' } });
  const data = `${'['.repeat(4_900)}${']'.repeat(4_900)}`;
  socket.send({ event: 'client-word', channel: 'deep', data });
  socket.send({ event: 'pusher:ping' });
  await socket.frame(({ event }) => event === 'pusher:pong');
  socket.close();
});

test('an event that Reverb answers with 101 is lost, and later ones arrive', async () => {
  const told: string[] = [];
  const server = createServer((request, response) => {
    told.push(request.url ?? '');
    response.end('{}');
  });
  let isFirst = true;
  server.prependListener('request', (_, response) => {
    if (!isFirst) return;
    isFirst = false;
    response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const broadcaster = new ReverbBroadcaster({ url, id: '1', key: 'k', secret: 's' }, createLog('silent'));
  broadcaster.publish('private-x', 'one', {});
  broadcaster.publish('private-x', 'two', {});
  await expect.poll(() => told.length).toBe(2);
  expect(broadcaster.load()).toMatchObject({ lostEvents: 1, queuedEvents: 0 });
});

describe('sec.mail: without APP_ORIGIN', () => {
  test.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    '10.255.255.1:3000',
    'evil.example:80',
  ])('no confirmation mail links to %s from a request’s headers', async (host) => {
    const address = `reader${Math.random().toString(36).slice(2)}@example.org`;
    const visitor = await backend.client({ 'X-Forwarded-Host': host }).fetchToken();
    await visitor.post('/register', { login: address, password: '135790', name: '宁采臣' });
    expect(backend.mailsTo(address)).toEqual([]);
  });

  test('the machine’s own names are accepted', async () => {
    const visitor = await backend.client({ 'X-Forwarded-Host': 'localhost:3000' }).fetchToken();
    await visitor.post('/register', { login: 'here@example.org', password: '135790', name: '宁采臣' });
    expect(backend.mailsTo('here@example.org')).toEqual([
      expect.stringContaining('http://localhost:3000/email/verify/'),
    ]);
  });
});
