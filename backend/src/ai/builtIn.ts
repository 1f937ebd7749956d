import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Meaning } from '../content/plot.ts';
import type { Env } from '../env.ts';
import { interpret } from './meaning.ts';
import { hasEnded, offeredLines, offeredReplies, type Progress, type Teller, tellerOf } from './progress.ts';
import { missingMarksOf } from './smallText.ts';
import type { Piece, StoryContext, Storyteller } from './storyteller.ts';
import { composeTurn } from './turn.ts';

/** A failure that the `STORYTELLER_FAIL_…` settings script. */
class ScriptedFailure extends Error {}

/** Returns a storyteller without a model, which tells the story's own text. `STORYTELLER_…` sets its pace and failures. */
export function builtInStoryteller(env: Env): Storyteller {
  return {
    async *generate(context, { signal }): AsyncIterable<Piece> {
      const text = composeReply(context);
      const script = scriptOf(env, context);
      await sleep(env.STORYTELLER_START_DELAY_MS, undefined, { signal });
      const pieces = splitIntoPieces(text, env.STORYTELLER_PIECE_CHARACTERS);
      for (const [index, piece] of pieces.entries()) {
        if (script !== 'write' && index >= pieces.length / 2) await interrupt(script, signal);
        yield { text: piece };
        await sleep(env.STORYTELLER_PIECE_DELAY_MS, undefined, { signal });
      }
    },
    async suggest(context, count, { signal }) {
      await sleep(env.STORYTELLER_SUGGESTION_DELAY_MS, undefined, { signal });
      if (scriptOf(env, context) === 'fail') throw new ScriptedFailure('scripted failure');
      return composeSuggestions(context, count);
    },
  };
}

const lastUserLine = ({ history }: StoryContext): string =>
  history.filter((line) => line.role === 'user').at(-1)?.text ?? '';

type Script = 'write' | 'fail' | 'hang';

/** A marked line fails or hangs only the first time, so that continuing the reply can succeed. */
function scriptOf(env: Env, context: StoryContext): Script {
  const words = context.isContinuation ? '' : lastUserLine(context);
  if (env.STORYTELLER_HANG_WORD && words.includes(env.STORYTELLER_HANG_WORD)) return 'hang';
  if (env.STORYTELLER_FAIL_WORD && words.includes(env.STORYTELLER_FAIL_WORD)) return 'fail';
  return fractionOf(context.seed) < env.STORYTELLER_FAIL_RATE ? 'fail' : 'write';
}

/** A deterministic number from 0 (inclusive) to 1 (exclusive) for the seed. */
const fractionOf = (seed: string): number => createHash('sha256').update(seed).digest().readUInt32BE() / 2 ** 32;

async function interrupt(script: 'fail' | 'hang', signal: AbortSignal): Promise<void> {
  if (script === 'fail') throw new ScriptedFailure('scripted failure');
  await sleep(2 ** 31 - 1, undefined, { signal });
}

/** Returns the complete text of a reply or of a continuation. */
export function composeReply(context: StoryContext): string {
  const { story, reader, history, progress, variantIndex, isContinuation } = context;
  const teller = tellerOf(story, reader);
  const words = lastUserLine(context);
  if (!isContinuation) return composeTurn(teller, progress, words, variantIndex).text;
  const body = history.at(-1)?.text ?? '';
  const { progress: progressAfter, missingText } = replay(teller, progress, words, body, variantIndex);
  if (missingText) return missingText;
  const continuation = composeTurn(teller, progressAfter, null).text;
  return `${missingText === undefined ? closingMarksOf(body) : ''}\n\n${continuation}`;
}

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

/** Returns the ellipsis and closing marks for another storyteller's text that was cut off within a sentence. */
function closingMarksOf(body: string): string {
  const missingMarks = missingMarksOf(body);
  return /[。！？…”*]\s*$/.test(body) && missingMarks === '' ? '' : `……${missingMarks}`;
}

/** Questions for any scene, by the meaning that a story answers. */
const questions: readonly (readonly [Meaning, string])[] = [
  ['你是谁', '你究竟是谁？'],
  ['这是哪里', '这是什么地方？'],
  ['害怕', '我心里有些害怕'],
  ['怎么办', '眼下该怎么办？'],
  ['我是谁', '在你眼里，我是谁？'],
  ['信任', '我可以相信你吗？'],
  ['为什么', '这是为什么？'],
];

/**
 * Lines the reader could say next, each with an answer of its own: the scene's lines first, then questions that the
 * story answers in any scene. Lines that were offered before are last.
 */
export function composeSuggestions(
  { story, reader, progress, formerSuggestions }: StoryContext,
  count: number,
): string[] {
  const { plot, speaker } = tellerOf(story, reader);
  const lines = offeredLines(plot, progress);
  if (hasEnded(plot, progress)) return lines.slice(0, count);
  const replies = offeredReplies(plot, progress);
  const answeredQuestions = questions.flatMap(([meaning, line]) => {
    const interpretation = interpret(line, { plot, speaker, replies });
    return interpretation?.kind === 'meaning' && interpretation.meaning === meaning && plot.byMeaning[meaning]
      ? [line]
      : [];
  });
  const isFresh = (line: string) => !formerSuggestions.includes(line);
  const repeatedLines = [...lines, ...answeredQuestions].filter((line) => !isFresh(line));
  repeatedLines.sort((one, other) => formerSuggestions.lastIndexOf(one) - formerSuggestions.lastIndexOf(other));
  return [...lines.filter(isFresh), ...answeredQuestions.filter(isFresh), ...repeatedLines].slice(0, count);
}

function splitIntoPieces(text: string, size: number): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) => characters.slice(index * size, (index + 1) * size).join(''));
}
