import autocannon, { type Request } from 'autocannon';
import { cpuOf, type RunningServer } from './serverPeers.ts';

// Sends requests to servers and measures their cost there.

export const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
/** per server and round; a warm-up sends as many before */
export const amount = Number(process.env.BENCH_AMOUNT ?? 3_000);
/** per server and part, before everything else, until its code is compiled: the cost is constant after 20,000 */
export const warmUpAmount = Number(process.env.BENCH_WARMING ?? 30_000);

export const pagePaths = ['/explore', '/story/nie-xiaoqian'];
export const callPath = '/api/v1/stories';
export const browser = { 'accept-encoding': 'gzip, br', cookie: `lz_visitor=${'5e'.repeat(16)}` };

export const requestsFor = (paths: readonly string[], headers: Record<string, string>): Request[] =>
  paths.map((path) => ({ method: 'GET', path, headers }));

export interface Load {
  requests: Request[];
  amount: number;
  /** per second, independent of responses; default: as fast as they arrive */
  rate?: number;
  connections?: number;
}

export async function fire({ origin }: Pick<RunningServer, 'origin'>, load: Load) {
  const { requests, amount: count, rate: overallRate, connections = 16 } = load;
  const result = await autocannon({ url: origin, connections, amount: count, requests, overallRate });
  const failureCount = result.errors + result.non2xx;
  if (failureCount > 0) throw new Error(`${failureCount} of ${count} requests to ${origin}${requests[0]?.path} failed`);
  return result;
}

export async function warm(all: readonly RunningServer[], requests: Request[], amount = warmUpAmount) {
  for (const served of all) await fire(served, { requests, amount: Math.ceil(amount) });
}

/** CPU time of one request, in microseconds. */
export async function cost(served: RunningServer, load: Load): Promise<number> {
  const before = cpuOf(served);
  await fire(served, load);
  return (cpuOf(served) - before) / load.amount;
}
