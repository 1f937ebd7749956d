import { type Call, routeOf } from '../calls.ts';
import { type Check, Deviation, laravelProblem } from '../check.ts';
import { operations } from '../openApiOperations.ts';
import type { Exchange } from '../visitor.ts';

interface Rule {
  /** expected property of every response */
  name: string;
  otherwise: string;
  /** Returns the problem of a response, or null. `isFirst`: of this method and path. */
  problem(exchange: Exchange, isFirst: boolean): string | null;
}

/** Statuses that proxies send themselves, as HTML. */
const OF_A_PROXY = [413, 414, 431];

/** Returns the maximum lifetime in a `Cache-Control` header, in seconds; 0 without one. */
const lifetime = (cacheControl: string): number =>
  Math.max(
    0,
    ...[...cacheControl.matchAll(/(?:max-age|s-maxage)\s*=\s*"?(\d+)/g)].map(([, seconds]) => Number(seconds)),
  );

/** The documented status of each call's success. */
const successes = Object.entries(operations).map(([call, { answer }]) => {
  const [method, path] = routeOf(call as Call, '[^/]+');
  return { route: new RegExp(`^${method} ${path}$`), expected: answer[0] };
});

const rules: Rule[] = [
  {
    name: 'answers a success with the status of the API’s list',
    otherwise: 'takes any success for one',
    // a repeated request may be answered as such
    problem({ method, path, answer: { status } }, isFirst) {
      const call = `${method} ${path.split('?')[0]}`;
      if (!isFirst || status > 299) return null;
      const expected = successes.find(({ route }) => route.test(call))?.expected;
      return expected !== undefined && status !== expected ? `${status} instead of ${expected}` : null;
    },
  },
  {
    name: 'sends JSON as application/json in UTF-8',
    otherwise: 'reads it all the same; proxies and scanners may change or block it',
    problem({ answer: { body, headers } }) {
      const type = headers.get('content-type')?.toLowerCase() || 'no Content-Type';
      const isJson = /^application\/([\w.+-]+\+)?json\s*(;\s*charset="?utf-8"?)?\s*$/.test(type);
      return body === null || isJson ? null : type;
    },
  },
  {
    name: 'begins no answer with a byte order mark',
    otherwise: 'skips the mark; other clients of the API fail at it',
    problem: ({ answer }) => (answer.hasByteOrderMark ? 'a byte order mark before the JSON' : null),
  },
  {
    name: 'lets no cache keep what it reads',
    otherwise: 'may show one reader’s answer to another, or an old one, wherever a cache obeys',
    problem({ method, path, answer: { status, headers } }) {
      const rule = headers.get('cache-control')?.toLowerCase() ?? '';
      const isCacheable = /\bpublic\b/.test(rule) || (lifetime(rule) > 0 && !/\bno-(store|cache)\b/.test(rule));
      return method === 'GET' && !path.startsWith('//') && status < 300 && isCacheable ? rule : null;
    },
  },
  {
    name: 'says why it refuses, in Laravel’s form',
    otherwise: 'shows words of its own by status and field',
    problem: ({ answer }) =>
      answer.status < 500 && !OF_A_PROXY.includes(answer.status) ? laravelProblem(answer) : null,
  },
];

/** Records the first violation of each rule in a run. */
export class AnswerWatch {
  readonly #problems = new Map<string, string>();
  /** methods and paths that succeeded */
  readonly #successes = new Set<string>();

  record(exchange: Exchange): void {
    const { size } = this.#successes;
    if (exchange.answer.status < 300) this.#successes.add(`${exchange.method} ${exchange.path}`);
    const isFirst = this.#successes.size > size;
    for (const { name, problem } of rules) {
      const fault = this.#problems.has(name) ? null : problem(exchange, isFirst);
      if (fault) this.#problems.set(name, `${exchange.method} ${exchange.path.slice(0, 80)}: ${fault}`);
    }
  }

  problem(name: string): string | undefined {
    return this.#problems.get(name);
  }
}

/** Rules for every response of the run, checked at its end. */
export const answerChecks: Check[] = rules.map(({ name, otherwise }) => ({
  call: 'every call',
  name,
  otherwise,
  async run({ answers }) {
    const problem = answers.problem(name);
    if (problem) throw new Deviation(problem);
  },
}));
