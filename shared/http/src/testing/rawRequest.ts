import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens a TCP connection and collects the received bytes. */
export function openRaw(origin: string): { socket: Socket; received: () => string; ended: Promise<unknown> } {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  // a reset shows as a missing response
  socket.on('error', () => {});
  return { socket, received: () => text, ended: once(socket, 'close').catch(() => {}) };
}

/** Sends lines unchanged. Resolves to all received text when the other end closes. */
export async function rawRequest(origin: string, ...lines: string[]): Promise<string> {
  const { socket, received, ended } = openRaw(origin);
  socket.once('end', () => socket.end());
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  await ended;
  return received();
}

/** Status of the first response in a text; 0 without one. */
export const statusOf = (text: string): number => Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0);
