import { type Call, factsOf, isRequired } from './calls.ts';
import { type Check, Deviation, shown, Untried } from './check.ts';
import { accessChecks } from './checks/access.ts';
import { accountChecks, lastChecks } from './checks/account.ts';
import { chatChecks } from './checks/chat.ts';
import { fuzzChecks } from './checks/fuzz.ts';
import { pointChecks } from './checks/points.ts';
import { socketChecks } from './checks/sockets.ts';
import { storyChecks } from './checks/stories.ts';
import { SocketProblem } from './socket.ts';
import { createTransport, NoAnswer } from './transport.ts';
import { Visitor } from './visitor.ts';
import { type Target, World } from './world.ts';

/** In the order in which they run: what uses up limits or disturbs comes last. */
export const checks: Check[] = [
  ...accountChecks,
  ...storyChecks,
  ...chatChecks,
  ...pointChecks,
  ...socketChecks,
  ...accessChecks,
  ...fuzzChecks,
  ...lastChecks,
];

/** `lacks`: an optional call that is not there. */
export type Outcome = 'holds' | 'differs' | 'fails' | 'lacks' | 'untried';

export interface Result {
  call: Call;
  name: string;
  /** the product cannot do without it */
  isNeeded: boolean;
  outcome: Outcome;
  /** what came instead, or why it was not tried */
  came?: string;
  /** what the product does about it */
  product?: string;
}

export interface Report {
  target: Target;
  results: Result[];
  requests: number;
  seconds: number;
  waitedSeconds: number;
  leftBehind: { accounts: string[]; conversations: number };
}

/** The address is not one of a backend, or nobody is there. */
export class NoBackend extends Error {}

const MISSING = [404, 405, 501];

/** Finds one thing out. An optional call's first check asks so that a server that has the call cannot answer 404. */
export async function attempt(check: Check, world: World, isFirst: boolean): Promise<Result> {
  const { call, name, otherwise } = check;
  const isNeeded = otherwise === undefined;
  try {
    await check.run(world);
    return { call, name, isNeeded, outcome: 'holds' };
  } catch (cause) {
    if (cause instanceof Untried) return { call, name, isNeeded, outcome: 'untried', came: cause.message };
    const isOurs = cause instanceof Deviation || cause instanceof NoAnswer || cause instanceof SocketProblem;
    if (!isOurs) throw cause;
    const status = cause instanceof Deviation ? cause.status : undefined;
    if (isFirst && !isRequired(call) && status !== undefined && MISSING.includes(status)) {
      return { call, name, isNeeded, outcome: 'lacks', came: cause.message, product: factsOf(call).without };
    }
    return { call, name, isNeeded, outcome: isNeeded ? 'fails' : 'differs', came: cause.message, product: otherwise };
  }
}

interface RunOptions {
  onWait?: (seconds: number) => void;
  /** breaks the run off; what it made is deleted all the same */
  signal?: AbortSignal;
}

/** Holds a backend against the contract. Throws `NoBackend` where there is none. */
export async function conform(target: Target, { onWait, signal }: RunOptions = {}): Promise<Report> {
  await expectBackend(target.url);
  const startedAt = Date.now();
  const transport = createTransport({ onWait, signal });
  const world = new World(target, transport);
  const results: Result[] = [];
  let leftBehind: Report['leftBehind'];
  try {
    for await (const result of attemptAll(world)) {
      if (signal?.aborted) break;
      results.push(result);
    }
  } finally {
    leftBehind = await world.cleanUp();
  }
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  return {
    target,
    results,
    requests: transport.requests(),
    seconds,
    waitedSeconds: transport.waitedSeconds(),
    leftBehind,
  };
}

/** Each check in its turn; a call that is not there is named once. */
async function* attemptAll(world: World): AsyncGenerator<Result> {
  const begun = new Set<Call>();
  const lacking = new Set<string>();
  for (const check of checks) {
    const { call, name } = check;
    const { follows, without } = factsOf(call);
    if (lacking.has(call)) continue;
    const result: Result =
      follows !== undefined && lacking.has(follows)
        ? { call, name, isNeeded: false, outcome: 'lacks', came: `there is no ${follows}`, product: without }
        : await attempt(check, world, !begun.has(call));
    if (result.outcome !== 'untried') begun.add(call);
    if (result.outcome === 'lacks') lacking.add(call);
    yield result;
  }
}

/** One look at the feed, before anything is written. */
export async function expectBackend(url: string): Promise<void> {
  const { direct } = createTransport();
  const address = `${url}/api/v1/stories`;
  const answer = await new Visitor(url, {}, direct).get('/stories').catch((cause: unknown) => {
    if (cause instanceof NoAnswer) throw new NoBackend(`${url} cannot be reached: ${cause.message}`);
    throw cause;
  });
  if (answer.body === null) throw new NoBackend(`${address} is no API: it answers ${shown(answer)}`);
}
