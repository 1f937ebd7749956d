import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lists, Voice as Speaker } from '../content/content.ts';
import type { Env } from '../env.ts';
import { answers, callbacks, common, moods, plainVoice } from './phrases.ts';
import { offeredLines, replay, tell, tellerOf } from './progress.ts';
import type { Piece, StoryContext, Storyteller } from './storyteller.ts';

type Voice = Lists & Speaker;

/** Thrown when a test asked for it. */
class ScriptedFailure extends Error {}

/** A storyteller without a model: seeded, in the voice of the story, its pace and failures set by `STORYTELLER_…`. */
export function builtInStoryteller(env: Env): Storyteller {
  return {
    async *generate(context, { signal }): AsyncIterable<Piece> {
      const text = composeReply(context);
      const script = scriptOf(env, context);
      await sleep(env.STORYTELLER_START_DELAY_MS, undefined, { signal });
      const pieces = inPieces(text, env.STORYTELLER_PIECE_CHARACTERS);
      for (const [index, piece] of pieces.entries()) {
        if (script !== 'write' && index >= pieces.length / 2) await interrupt(script, signal);
        yield { text: piece };
        await sleep(env.STORYTELLER_PIECE_DELAY_MS, undefined, { signal });
      }
      yield { usage: { totalTokens: text.length } };
    },
    async suggest(context, count, { signal }) {
      await sleep(env.STORYTELLER_SUGGESTION_DELAY_MS, undefined, { signal });
      if (scriptOf(env, context) === 'fail') throw new ScriptedFailure('scripted failure');
      return composeSuggestions(context, count);
    },
  };
}

const lastWords = ({ history }: StoryContext): string =>
  history.filter((line) => line.role === 'user').at(-1)?.text ?? '';

type Script = 'write' | 'fail' | 'hang';

/** A marked line fails or hangs only the first time, so that going on with the reply can succeed. */
function scriptOf(env: Env, context: StoryContext): Script {
  const words = lastWords(context);
  if (context.continuing)
    return new Draw(`${context.seed}|rate`).fraction() < env.STORYTELLER_FAIL_RATE ? 'fail' : 'write';
  if (env.STORYTELLER_HANG_WORD && words.includes(env.STORYTELLER_HANG_WORD)) return 'hang';
  if (env.STORYTELLER_FAIL_WORD && words.includes(env.STORYTELLER_FAIL_WORD)) return 'fail';
  return new Draw(`${context.seed}|rate`).fraction() < env.STORYTELLER_FAIL_RATE ? 'fail' : 'write';
}

async function interrupt(script: 'fail' | 'hang', signal: AbortSignal): Promise<void> {
  if (script === 'fail') throw new ScriptedFailure('scripted failure');
  await sleep(2 ** 31 - 1, undefined, { signal });
}

/** Nothing is said again before the speaker has said this much else, in characters: ten replies or more. */
const restCharacters = 2_000;

/** The whole text of a reply, or of a continuation. */
export function composeReply(context: StoryContext): string {
  return context.story.lists ? composeFromLists(context) : compose(context);
}

function compose(context: StoryContext): string {
  const { story, reader, history, progress, telling, continuing } = context;
  const teller = tellerOf(story, reader);
  const words = lastWords(context);
  if (!continuing) return tell(teller, progress, words, telling).text;
  const body = history.at(-1)?.text ?? '';
  const { progress: after, rest } = replay(teller, progress, words, body, telling);
  if (rest) return rest;
  const more = tell(teller, after, null).text;
  return `${rest === undefined ? endOf(body) : ''}\n\n${more}`;
}

/** What a text of another storyteller lacks where it was cut off within a sentence. */
function endOf(body: string): string {
  const last = body.split('\n').at(-1) ?? '';
  const isWithinQuote = last.lastIndexOf('“') > last.lastIndexOf('”');
  const isWithinDeed = (last.split('*').length - 1) % 2 === 1;
  const isWhole = /[。！？…”*]\s*$/.test(body) && !isWithinQuote && !isWithinDeed;
  return isWhole ? '' : `……${isWithinQuote ? '”' : ''}${isWithinDeed ? '*' : ''}`;
}

function composeFromLists(context: StoryContext): string {
  const voice = voiceOf(context);
  const draw = new Draw(`${context.seed}|${lastWords(context)}`);
  const phrasing = new Phrasing(context, voice, draw);
  const beat = nextBeat(context, voice) ?? phrasing.pick(common.asides, voice.scenery);
  const gesture = phrasing.pick(voice.gestures, common.gestures);
  const saying = phrasing.pick(voice.sayings, common.sayings);
  if (context.continuing) return `\n\n*${gesture}*\n\n${beat}\n\n“${saying}”`;
  const words = lastWords(context);
  const mood = moods.find((one) => one.words.test(words));
  const answer = phrasing.pick(mood?.answers ?? [], answers, words);
  return [
    `*${gesture}*`,
    `“${answer}${callback(context, phrasing)}”`,
    `${phrasing.pick(voice.scenery, common.scenery)}${beat}`,
    `“${saying}${phrasing.pick(voice.asks, common.asks)}”`,
  ].join('\n\n');
}

/** Every third turn the speaker comes back to something the reader said before. */
function callback({ history, turn }: StoryContext, phrasing: Phrasing): string {
  if (turn % 3 !== 0) return '';
  const earlier = history.filter((line) => line.role === 'user').slice(0, -1);
  const line = earlier[turn % Math.max(1, earlier.length)];
  return line ? phrasing.pick([], callbacks, line.text) : '';
}

/** The plot goes on with the step after the last that was told; undefined at its end, however long ago that was. */
function nextBeat({ history, turn }: StoryContext, { beats }: Voice): string | undefined {
  const told = beats.findLastIndex((beat) => history.some((line) => line.text.includes(beat)));
  // the history goes only so far back
  return told < 0 && turn > beats.length ? undefined : beats[told + 1];
}

/** Lines the reader could say next: none that was said or offered of late while there are others. */
export function composeSuggestions(context: StoryContext, count: number): string[] {
  if (!context.story.lists) {
    const { story, reader, progress, offered } = context;
    const lines = offeredLines(tellerOf(story, reader).plot, progress);
    // those that were offered longest ago come again last
    return lines.sort((one, other) => offered.lastIndexOf(one) - offered.lastIndexOf(other)).slice(0, count);
  }
  const draw = new Draw(context.seed);
  const past = [...context.history.map((line) => line.text), ...context.offered];
  const unused = (lines: readonly string[]) => draw.several(lines, lines.length).filter((line) => !past.includes(line));
  const { replies } = voiceOf(context);
  const used = [...replies, ...common.replies].filter((line) => past.includes(line));
  const longestAgo = used.sort((one, other) => past.lastIndexOf(one) - past.lastIndexOf(other));
  return [...unused(replies), ...unused(common.replies), ...longestAgo].slice(0, count);
}

function voiceOf({ story }: StoryContext): Voice {
  const speaker = story.characters[0]?.name ?? plainVoice.speaker;
  return { ...plainVoice, speaker, ...story.voice, ...story.lists };
}

/** Finds words for one reply that the speaker has not used of late. */
class Phrasing {
  readonly #said: string;
  readonly #voice: Voice;
  readonly #draw: Draw;
  readonly #picked = new Set<string>();

  constructor({ history, retold }: StoryContext, voice: Voice, draw: Draw) {
    const replies = history.filter((line) => line.role === 'assistant');
    this.#said = [...replies.map((line) => line.text), ...retold].join('\n');
    this.#voice = voice;
    this.#draw = draw;
  }

  /** One of `first` that has rested, else one of `second`, else whichever was said longest ago; `words` are the reader's. */
  pick(first: readonly string[], second: readonly string[], words = ''): string {
    const isRested = (phrase: string) => this.#saidAt(phrase) < this.#said.length - restCharacters;
    const rested = [first, second].map((list) => list.filter((one) => this.#saidAt(one) < 0 || isRested(one)));
    const choice = rested.find((list) => list.length > 0);
    const phrase = choice ? this.#draw.one(choice) : this.#longestAgo([...first, ...second]);
    this.#picked.add(phrase);
    return phrase
      .replaceAll('{quote}', quote(words))
      .replaceAll('{address}', this.#voice.address)
      .replaceAll('{speaker}', this.#voice.speaker);
  }

  #longestAgo(phrases: string[]): string {
    const [phrase] = phrases.sort((one, other) => this.#saidAt(one) - this.#saidAt(other));
    if (phrase === undefined) throw new Error('nothing to say');
    return phrase;
  }

  /** Where in all that was said a phrase was said last; -1 for never. */
  #saidAt(phrase: string): number {
    return this.#picked.has(phrase) ? this.#said.length : this.#said.lastIndexOf(fixedPart(phrase));
  }
}

/** The longest part of a phrase that is the same whoever speaks and whatever was said. */
const fixedPart = (phrase: string): string =>
  phrase.split(/\{[a-z]+\}/).reduce((longest, part) => (part.length > longest.length ? part : longest), '');

function inPieces(text: string, size: number): string[] {
  const characters = [...text];
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) => characters.slice(index * size, (index + 1) * size).join(''));
}

const quoteCharacters = 14;

/** The reader's first clause, short enough to be repeated, without marks that would nest. */
function quote(words: string): string {
  const plain = words
    .replace(/[*“”"「」『』<>]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const [clause = ''] = plain.split(/[，。！？；,.!?;\n]/).filter((part) => part.trim());
  const characters = [...(clause.trim() || '……')];
  return characters.length > quoteCharacters
    ? `${characters.slice(0, quoteCharacters).join('')}……`
    : characters.join('');
}

/** Picks from lists the same way for the same seed. */
class Draw {
  readonly #seed: string;
  #count = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** A number from 0 up to, not including, 1. */
  fraction(): number {
    this.#count += 1;
    return createHash('sha256').update(`${this.#seed}|${this.#count}`).digest().readUInt32BE() / 2 ** 32;
  }

  /** One item; throws on an empty list. */
  one<Item>(items: readonly Item[]): Item {
    const item = items[Math.floor(this.fraction() * items.length)];
    if (item === undefined) throw new Error('nothing to draw from');
    return item;
  }

  /** Up to `count` different items, in drawn order. */
  several<Item>(items: readonly Item[], count: number): Item[] {
    const rest = [...items];
    const drawn: Item[] = [];
    while (drawn.length < count && rest.length > 0) {
      drawn.push(...rest.splice(Math.floor(this.fraction() * rest.length), 1));
    }
    return drawn;
  }
}
