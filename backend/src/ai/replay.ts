import type { Progress, Teller } from './progress.ts';
import { composeTurn } from './turn.ts';

export interface Replay {
  progress: Progress;
  /** The rest of a reply that was cut off; undefined if another storyteller wrote the text. */
  missingText: string | undefined;
}

/** Computes the progress after a reply and its continuations. */
export function replay(teller: Teller, before: Progress, words: string, body: string, variantIndex: number): Replay {
  if (body === '') return { progress: before, missingText: undefined };
  const first = composeTurn(teller, before, words, variantIndex);
  let { text, progress } = first;
  while (body.length > text.length && body.startsWith(text)) {
    const continuation = composeTurn(teller, progress, null);
    text += `\n\n${continuation.text}`;
    progress = continuation.progress;
  }
  if (text.startsWith(body)) return { progress, missingText: text.slice(body.length) };
  return { progress: first.progress, missingText: undefined };
}
