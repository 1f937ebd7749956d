import { setTimeout as pause } from 'node:timers/promises';
import { type Call, callNames, calls, followedBy, isRequired } from './calls.ts';
import { type Check, Deviation, NoAnswer, shown, Untried } from './check.ts';
import { accessChecks } from './checks/access.ts';
import { accountChecks } from './checks/account.ts';
import { answerChecks } from './checks/answers.ts';
import { chatChecks } from './checks/chat.ts';
import { fuzzChecks } from './checks/fuzz.ts';
import { pointChecks } from './checks/points.ts';
import { lastChecks, signInChecks } from './checks/signIn.ts';
import { socketChecks } from './checks/sockets.ts';
import { storyChecks } from './checks/stories.ts';
import { SocketProblem } from './socket.ts';
import { createTransport, type TransportOptions, Visitor } from './visitor.ts';
import { type Target, World } from './world.ts';

/** Checks in running order. Those that use up limits or disturb others are last. */
export const checks: Check[] = [
  ...signInChecks,
  ...accountChecks,
  ...storyChecks,
  ...chatChecks,
  ...pointChecks,
  ...socketChecks,
  ...accessChecks,
  ...fuzzChecks,
  ...lastChecks,
  ...answerChecks,
];

/** `lacks`: an optional call is missing. */
export type Outcome = 'holds' | 'differs' | 'fails' | 'lacks' | 'untried';

export interface Result {
  call: Call;
  name: string;
  /** whether the product needs it */
  isNeeded: boolean;
  outcome: Outcome;
  /** the actual result, or why it was not tried */
  came?: string;
  /** what the product does instead */
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

/** Thrown if nothing responds at the address, or no backend. */
export class NoBackend extends Error {}

const MISSING = [404, 405, 501];
/** Maximum time for cleaning up after an aborted run. */
const CLEAN_UP_MS = 3_000;

/** Runs a check. The first check of an optional call cannot get 404 from a server that has the call. */
export async function attempt(check: Check, world: World, isFirst: boolean): Promise<Result> {
  const { call, name, otherwise } = check;
  const tried = { call, name, isNeeded: otherwise === undefined };
  try {
    await check.run(world);
    return { ...tried, outcome: 'holds' };
  } catch (cause) {
    if (cause instanceof Untried) return { ...tried, outcome: 'untried', came: cause.message };
    const isKnownProblem = cause instanceof Deviation || cause instanceof NoAnswer || cause instanceof SocketProblem;
    const came = isKnownProblem ? cause.message : `what it sent cannot be read: ${String(cause)}`;
    const status = cause instanceof Deviation ? cause.status : undefined;
    if (isFirst && !isRequired(call) && status !== undefined && MISSING.includes(status))
      return { ...tried, outcome: 'lacks', came, product: calls[call] };
    return { ...tried, outcome: tried.isNeeded ? 'fails' : 'differs', came, product: otherwise };
  }
}

/**
 * Checks a backend against the contract. Throws `NoBackend` if none responds. A run that `signal` aborts is cleaned up.
 * @param options.only the calls to check; all by default
 */
export async function conform(target: Target, options: TransportOptions & { only?: Call[] } = {}): Promise<Report> {
  const aborted = whenAborted(options.signal);
  await Promise.race([expectBackend(target.url), aborted]);
  const startedAt = Date.now();
  const transport = createTransport(options);
  const world = new World(target, transport);
  const results: Result[] = [];
  try {
    for await (const result of attemptAll(world, aborted, options.only)) results.push(result);
  } finally {
    await Promise.race([world.cleanUp(), aborted.then(() => pause(CLEAN_UP_MS, undefined, { ref: false }))]);
  }
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  return {
    target,
    results,
    requests: transport.requests(),
    seconds,
    waitedSeconds: transport.waitedSeconds(),
    leftBehind: world.leftBehind,
  };
}

const whenAborted = (signal?: AbortSignal) =>
  new Promise<null>((resolve) => {
    if (signal?.aborted) resolve(null);
    signal?.addEventListener('abort', () => resolve(null), { once: true });
  });

/** Runs the checks until the run is aborted. A missing call is reported once. */
async function* attemptAll(world: World, aborted: Promise<null>, only?: Call[]): AsyncGenerator<Result> {
  const startedCalls = new Set<Call>();
  const missingCalls = new Set<string>();
  for (const check of checks) {
    const { call, name } = check;
    const follows = followedBy(call);
    const without = calls[call];
    if (missingCalls.has(call) || (only && !only.includes(call))) continue;
    const result =
      follows !== undefined && missingCalls.has(follows)
        ? ({ call, name, isNeeded: false, outcome: 'lacks', came: `there is no ${follows}`, product: without } as const)
        : await Promise.race([aborted, attempt(check, world, !startedCalls.has(call))]);
    if (result === null) return;
    if (result.outcome !== 'untried') startedCalls.add(call);
    if (result.outcome === 'lacks') missingCalls.add(call);
    yield result;
  }
}

/** Requests the feed once, before anything is written. Throws `NoBackend`. */
async function expectBackend(url: string): Promise<void> {
  const { direct } = createTransport();
  const address = `${url}/api/v1/stories`;
  const answer = await new Visitor(url, {}, direct).get('/stories').catch((cause: unknown) => {
    if (cause instanceof NoAnswer) throw new NoBackend(`${url} cannot be reached: ${cause.message}`);
    throw cause;
  });
  if (answer.body === null) throw new NoBackend(`${address} is no API: it answers ${shown(answer)}`);
}

const MAX_LISTED = 3;

const outcomeSigns: Record<Outcome, string> = { holds: '✓', lacks: '–', differs: '≠', fails: '✗', untried: '?' };
const outcomesByWeight: Outcome[] = ['fails', 'lacks', 'differs', 'untried', 'holds'];

export interface Row {
  call: Call;
  outcome: Outcome;
  checks: Result[];
}

/** Groups the results by call. A call has the worst outcome of its checks. */
const rowsOf = ({ results }: Report): Row[] =>
  callNames.map((call) => {
    const ofCall = results.filter((result) => result.call === call);
    const outcome = outcomesByWeight.find((each) => ofCall.some((result) => result.outcome === each)) ?? 'untried';
    return { call, outcome, checks: ofCall };
  });

const isFailure = ({ outcome, isNeeded }: Result) => outcome === 'fails' || (outcome === 'untried' && isNeeded);

/** Whether a check that the product needs failed or could not be run. */
export const hasFailed = ({ results }: Report): boolean => results.some(isFailure);

const outcomeTexts: Record<Outcome, string> = {
  holds: 'answers',
  lacks: 'lacks it (optional)',
  differs: 'answers, and does otherwise',
  fails: 'fails',
  untried: 'could not be tried, or not all of it',
};

/** Formats one line per call, and below it the failed checks. */
export function formatTable(report: Report): string {
  const rows = rowsOf(report);
  const width = Math.max(...rows.map(({ call }) => call.length));
  return rows
    .map(({ call, outcome, checks }) => {
      const passedCount = checks.filter((check) => check.outcome === 'holds').length;
      const share = outcome === 'lacks' ? '' : ` (${passedCount} of ${checks.length} hold)`;
      const head = `${outcomeSigns[outcome]} ${call.padEnd(width)}  ${outcomeTexts[outcome]}${share}`;
      return [head, ...checks.flatMap(formatFailure), ...formatUntried(checks)].join('\n');
    })
    .join('\n');
}

function formatFailure({ name, outcome, came, product }: Result): string[] {
  if (outcome === 'holds' || outcome === 'untried') return [];
  const consequence = product ? `the product: ${product}` : 'the product needs it';
  return [`    ${outcomeSigns[outcome]} ${name}`, `      came: ${came}`, `      ${consequence}`];
}

/** Lists the checks that were not run, or only their number if many have the same reason. */
function formatUntried(checks: Result[]): string[] {
  const untriedChecks = checks.filter(({ outcome }) => outcome === 'untried');
  const reasons = [...new Set(untriedChecks.map(({ came }) => came))];
  return reasons.flatMap((reason) => {
    const names = untriedChecks.filter(({ came }) => came === reason).map(({ name }) => name);
    const listedNames = names.length > MAX_LISTED ? [`${names.length} checks`] : names;
    return [...listedNames.map((name) => `    ? ${name}`), `      not tried: ${reason}`];
  });
}

export function formatSummary(report: Report): string {
  const rows = rowsOf(report);
  const count = (outcome: Outcome) => rows.filter((row) => row.outcome === outcome).length;
  const { requests, seconds, waitedSeconds, leftBehind } = report;
  return [
    `${count('holds')} answer, ${count('differs')} do otherwise, ${count('lacks')} lacking, ${count('fails')} failing, ${count('untried')} untried`,
    `${requests} requests in ${seconds} s, ${waitedSeconds} s of them waiting for limits`,
    `left behind: ${leftBehind.accounts.join(', ') || 'no accounts'}; ${leftBehind.conversations} conversations`,
  ].join('\n');
}

export const json = (report: Report): string =>
  JSON.stringify({ ok: !hasFailed(report), ...report, results: undefined, calls: rowsOf(report) }, null, 2);
