import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** What carries events to the pages: sockets of this server's own, or a Reverb. */
export interface Broadcaster {
  /** Key and signature, as a page shows them to join a channel. */
  sign(text: string): string;
  /** Sends an event to everyone on a channel, after those of earlier calls. Never throws, never makes its caller wait. */
  publish(channel: string, event: string, data: object): void;
  /** Remembers which session vouched for a socket. */
  bindSession(socketId: string, sessionHash: string): void;
  /** Closes the sockets that an ended session vouched for, where that is in its power. */
  closeSession(sessionHash: string): void;
  /** Takes over an HTTP upgrade, or refuses it. */
  upgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void;
  /** Closes everything within half a second. */
  close(): Promise<void>;
}

export function refuseUpgrade(stream: Duplex): void {
  stream.on('error', () => stream.destroy());
  stream.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n');
}
