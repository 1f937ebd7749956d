import autocannon, { type Request } from 'autocannon';
import { cpuOf, type Served } from './serverPeers.ts';

// Requests to servers, and what they cost there.

export const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
/** of one side in one round, and as many before to warm it up */
export const amount = Number(process.env.BENCH_AMOUNT ?? 3_000);
/** of each server before all that, of each part, until its code is compiled: what a request costs is flat after 20,000 */
export const warming = Number(process.env.BENCH_WARMING ?? 30_000);

export const pagePaths = ['/explore', '/story/nie-xiaoqian'];
export const callPath = '/api/v1/stories';
export const browser = { 'accept-encoding': 'gzip, br', cookie: `lz_visitor=${'5e'.repeat(16)}` };

export const requestsFor = (paths: readonly string[], headers: Record<string, string>): Request[] =>
  paths.map((path) => ({ method: 'GET', path, headers }));

export interface Load {
  requests: Request[];
  amount: number;
  /** a second, whether answers come or not; left out: as fast as they come */
  rate?: number;
  connections?: number;
}

export async function fire({ origin }: Pick<Served, 'origin'>, load: Load) {
  const { requests: asked, amount: count, rate: overallRate, connections = 16 } = load;
  const result = await autocannon({ url: origin, connections, amount: count, requests: asked, overallRate });
  const failed = result.errors + result.non2xx;
  if (failed > 0) throw new Error(`${failed} of ${count} requests to ${origin}${asked[0]?.path} failed`);
  return result;
}

export async function warm(all: readonly Served[], requests: Request[], amount = warming) {
  for (const served of all) await fire(served, { requests, amount: Math.ceil(amount) });
}

/** CPU time of one request, in microseconds. */
export async function cost(served: Served, load: Load): Promise<number> {
  const before = cpuOf(served);
  await fire(served, load);
  return (cpuOf(served) - before) / load.amount;
}
