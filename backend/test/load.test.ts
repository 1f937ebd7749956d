import { expect, test } from '@rstest/core';
import { openSocket } from './socket.ts';
import { openBackend } from './testBackend.ts';

const backend = await openBackend();

test('ws.herd: a hundred sockets join together, and each receives a change exactly once', async () => {
  const reader = await backend.reader();
  const sockets = await Promise.all(Array.from({ length: 100 }, () => openSocket(backend, reader)));
  await Promise.all(sockets.map((socket) => socket.subscribe()));
  expect(new Set(sockets.map(({ id }) => id)).size).toBe(100);
  await reader.put('/user', { persona: '听见了' });
  await Promise.all(sockets.map((socket) => socket.frame(({ event }) => event === 'user.updated')));
  await Promise.all(sockets.map((socket) => socket.ping()));
  for (const { frames } of sockets) expect(frames.filter(({ event }) => event === 'user.updated')).toHaveLength(1);
  for (const socket of sockets) socket.close();
});

test('http.load: fifty simultaneous readers all get the first page', async () => {
  const ask = async () => {
    const { status, body } = await backend.client().get<{ data: unknown[] }>('/stories');
    return [status, body.data.length];
  };
  const answers = await Promise.all(Array.from({ length: 50 }, ask));
  expect(answers).toEqual(answers.map(() => [200, 20]));
});
