import type { Request } from 'autocannon';
import { median, printRows, type Row, row } from './report.ts';
import { amount, fire, warm, warmUpAmount } from './serverLoad.ts';
import { type Front, memoryAfterCollecting, type RunningServer } from './serverPeers.ts';

/** split into windows */
const requests = Number(process.env.BENCH_REQUESTS ?? 200_000);
const WINDOWS = 10;
/** Largest ratio of the later half to the earlier one that counts as constant. */
const flat = { latency: 1.25, memory: 1.1 };

/** Requests, sent in turn. */
export interface Visit {
  /** answered by the front server itself */
  answered: Request[];
  passedOn: Request[];
}

interface Servers {
  front: Front;
  /** plain Node, as the baseline of `answered` */
  bare: RunningServer;
  /** without the front server, as the baseline of `passedOn` */
  backend: Pick<RunningServer, 'origin'>;
}

interface Tenth {
  p99: number;
  /** of plain Node */
  bareP99: number;
  /** of the requests passed on */
  passedP99: number;
  /** of the backend without the front server */
  backendP99: number;
  /** in MB, after garbage collection */
  memory: number;
}

/**
 * Sends many requests at a fixed rate, and compares the last with the first. Calls use separate connections: mixed in, 3 % of
 * calls would determine the p99. After each window, plain Node and the backend are measured as baselines, to detect a slower
 * machine. One more window runs before, because requests cost more after the first forced collection.
 */
export async function runLong({ front, bare, backend }: Servers, { answered, passedOn }: Visit) {
  await warm([front, bare], answered);
  await warm([front], passedOn, warmUpAmount / 10);
  const trial = await fire(front, { requests: answered, amount });
  const rate = Number(process.env.BENCH_RATE ?? Math.max(50, Math.round(amount / trial.duration / 2)));
  const requestsPerWindow = Math.round(requests / WINDOWS);
  const share = passedOn.length / answered.length;
  const pageLoad = { requests: answered, amount: requestsPerWindow, rate };
  const callLoad = {
    requests: passedOn,
    amount: Math.round(requestsPerWindow * share),
    rate: Math.max(1, Math.round(rate * share)),
    connections: passedOn.length,
  };
  const sendAll = () => Promise.all([fire(front, pageLoad), fire(front, callLoad)]);
  const windows: Tenth[] = [];
  await sendAll();
  await memoryAfterCollecting(front);
  for (let window = 0; window < WINDOWS; window += 1) {
    const [{ latency }, callResult] = await sendAll();
    const memory = await memoryAfterCollecting(front);
    const bareResult = await fire(bare, { ...pageLoad, amount: Math.ceil(requestsPerWindow / 2) });
    const backendResult = await fire(backend, callLoad);
    windows.push({
      p99: latency.p99,
      bareP99: bareResult.latency.p99,
      passedP99: callResult.latency.p99,
      backendP99: backendResult.latency.p99,
      memory,
    });
    console.log(`tenth ${window + 1} of ${WINDOWS}`);
  }
  const judge = (what: string, read: (window: Tenth) => number, most: number | null, unit: string): Row => {
    const values = windows.map(read);
    const [before, after] = [values.slice(0, WINDOWS / 2), values.slice(WINDOWS / 2)].map(median) as [number, number];
    const figure = `${(after / before).toFixed(2)} (each: ${values.map((one) => one.toFixed(0)).join(' ')} ${unit})`;
    return row(what, figure, most === null ? '–' : `≤ ${most}`, most === null || after / before <= most);
  };
  console.log(
    `\n${requests} requests at ${rate} a second, pages and files in turn, with ${callLoad.rate} calls a second; second half : first half, medians of tenths:\n`,
  );
  printRows(
    [
      judge('p99 of pages and files', ({ p99 }) => p99, flat.latency, 'ms'),
      judge('the same of Node alone', ({ bareP99 }) => bareP99, null, 'ms'),
      judge('p99 of calls, passed on', ({ passedP99 }) => passedP99, flat.latency, 'ms'),
      judge('the same of the backend alone', ({ backendP99 }) => backendP99, null, 'ms'),
      judge('resident after a collection', ({ memory }) => memory, flat.memory, 'MB'),
    ],
    '–',
  );
}
