import type { Story } from '../stories.ts';

/** One line of what was said so far. */
export interface Line {
  role: 'user' | 'assistant';
  text: string;
}

export interface StoryContext {
  story: Story;
  reader: { name: string; persona: string };
  /** The latest lines, oldest first; ends with the reader's line, or with the reply that is to be continued. */
  history: Line[];
  /** What was told in this place before and is to be told another way, oldest first. */
  retold: string[];
  /** Whether the last line is to be carried on instead of answered. */
  continuing: boolean;
  /** What was suggested to the reader in this conversation of late, oldest first. */
  offered: string[];
  /** 1 for the reader's first line. */
  turn: number;
  /** Same seed, same text. */
  seed: string;
}

export type Piece = { text: string } | { usage: { totalTokens: number } };

/** Whoever writes the story's side of the conversation. */
export interface Storyteller {
  /** Throws, or ends early, when the text cannot be written; stops when the signal aborts. */
  generate(context: StoryContext, options: { signal: AbortSignal }): AsyncIterable<Piece>;
  /** Short first-person suggestions of what the reader could say next. */
  suggest(context: StoryContext, count: number, options: { signal: AbortSignal }): Promise<string[]>;
}

/** What the storyteller took too long for. */
export class StorytellerTimeout extends Error {}

/**
 * Passes pieces on, but throws when the next one takes longer than `idleMs`, the whole longer than `totalMs`,
 * or the signal aborts; a source that hangs is left behind.
 */
export async function* withDeadlines<Item>(
  source: (signal: AbortSignal) => AsyncIterable<Item>,
  limits: { idleMs: number; totalMs: number; signal: AbortSignal },
): AsyncIterable<Item> {
  const own = new AbortController();
  const signal = AbortSignal.any([limits.signal, own.signal]);
  const endsAt = Date.now() + limits.totalMs;
  const iterator = source(signal)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const waitMs = Math.min(limits.idleMs, endsAt - Date.now());
      const result = await within(iterator.next(), waitMs, limits.signal);
      if (result.done) return;
      yield result.value;
    }
  } finally {
    own.abort();
  }
}

/** Settles like the promise, unless the time runs out or the signal aborts first. */
export async function within<Result>(promise: Promise<Result>, waitMs: number, signal: AbortSignal): Promise<Result> {
  const settled = new AbortController();
  const interruption = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(new StorytellerTimeout('the storyteller fell silent')), Math.max(0, waitMs));
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
