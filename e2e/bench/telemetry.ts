import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMetrics } from '../../shared/telemetry/src/metrics.ts';
import { openTracing } from '../../shared/telemetry/src/tracing.ts';
import { median, table } from './statistics.ts';

const modes = ['off', 'metrics', 'traces of all', 'traces of 5 %'] as const;
type Mode = (typeof modes)[number];

const requests = Number(process.env.BENCH_REQUESTS ?? 1_500);
const rounds = Number(process.env.BENCH_ROUNDS ?? 7);
const connections = 8;

const variables: Record<Mode, Record<string, string>> = {
  off: {},
  metrics: { METRICS_PORT: '0' },
  'traces of all': { OTEL_TRACES_SAMPLER: 'always_on' },
  'traces of 5 %': { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.05' },
};

interface Served {
  mode: Mode;
  child: ChildProcess;
  origin: string;
}

async function serve(mode: Mode, folder: string, collector: string): Promise<Served> {
  const traced = mode.startsWith('traces') ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector } : {};
  const child = fork(join(import.meta.dirname, 'telemetryServer.ts'), [folder], {
    env: { ...process.env, ...variables[mode], ...traced },
    execArgv: ['--import', 'tsx'],
  });
  const [origin] = (await once(child, 'message')) as [string];
  return { mode, child, origin };
}

/** CPU time of the server so far, in microseconds. */
async function cpuOf({ child }: Served): Promise<number> {
  child.send('cpu');
  const [used] = (await once(child, 'message')) as [number];
  return used;
}

const ask = (url: string, agent: Agent) =>
  new Promise<void>((resolve, reject) => {
    get(url, { agent, headers: { 'accept-encoding': 'br' } }, (answer) => answer.resume().once('end', resolve)).once(
      'error',
      reject,
    );
  });

/** CPU time of one request, in microseconds. */
async function cost(served: Served, path: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const before = await cpuOf(served);
  const each = requests / connections;
  const visitor = async () => {
    for (let index = 0; index < each; index += 1) await ask(served.origin + path, agent);
  };
  await Promise.all(Array.from({ length: connections }, visitor));
  const after = await cpuOf(served);
  agent.destroy();
  return (after - before) / (Math.ceil(each) * connections);
}

/** CPU time of one call, in microseconds. */
function alone(work: () => void, calls: number): string {
  for (let index = 0; index < calls / 4; index += 1) work();
  const before = process.cpuUsage();
  for (let index = 0; index < calls; index += 1) work();
  const { user, system } = process.cpuUsage(before);
  return `${((user + system) / calls).toFixed(2)} µs`;
}

/** What is added to a request, without a server around it, whose own figures waver more than that. */
async function measureAlone(collector: string) {
  const metrics = await openMetrics({ METRICS_PORT: 0, METRICS_HOST: '127.0.0.1' });
  const facts = { service: 'front', method: 'GET', route: '/explore', status: 200, seconds: 0.003 } as const;
  const rows = [['a request counted', alone(() => metrics?.countRequest(facts), 300_000)]];
  for (const sampler of ['always_on', 'always_off']) {
    Object.assign(process.env, { OTEL_EXPORTER_OTLP_ENDPOINT: collector, OTEL_TRACES_SAMPLER: sampler });
    const tracing = await openTracing('liaozhai-front', console.error);
    const span = () => {
      const request = tracing?.beginRequest({ method: 'GET', requestId: 'bench-0123' });
      request?.run(() => undefined);
      request?.end({ route: '/explore', status: 200 });
    };
    rows.push([`a request as a span, ${sampler}, without the sending`, alone(span, 60_000)]);
    await tracing?.close();
  }
  await metrics?.close();
  console.log(`\n${table(['alone', 'CPU time'], rows)}`);
}

/** What metrics and traces cost the front server, by CPU time: servers with and without are asked in turn. */
export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-telemetry-'));
  const collector = fork(join(import.meta.dirname, 'telemetryServer.ts'), [], { execArgv: ['--import', 'tsx'] });
  const [address] = (await once(collector, 'message')) as [string];
  const load = [loadavg()[0]];
  const all: Served[] = [];
  try {
    for (const mode of modes) all.push(await serve(mode, join(folder, mode), address));
    for (const path of ['/explore', '/favicon.svg', '/api/v1/stories']) {
      const figures = new Map<Mode, number[]>(modes.map((mode) => [mode, []]));
      for (const served of all) await cost(served, path);
      for (let round = 0; round < rounds; round += 1)
        for (const served of all) figures.get(served.mode)?.push(await cost(served, path));
      const off = figures.get('off') ?? [];
      const rows = modes.map((mode) => {
        const own = figures.get(mode) ?? [];
        const more = median(own.map((value, index) => value - (off[index] ?? Number.NaN)));
        return [mode, `${median(own).toFixed(0)} µs`, mode === 'off' ? '' : `${more.toFixed(1)} µs`];
      });
      console.log(`\n${path}, CPU time of the front server a request, ${rounds} rounds of ${requests}:\n`);
      console.log(table(['', 'median', 'more than off, median of pairs'], rows));
    }
    await measureAlone(address);
    load.push(loadavg()[0]);
    console.log(`\nload ${load.map((value) => value?.toFixed(1)).join(' → ')}`);
  } finally {
    for (const { child } of all) child.kill();
    collector.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}
