import { type Call, calls } from './calls.ts';
import type { Outcome, Report, Result } from './conform.ts';

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
  untried: 'answers as far as it could be tried',
};

export function table(report: Report): string {
  const width = Math.max(...Object.keys(calls).map((call) => call.length));
  return rowsOf(report)
    .map(({ call, outcome, checks }) => {
      const held = checks.filter((check) => check.outcome === 'holds').length;
      const head = `${signs[outcome]} ${call.padEnd(width)}  ${words[outcome]} (${held} of ${checks.length} hold)`;
      return [head, ...checks.flatMap(lines)].join('\n');
    })
    .join('\n');
}

function lines({ name, outcome, came, product }: Result): string[] {
  if (outcome === 'holds') return [];
  if (outcome === 'untried') return [`    ? ${name}`, `      not tried: ${came}`];
  const found = [`    ${signs[outcome]} ${name}`, `      came: ${came}`];
  return product ? [...found, `      the product: ${product}`] : [...found, '      the product cannot do without'];
}

export function summary(report: Report): string {
  const rows = rowsOf(report);
  const count = (outcome: Outcome) => rows.filter((row) => row.outcome === outcome).length;
  const { accounts, conversations } = report.leftBehind;
  return [
    `${count('holds')} answer, ${count('differs')} do otherwise, ${count('lacks')} lacking, ${count('fails')} failing, ${count('untried')} untried`,
    `${report.requests} requests; waited ${report.waitedSeconds} s for limits`,
    `left behind: ${accounts.length} accounts (${accounts.join(', ') || 'none'}), ${conversations} conversations`,
  ].join('\n');
}

export const json = (report: Report): string =>
  JSON.stringify({ ok: !failed(report), ...report, results: undefined, calls: rowsOf(report) }, null, 2);
