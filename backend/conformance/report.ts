import { type Call, calls } from './calls.ts';
import type { Outcome, Report, Result } from './conform.ts';

const MAX_NAMED = 3;

const signs: Record<Outcome, string> = { holds: '✓', lacks: '–', differs: '≠', fails: '✗', untried: '?' };
const order: Outcome[] = ['fails', 'lacks', 'differs', 'untried', 'holds'];

export interface Row {
  call: Call;
  outcome: Outcome;
  checks: Result[];
}

/** What was found out, call by call; a call is as good as the worst of its checks. */
export const rowsOf = ({ results }: Report): Row[] =>
  (Object.keys(calls) as Call[]).map((call) => {
    const found = results.filter((result) => result.call === call);
    const outcome = order.find((each) => found.some((result) => result.outcome === each)) ?? 'untried';
    return { call, outcome, checks: found };
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
