import { describe, expect, test } from '@rstest/core';
import Echo from 'laravel-echo';
import Pusher from 'pusher-js';
import type { Client } from './client.ts';
import { openSocket } from './socket.ts';
import { openBackend } from './testBackend.ts';
import type { MessageDto, UserDto } from './wire.ts';

const backend = await openBackend({ STORYTELLER_PIECE_DELAY_MS: '40', STORYTELLER_PIECE_CHARACTERS: '12' });
const story = 'nie-xiaoqian';

interface Delta {
  conversation_id: string;
  message_id: string;
  version: number;
  revision: number;
  offset: number;
  text: string;
}

describe('reverb.parity, frame by frame', () => {
  test('greets with a socket id and an activity time-out of 30 s', async () => {
    const socket = await openSocket(backend, backend.client());
    expect(socket.frames[0]).toEqual({
      event: 'pusher:connection_established',
      data: { socket_id: socket.id, activity_timeout: 30 },
    });
    expect(socket.id).toMatch(/^\d+\.\d+$/);
  });

  test('answers a ping, and knows the key with and without escapes', async () => {
    const socket = await openSocket(backend, backend.client(), { key: '{key}' });
    expect(await socket.ping()).toEqual({ event: 'pusher:pong' });
  });

  test('turns away an unknown key with 4001', async () => {
    await expect(openSocket(backend, backend.client(), { key: 'other' })).rejects.toThrow(
      '"code":4001,"message":"Application does not exist"',
    );
  });

  test('confirms a subscription with an empty object, and refuses a bad signature without naming the channel', async () => {
    const reader = await backend.reader();
    const socket = await openSocket(backend, reader);
    const joined = await socket.subscribe();
    expect(joined.data).toEqual({});
    socket.send({ event: 'pusher:subscribe', data: { channel: 'private-App.Models.User.other', auth: '{key}:0000' } });
    expect(await socket.frame((frame) => frame.event === 'pusher:error')).toEqual({
      event: 'pusher:error',
      data: { code: 4009, message: 'Connection is unauthorized' },
    });
  });

  test('calls anything else malformed (4200), pusher:signin too, and stays connected', async () => {
    const socket = await openSocket(backend, backend.client());
    const malformed = [
      'not json',
      '[]',
      '{"data":{}}',
      { event: 'pusher:signin', data: {} },
      { event: 'pusher:subscribe', data: 'x' },
      { event: 'hello' },
    ];
    for (const frame of malformed) socket.send(frame);
    await socket.ping();
    const errors = socket.frames.filter(({ event }) => event === 'pusher:error');
    expect(errors).toEqual(
      malformed.map(() => ({ event: 'pusher:error', data: { code: 4200, message: 'Invalid message format' } })),
    );
  });

  test('passes client events on to the other members only', async () => {
    const reader = await backend.reader();
    const [one, two] = await Promise.all([openSocket(backend, reader), openSocket(backend, reader)]);
    const { channel } = await one.subscribe();
    one.send({ event: 'client-typing', channel: 'private-elsewhere', data: {} });
    expect((await one.frame(({ event }) => event === 'pusher:error')).data).toMatchObject({ code: 4009 });
    await two.subscribe();
    one.send({ event: 'client-typing', channel, data: { typing: true } });
    expect((await two.frame(({ event }) => event === 'client-typing')).data).toEqual({ typing: true });
    await one.ping();
    expect(one.frames.some(({ event }) => event === 'client-typing')).toBe(false);
  });

  test('closes on a frame above 10 kB', async () => {
    const socket = await openSocket(backend, backend.client());
    socket.send({ event: 'pusher:ping', data: 'x'.repeat(10_000) });
    expect((await socket.closed).code).toBe(1009);
  });
});

describe('reverb.parity, with Echo and pusher-js', () => {
  test('a reply arrives as deltas that add up to the stored text, then as completed', async () => {
    const reader = await backend.reader();
    const user = (await reader.get<{ data: UserDto }>('/user')).body.data;
    const echo = makeEcho(reader);
    const channel = echo.private(`App.Models.User.${user.id}`);
    await new Promise<void>((resolve, reject) => channel.subscribed(() => resolve()).error(reject));
    const created: MessageDto[] = [];
    const deltas: Delta[] = [];
    const balances: { balance: number; version: number }[] = [];
    channel.listen('.message.created', ({ message }: { message: MessageDto }) => created.push(message));
    channel.listen('.message.delta', (delta: Delta) => deltas.push(delta));
    channel.listen('.balance.updated', (event: { balance: number; version: number }) => balances.push(event));
    const completed = new Promise<{ message: MessageDto; version: number }>((resolve) =>
      channel.listen('.message.completed', resolve),
    );
    const startedAt = Date.now();
    const { body } = await reader.say({ story_id: story, body: '门外是谁' });
    const { message, version } = await completed;
    expect(created.map(({ id, seq }) => [id, seq])).toEqual([
      [body.message.id, 1],
      [body.reply.id, 2],
    ]);
    expect(balances.at(-1)?.balance).toBe(body.balance);
    expect(version).toBe(3);
    let text = '';
    for (const delta of deltas) {
      expect(delta).toMatchObject({
        conversation_id: body.conversation.id,
        message_id: body.reply.id,
        revision: 1,
        offset: [...text].length,
      });
      text += delta.text;
    }
    expect(text).toBe(message.body);
    expect((await reader.latest({ story_id: story })).data[1]?.body).toBe(text);
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.length).toBeLessThanOrEqual(Math.ceil((Date.now() - startedAt) / 200) + 1);
    echo.disconnect();
  });

  test('suggestions and deletions are told as well', async () => {
    const reader = await backend.reader();
    const socket = await openSocket(backend, reader);
    await socket.subscribe();
    const { body } = await reader.say({ story_id: story });
    await backend.settled();
    const asked = await reader.post<{ data: { id: string } }>('/messages/suggestion', {
      conversation_id: body.conversation.id,
      client_id: crypto.randomUUID(),
    });
    const ready = await socket.frame(({ event }) => event === 'suggestion.ready');
    expect(ready.data).toMatchObject({ id: asked.body.data.id, status: 'ready' });
    await reader.delete(`/conversations/${body.conversation.id}`);
    const deleted = await socket.frame(({ event }) => event === 'conversation.deleted');
    expect(deleted.data).toMatchObject({ id: body.conversation.id });
  });

  test('no event exceeds what Reverb takes, whatever was written', async () => {
    const reader = await backend.reader();
    const socket = await openSocket(backend, reader);
    await socket.subscribe();
    const { body } = await reader.say({ story_id: story, body: '😀/长'.repeat(600) });
    await socket.frame(({ event }) => event === 'message.completed');
    await reader.put('/user', { name: '😀'.repeat(20), persona: '😀'.repeat(1_000) });
    const updated = await socket.frame(({ event }) => event === 'user.updated');
    expect(updated.data).toMatchObject({ user: { name: '😀'.repeat(20) } });
    for (const frame of socket.frames) {
      const php = JSON.stringify(frame.data ?? {})
        .replace(/[^\0-\x7f]/g, '\\u0000')
        .replace(/\//g, '\\/');
      expect(php.length).toBeLessThanOrEqual(8_000);
    }
    const created = socket.frames.find(({ event }) => event === 'message.created');
    expect(created?.data).toMatchObject({ truncated: true, message: { id: body.message.id, body_length: 1800 } });
    expect(created?.data).not.toHaveProperty('message.body');
  });
});

function makeEcho(reader: Client): Echo<'reverb'> {
  const { hostname, port } = new URL(backend.url);
  return new Echo({
    broadcaster: 'reverb',
    key: '{key}',
    wsHost: hostname,
    wsPort: Number(port),
    forceTLS: false,
    enabledTransports: ['ws'],
    Pusher,
    channelAuthorization: {
      transport: 'ajax',
      endpoint: '/broadcasting/auth',
      customHandler: ({ socketId, channelName }, callback) => {
        void reader
          .post<{ auth: string }>('//broadcasting/auth', { socket_id: socketId, channel_name: channelName })
          .then(
            ({ body }) => callback(null, body),
            (error: Error) => callback(error, null),
          );
      },
    },
  });
}
