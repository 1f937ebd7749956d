import { MINUTE_MS } from '../clock.ts';
import type { Story } from '../stories.ts';
import type { BackendCounters, Log } from '../telemetry.ts';
import type { Progress } from './progress.ts';

/** One line of the conversation. */
export interface Line {
  role: 'user' | 'assistant';
  text: string;
}

export interface StoryContext {
  story: Story;
  reader: { name: string; persona: string };
  /** The latest lines, oldest first; ends with the reader's line, or with the reply that is to be continued. */
  history: Line[];
  /** Summary of the lines before `history`, by the storyteller; absent while all lines fit. */
  summary?: string;
  /** Former texts of a reply that is to be retold, oldest first. */
  formerTexts: string[];
  /** Whether the last line is to be continued instead of answered. */
  isContinuation: boolean;
  /** The latest suggestions of this conversation, oldest first. */
  formerSuggestions: string[];
  /** Progress of the plot before the reply, or at the point of the suggestions. */
  progress: Progress;
  /** 0 for the first text of a reply; each 换一种说法 adds one. */
  variantIndex: number;
  /** Decides which calls fail when a failure rate is set. */
  seed: string;
}

/** Empty text means that the storyteller is still working. `restart`: the text so far was not meant for the reader. */
export type Piece = { text: string } | { restart: true };

export interface CallOptions {
  signal: AbortSignal;
}

/** Writes the story's side of the conversation. */
export interface Storyteller {
  /** Throws if the text is incomplete. Stops when the signal aborts. */
  generate(context: StoryContext, options: CallOptions): AsyncIterable<Piece>;
  /** Returns short lines that the reader could say next. Throws if there are fewer than `count`. */
  suggest(context: StoryContext, count: number, options: CallOptions): Promise<string[]>;
  /** Summarizes the lines that no longer fit, with the summary so far. Absent if the storyteller reads all lines. */
  summarize?(context: StoryContext, lines: Line[], options: CallOptions): Promise<string>;
  /** Requests a short text and returns one line about the endpoint. Absent if there is no endpoint. */
  check?(options: CallOptions): Promise<string>;
}

/** Characters of a text that an excerpt is made of. */
export const SOURCE_CHARACTERS = 2_000;
const EXCERPT_CHARACTERS = 200;

/** Shortens a text to one line for a log. */
export const excerptOf = (text: string): string =>
  text.slice(0, SOURCE_CHARACTERS).replace(/\s+/g, ' ').trim().slice(0, EXCERPT_CHARACTERS);

/** `timeout`: a time limit has passed. `length`: the text reached a limit. `filtered`: it was withheld. `cut`: it broke off. */
export type FaultKind =
  | 'unreachable'
  | 'refused'
  | 'busy'
  | 'failed'
  | 'timeout'
  | 'filtered'
  | 'length'
  | 'cut'
  | 'empty';

/** Thrown when the storyteller did not return a complete text. */
export class StorytellerFault extends Error {
  /**
   * @param status HTTP status; null without a response
   * @param excerpt beginning of the response, or the cause of the failure
   */
  constructor(
    readonly kind: FaultKind,
    readonly status: number | null,
    readonly excerpt: string,
  ) {
    super(`${kind}${status ? ` ${status}` : ''}: ${excerpt}`);
  }
}

export interface Limits {
  /** until the first piece */
  firstMs: number;
  /** between two pieces */
  idleMs: number;
  totalMs: number;
}

/** Yields the pieces of `source`. Throws when a limit has passed or the signal aborts, without waiting for `source`. */
export async function* withDeadlines<Item>(
  source: (signal: AbortSignal) => AsyncIterable<Item>,
  limits: Limits,
  outerSignal: AbortSignal,
): AsyncIterable<Item> {
  const controller = new AbortController();
  const signal = AbortSignal.any([outerSignal, controller.signal]);
  const endsAt = performance.now() + limits.totalMs;
  const iterator = source(signal)[Symbol.asyncIterator]();
  let silenceMs = limits.firstMs;
  try {
    for (;;) {
      const waitMs = Math.min(silenceMs, endsAt - performance.now());
      const result = await withTimeout(iterator.next(), waitMs, outerSignal);
      if (result.done) return;
      silenceMs = limits.idleMs;
      yield result.value;
    }
  } finally {
    controller.abort();
    iterator.return?.().catch(() => {});
  }
}

/** Settles like the promise. Rejects if the time has passed or the signal aborts first. */
async function withTimeout<Result>(promise: Promise<Result>, waitMs: number, signal: AbortSignal): Promise<Result> {
  const cleanup = new AbortController();
  const interruption = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new StorytellerFault('timeout', null, 'time limit')), Math.max(0, waitMs));
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { signal: cleanup.signal });
    cleanup.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  try {
    return await Promise.race([promise, interruption]);
  } finally {
    cleanup.abort();
  }
}

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
