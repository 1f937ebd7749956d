import { setTimeout as pause } from 'node:timers/promises';
import { type Call, calls, factsOf, isRequired } from './calls.ts';
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
import { createTransport } from './transport.ts';
import { Visitor } from './visitor.ts';
import { type Target, World } from './world.ts';

/** In the order in which they run: what uses up limits or disturbs comes last. */
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
/** A run that was broken off cleans up no longer than that. */
const CLEAN_UP_MS = 3_000;

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
    const came = isOurs ? cause.message : `what it sent cannot be read: ${String(cause)}`;
    const status = cause instanceof Deviation ? cause.status : undefined;
    if (isFirst && !isRequired(call) && status !== undefined && MISSING.includes(status)) {
      return { call, name, isNeeded, outcome: 'lacks', came, product: factsOf(call).without };
    }
    return { call, name, isNeeded, outcome: isNeeded ? 'fails' : 'differs', came, product: otherwise };
  }
}

interface RunOptions {
  onWait?: (seconds: number) => void;
  /** breaks the run off; what it made is deleted all the same */
  signal?: AbortSignal;
  /** the calls to look at; all unless named */
  only?: Call[];
}

/** Checks a backend against the contract. Throws `NoBackend` where nothing answers. */
export async function conform(target: Target, { onWait, signal, only }: RunOptions = {}): Promise<Report> {
  const broken = brokenOff(signal);
  await Promise.race([expectBackend(target.url), broken]);
  const startedAt = Date.now();
  const transport = createTransport({ onWait, signal });
  const world = new World(target, transport);
  const results: Result[] = [];
  try {
    for await (const result of attemptAll(world, broken, only)) results.push(result);
  } finally {
    await Promise.race([world.cleanUp(), broken.then(() => pause(CLEAN_UP_MS, undefined, { ref: false }))]);
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

/** Resolves once the run is broken off. */
const brokenOff = (signal?: AbortSignal) =>
  new Promise<null>((resolve) => {
    if (signal?.aborted) resolve(null);
    signal?.addEventListener('abort', () => resolve(null), { once: true });
  });

/** Each check in its turn, until the run is broken off; a call that is not there is named once. */
async function* attemptAll(world: World, broken: Promise<null>, only?: Call[]): AsyncGenerator<Result> {
  const begun = new Set<Call>();
  const lacking = new Set<string>();
  for (const check of checks) {
    const { call, name } = check;
    const { follows, without } = factsOf(call);
    if (lacking.has(call) || (only && !only.includes(call))) continue;
    const result =
      follows !== undefined && lacking.has(follows)
        ? ({ call, name, isNeeded: false, outcome: 'lacks', came: `there is no ${follows}`, product: without } as const)
        : await Promise.race([broken, attempt(check, world, !begun.has(call))]);
    if (result === null) return;
    if (result.outcome !== 'untried') begun.add(call);
    if (result.outcome === 'lacks') lacking.add(call);
    yield result;
  }
}

/** One look at the feed, before anything is written. */
async function expectBackend(url: string): Promise<void> {
  const { direct } = createTransport();
  const address = `${url}/api/v1/stories`;
  const answer = await new Visitor(url, {}, direct).get('/stories').catch((cause: unknown) => {
    if (cause instanceof NoAnswer) throw new NoBackend(`${url} cannot be reached: ${cause.message}`);
    throw cause;
  });
  if (answer.body === null) throw new NoBackend(`${address} is no API: it answers ${shown(answer)}`);
}

const MAX_NAMED = 3;

const signs: Record<Outcome, string> = { holds: '✓', lacks: '–', differs: '≠', fails: '✗', untried: '?' };
const order: Outcome[] = ['fails', 'lacks', 'differs', 'untried', 'holds'];

export interface Row {
  call: Call;
  outcome: Outcome;
  checks: Result[];
}

/** What was found out, call by call; a call is as good as the worst of its checks. */
const rowsOf = ({ results }: Report): Row[] =>
  (Object.keys(calls) as Call[]).map((call) => {
    const ofCall = results.filter((result) => result.call === call);
    const outcome = order.find((each) => ofCall.some((result) => result.outcome === each)) ?? 'untried';
    return { call, outcome, checks: ofCall };
  });

const isFailure = ({ outcome, isNeeded }: Result) => outcome === 'fails' || (outcome === 'untried' && isNeeded);

/** Whether something that the product needs fails, or could not be tried. */
export const failed = ({ results }: Report): boolean => results.some(isFailure);

const words: Record<Outcome, string> = {
  holds: 'answers',
  lacks: 'lacks it (optional)',
  differs: 'answers, and does otherwise',
  fails: 'fails',
  untried: 'could not be tried, or not all of it',
};

/** One line a call, and below it what does not hold. */
export function table(report: Report): string {
  const rows = rowsOf(report);
  const width = Math.max(...rows.map(({ call }) => call.length));
  return rows
    .map(({ call, outcome, checks }) => {
      const held = checks.filter((check) => check.outcome === 'holds').length;
      const share = outcome === 'lacks' ? '' : ` (${held} of ${checks.length} hold)`;
      const head = `${signs[outcome]} ${call.padEnd(width)}  ${words[outcome]}${share}`;
      return [head, ...checks.flatMap(found), ...untried(checks)].join('\n');
    })
    .join('\n');
}

function found({ name, outcome, came, product }: Result): string[] {
  if (outcome === 'holds' || outcome === 'untried') return [];
  const consequence = product ? `the product: ${product}` : 'the product needs it';
  return [`    ${signs[outcome]} ${name}`, `      came: ${came}`, `      ${consequence}`];
}

/** Named one by one, unless one reason kept many of them from being tried. */
function untried(checks: Result[]): string[] {
  const left = checks.filter(({ outcome }) => outcome === 'untried');
  const reasons = [...new Set(left.map(({ came }) => came))];
  return reasons.flatMap((reason) => {
    const names = left.filter(({ came }) => came === reason).map(({ name }) => name);
    const listed = names.length > MAX_NAMED ? [`${names.length} checks`] : names;
    return [...listed.map((name) => `    ? ${name}`), `      not tried: ${reason}`];
  });
}

export function summary(report: Report): string {
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
  JSON.stringify({ ok: !failed(report), ...report, results: undefined, calls: rowsOf(report) }, null, 2);
