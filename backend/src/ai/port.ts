import type { Story } from '../stories/story.ts';

/** One line of what was said so far. */
export interface Line {
  role: 'user' | 'assistant';
  text: string;
}

export interface StoryContext {
  story: Story;
  reader: { name: string; persona: string };
  /** Oldest first; ends with the reader's line, or with the reply that is to be continued. */
  history: Line[];
  /** Whether the last line is to be carried on instead of answered. */
  continuing: boolean;
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
  /** Short first-person lines the reader could say next. */
  suggest(context: StoryContext, count: number, options: { signal: AbortSignal }): Promise<string[]>;
}
