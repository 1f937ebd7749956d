import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Opens a connection of bytes, and collects what comes back. */
export function openRaw(origin: string): { socket: Socket; received: () => string; ended: Promise<unknown> } {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  // a reset shows as an answer that is missing
  socket.on('error', () => {});
  return { socket, received: () => text, ended: once(socket, 'close').catch(() => {}) };
}

/** Sends lines as they are. Resolves with all that comes until the other end closes. */
export async function rawRequest(origin: string, ...lines: string[]): Promise<string> {
  const { socket, received, ended } = openRaw(origin);
  socket.once('end', () => socket.end());
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  await ended;
  return received();
}

/** The status of the first answer in a text; 0 without an answer. */
export const statusOf = (text: string): number => Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0);
