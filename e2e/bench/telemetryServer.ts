import { mkdirSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openReleases, publishLocal } from '@liaozhai/releases';
import { readEnv } from '../../host/server/env.ts';
import { createProduct } from '../../host/server/product.ts';
import { createLog, frontCounters } from '../../host/server/telemetry.ts';
import { testPackages } from '../../host/server/testing/testPackages.ts';
import { openMetrics } from '../../shared/telemetry/src/metrics.ts';
import { openTracing } from '../../shared/telemetry/src/tracing.ts';

// A front server of `pnpm bench telemetry`, with what its environment says; without a folder the collector and backend of all.
const listen = (server: Server) =>
  new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });

const [folder] = process.argv.slice(2);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
process.once('disconnect', () => process.exit());

/** Takes traces, and answers calls as a backend does. */
const other = () =>
  createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    response.end(request.method === 'GET' ? '{"data":[],"url":"x"}' : '{}');
  });

async function front(at: string): Promise<string> {
  mkdirSync(at, { recursive: true });
  const store = `file:${join(at, 'store')}`;
  await publishLocal({ dists: testPackages(at), store });
  const env = readEnv({ ...process.env, DATA_DIR: at });
  const backend = await listen(other());
  const metrics = await openMetrics(env);
  const server = createProduct({
    releases: await openReleases({ store }),
    env,
    backendUrl: () => backend,
    log: createLog('info', { write() {} }),
    counters: metrics && frontCounters(metrics),
    tracing: await openTracing('liaozhai-front', console.error),
    config: {},
  });
  return listen(server);
}

process.send?.(folder ? await front(folder) : await listen(other()));
