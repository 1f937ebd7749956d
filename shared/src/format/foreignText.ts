import { shorten } from './input';

// Text that other people wrote. The contract's `label` has taken off what turns the direction of a sentence.

/** Stands for a person whose name shows nothing. */
export const UNNAMED = '无名氏';

/** Stands for a story whose title shows nothing. */
export const UNTITLED = '无题';

/** Stands for words that cannot be read. */
export const UNREADABLE = '（内容无法显示）';

/** Letters that are written from right to left. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|\p{Script=Adlam}/u;

/** The most characters of a name within a sentence. */
const NAME_CHARACTERS = 24;

/** A foreign name or title for a sentence of ours: short, and what stands around it keeps its order. An element of its own is `Foreign`. */
export function inSentence(name: string): string {
  const short = shorten(name, NAME_CHARACTERS);
  return rightToLeft.test(short) ? `\u2068${short}\u2069` : short;
}
