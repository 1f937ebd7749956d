import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from '@rstest/core';
import { createBackendProxy } from './proxy.ts';

async function listen(answer: RequestListener) {
  const server = createServer({ keepAliveTimeout: 60_000 }, answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a connection to the backend is used again, and given up before the backend could close it under a call', async () => {
  const backend = await listen((_, response) => response.end('answered'));
  const connections: Socket[] = [];
  backend.server.on('connection', (socket) => connections.push(socket));
  const proxy = createBackendProxy(() => backend.origin, false);
  const front = await listen((request, response) => proxy.web(request, response));
  const ask = async () => (await fetch(`${front.origin}/api/v1/stories`)).text();
  expect([await ask(), await ask()]).toEqual(['answered', 'answered']);
  const [connection] = connections;
  expect(connections).toHaveLength(1);
  if (connection) await once(connection, 'end');
});
