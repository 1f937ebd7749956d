import type { Story } from '../stories.ts';
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
  /** What happened before `history`, in the storyteller's own words; absent while all lines fit. */
  summary?: string;
  /** Former texts of this reply, which is to be told another way, oldest first. */
  retold: string[];
  /** Whether the last line is to be carried on instead of answered. */
  continuing: boolean;
  /** The latest suggestions of this conversation, oldest first. */
  offered: string[];
  /** How far the plot is: before the reply that is written, or where a suggestion is wanted. */
  progress: Progress;
  /** 0 for the first text of a reply; each 换一种说法 is one more. */
  telling: number;
  /** Failures by rate follow from it. */
  seed: string;
}

/** Empty text is a sign of life: the storyteller is at work. `restart`: the text so far was not meant for the reader. */
export type Piece = { text: string } | { restart: true } | { usage: { totalTokens: number } };

export interface CallOptions {
  signal: AbortSignal;
}

/** Writes the story's side of the conversation. */
export interface Storyteller {
  /** Throws where the text is not whole; stops when the signal aborts. */
  generate(context: StoryContext, options: CallOptions): AsyncIterable<Piece>;
  /** Short first-person suggestions of what the reader could say next: as many as requested, or it throws. */
  suggest(context: StoryContext, count: number, options: CallOptions): Promise<string[]>;
  /** Retells lines that no longer fit, together with the summary so far; absent where nothing is forgotten. */
  summarize?(context: StoryContext, lines: Line[], options: CallOptions): Promise<string>;
  /** Asks for a few words and says in one line what answered; absent where nothing can be away. */
  check?(options: CallOptions): Promise<string>;
}

/** `length`: the text is cut by a limit. `filtered`: the text was withheld. `cut`: it broke off. */
export type FaultKind = 'unreachable' | 'refused' | 'busy' | 'failed' | 'filtered' | 'length' | 'cut' | 'empty';

/** The storyteller answered with less than a whole text. */
export class StorytellerFault extends Error {
  readonly kind: FaultKind;
  /** HTTP status; null where nothing answered. */
  readonly status: number | null;
  /** The beginning of what came instead. */
  readonly excerpt: string;

  constructor(kind: FaultKind, status: number | null, excerpt: string) {
    super(`${kind}${status ? ` ${status}` : ''}: ${excerpt}`);
    this.kind = kind;
    this.status = status;
    this.excerpt = excerpt;
  }
}

/** A time limit ran out. */
export class StorytellerTimeout extends Error {}

export interface Limits {
  /** until the first sign of life */
  firstMs: number;
  /** between two signs of life */
  idleMs: number;
  totalMs: number;
}

/** Passes pieces on; throws when a limit runs out or the signal aborts, and leaves a source that hangs behind. */
export async function* withDeadlines<Item>(
  source: (signal: AbortSignal) => AsyncIterable<Item>,
  limits: Limits,
  outer: AbortSignal,
): AsyncIterable<Item> {
  const own = new AbortController();
  const signal = AbortSignal.any([outer, own.signal]);
  const endsAt = performance.now() + limits.totalMs;
  const iterator = source(signal)[Symbol.asyncIterator]();
  let silenceMs = limits.firstMs;
  try {
    for (;;) {
      const waitMs = Math.min(silenceMs, endsAt - performance.now());
      const result = await within(iterator.next(), waitMs, outer);
      if (result.done) return;
      silenceMs = limits.idleMs;
      yield result.value;
    }
  } finally {
    own.abort();
    iterator.return?.().catch(() => {});
  }
}

/** Settles like the promise, unless the time runs out or the signal aborts first. */
export async function within<Result>(promise: Promise<Result>, waitMs: number, signal: AbortSignal): Promise<Result> {
  const settled = new AbortController();
  const interruption = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new StorytellerTimeout('time limit')), Math.max(0, waitMs));
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { signal: settled.signal });
    settled.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  try {
    return await Promise.race([promise, interruption]);
  } finally {
    settled.abort();
  }
}
