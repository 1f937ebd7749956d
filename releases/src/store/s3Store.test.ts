import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, rs, test } from '@rstest/core';
import { openS3Store } from './s3Store.ts';

let server: Server;
const sockets = new Set<Socket>();
beforeAll(async () => {
  rs.stubEnv('AWS_ACCESS_KEY_ID', 'id');
  rs.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  server = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  rs.unstubAllEnvs();
  for (const socket of sockets) socket.destroy();
  server.close();
});

test('a bucket that does not respond is reported as unreachable', async () => {
  const address = server.address();
  const port = address && typeof address === 'object' ? address.port : 0;
  const environment = { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` };
  const timeouts = { connectionTimeout: 100, socketTimeout: 100, requestTimeout: 100 };
  const store = openS3Store('s3://bucket', environment, timeouts);
  await expect(store.readPointer('channels/production.json')).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('100 ms'),
  });
});

test('the time of a bucket is that of its responses, including refusals', async () => {
  const says = new Date('2031-01-01T00:00:00Z');
  const bucket = createHttpServer((_, answer) => {
    answer.writeHead(404, { date: says.toUTCString(), connection: 'close' }).end();
  });
  await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
  const { port } = bucket.address() as AddressInfo;
  const store = openS3Store('s3://bucket', { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` });
  const time = (await store.time()).getTime();
  expect(time - says.getTime()).toBeGreaterThanOrEqual(0);
  expect(time - says.getTime()).toBeLessThan(60_000);
  bucket.close();
});

test('a write counts if the connection breaks after the bucket has stored it', async () => {
  let stored = 'old';
  const bucket = createHttpServer(async (request, answer) => {
    if (request.method === 'GET') return answer.writeHead(200, { etag: `"${stored}"` }).end(stored);
    stored = (await request.toArray()).join('');
    request.socket.destroy();
  });
  await new Promise<void>((resolve) => bucket.listen(0, '127.0.0.1', resolve));
  const { port } = bucket.address() as AddressInfo;
  const store = openS3Store('s3://bucket', { AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` });
  expect(await store.swapPointer('channels/production.json', 'new', 'old')).toBe(true);
  expect(await store.create('audit/production/2.json', 'audit')).toBe(true);
  bucket.close();
  bucket.closeAllConnections();
});
