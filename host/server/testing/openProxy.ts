import { once } from 'node:events';
import { createServer as createHttp, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { createHttpServer } from '@liaozhai/http/server';
import { onTestFinished } from '@rstest/core';
import { createBackendProxy } from '../proxy/proxy.ts';
import { createLog } from '../telemetry.ts';

export const silent = createLog('silent');

/** Listens until the test is over. Resolves with the origin. */
export async function listen(server: Server | ReturnType<typeof createServer>): Promise<string> {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => connections.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of connections) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const listenFor = async (answer: RequestListener) => {
  const server = createHttp({ keepAliveTimeout: 60_000 }, answer);
  return { server, origin: await listen(server) };
};

/** A backend that writes these bytes to every request, and then closes, keeps or resets the connection. */
export const openRawBackend = (bytes: string | Buffer, then: 'goes' | 'stays' | 'resets' = 'goes') =>
  listen(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        if (then === 'goes') socket.end(bytes);
        else socket.write(bytes, () => then === 'resets' && socket.resetAndDestroy());
      });
    }),
  );

type ProxyOptions = Parameters<typeof createBackendProxy>[0];

/** A front server that only forwards. */
export async function openProxy(options: Omit<ProxyOptions, 'trustProxy' | 'log'>): Promise<string> {
  const proxy = createBackendProxy({ trustProxy: false, log: silent, ...options });
  return listen(
    createHttpServer(
      (request, response) => {
        if (!proxy.web(request, response, 'request-0001')) response.writeHead(404).end('nobody');
      },
      { isSocket: proxy.isSocket, onSocket: proxy.socket },
    ),
  );
}

export const nowhere = () => 'http://127.0.0.1:9';
