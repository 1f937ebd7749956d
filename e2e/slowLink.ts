import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Speed {
  /** added to what is asked */
  latencyMs: number;
  /** shared by all connections */
  downBytesPerSecond: number;
}

const unhindered: Speed = { latencyMs: 0, downBytesPerSecond: Number.POSITIVE_INFINITY };

/** Does things one after another, each no sooner than so many ms from now. */
function inTurn() {
  const due: (() => void)[] = [];
  return (afterMs: number, act: () => void) => {
    due.push(act);
    // of two timers for the same moment either may be first
    setTimeout(() => due.shift()?.(), afterMs);
  };
}

/**
 * A way to `target` that can be slowed down, for what a page asks, its sockets and its service worker alike: devtools slow down only
 * the first of these.
 */
export async function startSlowLink(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let speed = unhindered;
  let freeAt = 0;
  /** ms until so many bytes more have come through */
  const passes = (bytes: number) => {
    const now = performance.now();
    freeAt = Math.max(now, freeAt) + (bytes / speed.downBytesPerSecond) * 1000;
    return freeAt - now;
  };
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const [up, down] = [inTurn(), inTurn()];
    near.on('data', (asked) => up(speed.latencyMs, () => far.write(asked)));
    far.on('data', (answer) => down(passes(answer.length), () => near.write(answer)));
    near.on('close', () => far.destroy());
    // after what is still on its way
    far.on('close', () => down(passes(0), () => near.end()));
    for (const socket of [near, far]) {
      sockets.add(socket);
      // it closes, which is reported above
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    /** What is on its way keeps the speed that it set out with. */
    slowDown: (to: Speed) => {
      speed = to;
    },
    mend: () => {
      speed = unhindered;
    },
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export type SlowLink = Awaited<ReturnType<typeof startSlowLink>>;
