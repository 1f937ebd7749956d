import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Speed {
  /** added to each request */
  latencyMs: number;
  /** shared by all connections */
  downBytesPerSecond: number;
}

const unlimited: Speed = { latencyMs: 0, downBytesPerSecond: Number.POSITIVE_INFINITY };

/** Runs actions in order, each after at least its delay in ms. */
function createQueue() {
  const pendingActions: (() => void)[] = [];
  return (afterMs: number, action: () => void) => {
    pendingActions.push(action);
    // timers with equal delays may fire in any order, so each runs the oldest action
    setTimeout(() => pendingActions.shift()?.(), afterMs);
  };
}

/**
 * Starts a proxy to `target` with adjustable speed. It also slows sockets and the service worker, which the throttling of
 * devtools leaves out.
 */
export async function startSlowLink(target: string) {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let speed = unlimited;
  let freeAt = 0;
  /** ms until this many more bytes have passed */
  const transferMs = (bytes: number) => {
    const now = performance.now();
    freeAt = Math.max(now, freeAt) + (bytes / speed.downBytesPerSecond) * 1000;
    return freeAt - now;
  };
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const [up, down] = [createQueue(), createQueue()];
    near.on('data', (bytes) => up(speed.latencyMs, () => far.write(bytes)));
    far.on('data', (answer) => down(transferMs(answer.length), () => near.write(answer)));
    near.on('close', () => far.destroy());
    // after the data still in transit
    far.on('close', () => down(transferMs(0), () => near.end()));
    for (const socket of [near, far]) {
      sockets.add(socket);
      // `close` follows and is handled below
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    /** Sets the speed; data in transit is not affected. */
    slowDown: (to: Speed) => {
      speed = to;
    },
    mend: () => {
      speed = unlimited;
    },
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export type SlowLink = Awaited<ReturnType<typeof startSlowLink>>;
