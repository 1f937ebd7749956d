import { MINUTE_MS } from '../clock.ts';
import type { BackendCounters, Log } from '../telemetry.ts';
import { excerptOf } from './modelAnswer.ts';
import {
  type CallOptions,
  type Limits,
  type Piece,
  type Storyteller,
  StorytellerFault,
  withDeadlines,
  withTimeout,
} from './storyteller.ts';

interface Monitoring {
  /** URL of the endpoint without credentials, or `built-in` */
  endpoint: string;
  limits: Limits;
  log: Log;
  counters: BackendCounters | null;
}

type ModelCall = 'reply' | 'suggestion' | 'summary' | 'check';

/** Applies the time limits to a storyteller, counts each call by its outcome, and logs each failure. */
export function withMonitoring(storyteller: Storyteller, watch: Monitoring): Storyteller {
  const { limits, counters } = watch;
  const report = failureLog(watch);
  const count = (call: ModelCall, outcome: string) => counters?.storyteller.inc({ call, outcome });

  /** Counts and logs a failed call. A call that its caller aborted counts as `stopped`. */
  function recordFailure(call: ModelCall, error: unknown, { signal }: CallOptions): void {
    if (signal.aborted) return void count(call, 'stopped');
    const outcome = error instanceof StorytellerFault ? error.kind : 'failed';
    count(call, outcome);
    report(call, outcome, error);
  }

  async function* generate(...[context, options]: Parameters<Storyteller['generate']>): AsyncIterable<Piece> {
    try {
      const source = (signal: AbortSignal) => storyteller.generate(context, { signal });
      for await (const piece of withDeadlines(source, limits, options.signal)) {
        if (!('text' in piece) || piece.text !== '') yield piece;
      }
      count('reply', 'completed');
    } catch (error) {
      recordFailure('reply', error, options);
      throw error;
    }
  }

  async function runCall<Result>(
    call: ModelCall,
    options: CallOptions,
    request: (callOptions: CallOptions) => Promise<Result>,
  ) {
    const controller = new AbortController();
    try {
      const signal = AbortSignal.any([options.signal, controller.signal]);
      const result = await withTimeout(request({ signal }), limits.totalMs, options.signal);
      count(call, 'completed');
      return result;
    } catch (error) {
      recordFailure(call, error, options);
      throw error;
    } finally {
      controller.abort();
    }
  }

  const { summarize, check } = storyteller;
  return {
    generate,
    suggest: (context, lineCount, options) =>
      runCall('suggestion', options, (callOptions) => storyteller.suggest(context, lineCount, callOptions)),
    ...(summarize && {
      summarize: (context, lines, options) =>
        runCall('summary', options, (callOptions) => summarize(context, lines, callOptions)),
    }),
    ...(check && { check: (options) => runCall('check', options, check) }),
  };
}

/** Logs at most one line a minute for each kind of failure, with the number of failures since the last line. */
function failureLog({ endpoint, log }: Monitoring) {
  const repeated = new Map<string, { count: number; write: (count: number) => void }>();

  return (call: ModelCall, outcome: string, error: unknown): void => {
    const isFault = error instanceof StorytellerFault;
    const status = isFault ? error.status : null;
    const key = `${outcome} ${status}`;
    const excerpt = isFault ? error.excerpt : excerptOf(error instanceof Error ? error.message : String(error));
    const write = (count: number) =>
      log.warn(
        { call, outcome, endpoint, status, said: excerpt, count },
        `storyteller: ${outcome}${status ? ` ${status}` : ''}`,
      );
    const latest = repeated.get(key);
    if (latest) {
      latest.count += 1;
      latest.write = write;
      return;
    }
    write(1);
    const failures = { count: 0, write };
    repeated.set(key, failures);
    const timer = setInterval(() => {
      if (failures.count > 0) failures.write(failures.count);
      else {
        clearInterval(timer);
        repeated.delete(key);
      }
      failures.count = 0;
    }, MINUTE_MS).unref();
  };
}
