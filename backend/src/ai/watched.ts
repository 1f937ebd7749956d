import type { BackendCounters, Log } from '../telemetry.ts';
import { excerptOf } from './modelAnswer.ts';
import {
  type CallOptions,
  type Limits,
  type Piece,
  type Storyteller,
  StorytellerFault,
  StorytellerTimeout,
  withDeadlines,
  within,
} from './storyteller.ts';

interface Watch {
  /** URL of the endpoint without credentials, or `built-in` */
  endpoint: string;
  limits: Limits;
  log: Log;
  counters: BackendCounters | null;
}

type ModelCall = 'reply' | 'suggestion' | 'summary' | 'check';

/** Applies the time limits to a storyteller, counts each call by its outcome, and logs each failure. */
export function watched(storyteller: Storyteller, watch: Watch): Storyteller {
  const { limits, counters } = watch;
  const report = failureLog(watch);
  const count = (call: ModelCall, outcome: string) => counters?.storyteller.inc({ call, outcome });

  /** Counts and logs a failed call. A call that its caller aborted counts as `stopped`. */
  function failed(call: ModelCall, error: unknown, { signal }: CallOptions): void {
    if (signal.aborted) return void count(call, 'stopped');
    const outcome =
      error instanceof StorytellerFault ? error.kind : error instanceof StorytellerTimeout ? 'timeout' : 'failed';
    count(call, outcome);
    report(call, outcome, error);
  }

  async function* generate(...[context, options]: Parameters<Storyteller['generate']>): AsyncIterable<Piece> {
    try {
      const source = (signal: AbortSignal) => storyteller.generate(context, { signal });
      for await (const piece of withDeadlines(source, limits, options.signal)) {
        if ('usage' in piece) counters?.tokens.inc(piece.usage.totalTokens);
        else if (!('text' in piece) || piece.text !== '') yield piece;
      }
      count('reply', 'completed');
    } catch (error) {
      failed('reply', error, options);
      throw error;
    }
  }

  async function whole<Result>(call: ModelCall, options: CallOptions, ask: (own: CallOptions) => Promise<Result>) {
    const own = new AbortController();
    try {
      const signal = AbortSignal.any([options.signal, own.signal]);
      const result = await within(ask({ signal }), limits.totalMs, options.signal);
      count(call, 'completed');
      return result;
    } catch (error) {
      failed(call, error, options);
      throw error;
    } finally {
      own.abort();
    }
  }

  const { summarize, check } = storyteller;
  return {
    generate,
    suggest: (context, wanted, options) =>
      whole('suggestion', options, (own) => storyteller.suggest(context, wanted, own)),
    ...(summarize && {
      summarize: (context, lines, options) => whole('summary', options, (own) => summarize(context, lines, own)),
    }),
    ...(check && { check: (options) => whole('check', options, check) }),
  };
}

const SAY_AGAIN_AFTER_MS = 60_000;

/** Logs at most one line a minute for each kind of failure, with the number of failures since the last line. */
function failureLog({ endpoint, log }: Watch) {
  const unsaid = new Map<string, { count: number; say: (count: number) => void }>();

  function rest(key: string): void {
    setTimeout(() => {
      const { count, say } = unsaid.get(key) ?? { count: 0 };
      unsaid.delete(key);
      if (count === 0 || !say) return;
      say(count);
      unsaid.set(key, { count: 0, say });
      rest(key);
    }, SAY_AGAIN_AFTER_MS).unref();
  }

  return (call: ModelCall, outcome: string, error: unknown): void => {
    const isFault = error instanceof StorytellerFault;
    const status = isFault ? error.status : null;
    const key = `${outcome} ${status}`;
    const said = isFault ? error.excerpt : excerptOf(error instanceof Error ? error.message : String(error));
    const say = (count: number) =>
      log.warn(
        { call, outcome, endpoint, status, said, count },
        `storyteller: ${outcome}${status ? ` ${status}` : ''}`,
      );
    const waiting = unsaid.get(key);
    if (waiting) {
      waiting.count += 1;
      waiting.say = say;
      return;
    }
    say(1);
    unsaid.set(key, { count: 0, say });
    rest(key);
  };
}
