import type { Request } from 'autocannon';
import { amount, fire, verdict, warm, warming } from './serverLoad.ts';
import { cpuOf, type Front, memoryAfterCollecting, type Served } from './serverPeers.ts';
import { median, table } from './statistics.ts';

/** in windows */
const requests = Number(process.env.BENCH_REQUESTS ?? 200_000);
const windows = 10;
/** How far the later half may lie over the earlier one and still count as flat. */
const flat = { latency: 1.25, memory: 1.1, cpu: 1.1 };

/** What is asked for in turn. */
export interface Visit {
  /** by the front server itself */
  answered: Request[];
  /** to the backend */
  passedOn: Request[];
}

interface Servers {
  front: Front;
  /** Node alone, for what is answered */
  bare: Served;
  /** asked past the front server, for what is passed on */
  backend: Pick<Served, 'origin'>;
}

interface Tenth {
  p50: number;
  p99: number;
  /** of Node alone */
  bareP99: number;
  /** of what is passed on */
  passedP99: number;
  /** of the backend alone */
  backendP99: number;
  /** in MB, after garbage has been collected */
  memory: Awaited<ReturnType<typeof memoryAfterCollecting>>;
  /** of a request, in microseconds */
  cpu: number;
  bareCpu: number;
}

/**
 * Many requests at a fixed rate: what the last ones meet beside the first ones. Calls go beside the rest on connections of their own:
 * among it three of a hundred would make its p99 that of the backend. After each tenth Node alone answers half as many, and the
 * backend as many calls: they tell whether the machine got slower. A tenth more goes ahead, since requests cost more from the first
 * collection on that is asked for.
 */
export async function runLong({ front, bare, backend }: Servers, { answered, passedOn }: Visit) {
  await warm([front, bare], answered);
  await warm([front], passedOn, warming / 10);
  const trial = await fire(front, { requests: answered, amount });
  const rate = Number(process.env.BENCH_RATE ?? Math.max(50, Math.round(amount / trial.duration / 2)));
  const each = Math.round(requests / windows);
  const share = passedOn.length / answered.length;
  const own = { requests: answered, amount: each, rate };
  const calls = {
    requests: passedOn,
    amount: Math.round(each * share),
    rate: Math.max(1, Math.round(rate * share)),
    connections: passedOn.length,
  };
  const ask = () => Promise.all([fire(front, own), fire(front, calls)]);
  const found: Tenth[] = [];
  await ask();
  await memoryAfterCollecting(front);
  for (let window = 0; window < windows; window += 1) {
    const before = cpuOf(front);
    const [{ latency }, passed] = await ask();
    const cpu = (cpuOf(front) - before) / (own.amount + calls.amount);
    const memory = await memoryAfterCollecting(front);
    const half = { ...own, amount: Math.ceil(each / 2) };
    const bareBefore = cpuOf(bare);
    const alone = await fire(bare, half);
    const bareCpu = (cpuOf(bare) - bareBefore) / half.amount;
    const direct = await fire(backend, calls);
    const { p50, p99 } = latency;
    const others = { bareP99: alone.latency.p99, passedP99: passed.latency.p99, backendP99: direct.latency.p99 };
    found.push({ p50, p99, ...others, memory, cpu, bareCpu });
    console.log(`tenth ${window + 1} of ${windows}`);
  }
  const row = (what: string, read: (window: Tenth) => number, most: number | null, unit: string, digits = 0) => {
    const all = found.map(read);
    const [first = 0, last = 0] = [all[0], all.at(-1)];
    const [before, after] = [all.slice(0, windows / 2), all.slice(windows / 2)].map(median) as [number, number];
    const drift = `${last < first ? '−' : '+'}${(Math.abs(last / first - 1) * 100).toFixed(0)} %`;
    const shown = (figure: number) => `${figure.toFixed(digits)} ${unit}`.trimEnd();
    const figures = [shown(first), shown(last), drift, (after / before).toFixed(2)];
    const judged = most === null ? ['–', ''] : [`≤ ${most}`, verdict(after / before <= most)];
    return [what, ...figures, ...judged, all.map((one) => one.toFixed(digits)).join(' ')];
  };
  console.log(
    `\n${requests} requests at ${rate} a second, pages and files of a visit in turn, and ${calls.rate} calls a second beside them; ten windows:\n`,
  );
  console.log(
    table(
      ['', 'first tenth', 'last tenth', 'drift', 'second half : first half, medians', 'goal', '', 'each tenth'],
      [
        row('p99 of pages and files', ({ p99 }) => p99, flat.latency, 'ms'),
        row('the same of Node alone', ({ bareP99 }) => bareP99, null, 'ms'),
        row('p99 of calls, passed on', ({ passedP99 }) => passedP99, flat.latency, 'ms'),
        row('the same of the backend alone', ({ backendP99 }) => backendP99, null, 'ms'),
        row('p50 of pages and files', ({ p50 }) => p50, flat.latency, 'ms'),
        row('CPU time of a request', ({ cpu }) => cpu, null, 'µs'),
        row('the same of Node alone', ({ bareCpu }) => bareCpu, null, 'µs'),
        row('the one : the other', ({ cpu, bareCpu }) => cpu / bareCpu, flat.cpu, '', 2),
        row('resident after a collection', ({ memory }) => memory.resident, flat.memory, 'MB'),
        row('objects after a collection', ({ memory }) => memory.heapUsed, flat.memory, 'MB'),
        row('buffers after a collection', ({ memory }) => memory.external, flat.memory, 'MB'),
      ],
    ),
  );
}
