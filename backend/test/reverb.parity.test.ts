import { describe, expect, onTestFinished, rs, test } from '@rstest/core';
import Echo from 'laravel-echo';
import Pusher from 'pusher-js';
import type { Client } from './client.ts';
import { type Frame, openSocket, refusalOf } from './socket.ts';
import { openBackend } from './testBackend.ts';
import type { MessageDto, UserDto } from './wire.ts';

const backend = await openBackend({ STORYTELLER_PIECE_DELAY_MS: '40', STORYTELLER_PIECE_CHARACTERS: '12' });
const story = 'nie-xiaoqian';
/** 1,620 characters, half of which need an escape. */
const dialogue = '"好的"'.repeat(405);

interface Delta {
  conversation_id: string;
  message_id: string;
  version: number;
  revision: number;
  offset: number;
  text: string;
}

// The frames are compared with Reverb's rules in ../conformance/checks/sockets.ts.
describe('reverb.parity: protocol details', () => {
  test('refuses an unknown key with 4001 and ends without a close frame', async () => {
    expect(await refusalOf(backend, { key: 'other' })).toEqual({
      error: { code: 4001, message: 'Application does not exist' },
      code: 1006,
    });
  });

  test('sends 4201 to a silent socket and ends without a close frame', async () => {
    rs.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
    onTestFinished(() => {
      rs.useRealTimers();
    });
    const slow = await openBackend();
    const socket = await openSocket(slow, slow.client());
    rs.advanceTimersByTime(90_000);
    await socket.frame(({ event }) => event === 'pusher:ping');
    rs.advanceTimersByTime(60_000);
    expect((await socket.closed).code).toBe(1006);
    expect(socket.frames.at(-1)?.data).toEqual({ code: 4201, message: 'Pong reply not received in time' });
  });

  test('a frame above 10 kB closes with 1009', async () => {
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

  test('suggestions and deletions arrive as events', async () => {
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

  test('no event exceeds Reverb’s size limit in Laravel’s encoding', async () => {
    const reader = await backend.reader();
    const socket = await openSocket(backend, reader);
    await socket.subscribe();
    const texts = ['😀/长'.repeat(600), dialogue, '\n"/\\'.repeat(500), 'a'.repeat(2_000)];
    const sent: string[] = [];
    for (const body of texts) {
      sent.push((await reader.say({ story_id: story, body })).body.message.id);
      await backend.settled();
    }
    const name = '😀'.repeat(20);
    await reader.put('/user', { name, persona: '😀'.repeat(1_000) });
    const updated = await socket.frame(
      ({ event, data }) => event === 'user.updated' && (data as { user: UserDto }).user.name === name,
    );
    expect(updated.data).not.toHaveProperty('user.persona');
    for (const frame of socket.frames.filter(({ channel }) => channel))
      expect(requestBytes(frame)).toBeLessThanOrEqual(9_400);
    const created = sent.map((id) =>
      socket.frames.find(({ event, data }) => event === 'message.created' && (data as MessageEvent).message.id === id),
    );
    expect(created.map((frame) => (frame?.data as MessageEvent | undefined)?.truncated)).toEqual([
      true,
      true,
      undefined,
      undefined,
    ]);
    expect(created[0]?.data).toMatchObject({ truncated: true, message: { body_length: 1800 } });
    expect(created[0]?.data).not.toHaveProperty('message.body');
  });

  test('dialogue of 1,620 characters arrives; text beyond an event’s size is fetched', async () => {
    const reader = await backend.reader();
    const socket = await openSocket(backend, reader);
    await socket.subscribe();
    const { body: answer } = await reader.say({ story_id: story, body: dialogue });
    const created = await socket.frame(({ event }) => event === 'message.created');
    const { message, version } = created.data as MessageEvent;
    expect(message).toMatchObject({ id: answer.message.id, body_length: 1_620 });
    // 7,000 bytes as JSON, but Reverb would refuse its request, including headers, with 413
    const whole = { ...(created.data as object), message: { ...message, body: dialogue } };
    expect(requestBytes({ ...created, data: whole })).toBeGreaterThan(9_400);
    const { data } = await reader.latest({ story_id: story, after: version - 1 });
    expect(data.find(({ id }) => id === message.id)?.body).toBe(dialogue);
  });
});

interface MessageEvent {
  version: number;
  truncated?: boolean;
  message: Partial<MessageDto>;
}

/** Returns the bytes of Laravel's request for the event: PHP's JSON, with the data as JSON text. */
function requestBytes({ event, channel, data }: Frame): number {
  const php = (value: unknown) =>
    [...JSON.stringify(value).replaceAll('/', '\\/')]
      .map((one) => (one > '\x7f' ? '\\u0000'.repeat(one.length) : one))
      .join('');
  return php({ name: event, data: php(data), channels: [channel] }).length;
}

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
