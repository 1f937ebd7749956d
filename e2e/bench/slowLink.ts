import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import type { Profile } from './measurePage.ts';

/**
 * A way to `target` that can be slowed down to a profile's latency, added to what is asked, and its throughput, which all connections
 * share. Devtools slow down what a page asks for; what its service worker does is not of that page.
 */
export async function startSlowLink(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let profile: Pick<Profile, 'latencyMs' | 'downBytesPerSecond'> = { latencyMs: 0, downBytesPerSecond: Infinity };
  let freeAt = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.on('data', (asked) => void setTimeout(() => far.write(asked), profile.latencyMs));
    far.on('data', (answer) => {
      const now = performance.now();
      freeAt = Math.max(now, freeAt) + (answer.length / profile.downBytesPerSecond) * 1000;
      setTimeout(() => near.write(answer), freeAt - now);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    slowDown: (to: Profile) => {
      profile = to;
    },
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
