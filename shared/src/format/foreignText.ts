import { shorten } from './input';

// User-written text. The contract's `label` has already removed characters that change the direction of a sentence.

/** Replaces a person's name without visible characters. */
export const UNNAMED = '无名氏';

/** Replaces a story's title without visible characters. */
export const UNTITLED = '无题';

/** Replaces text that cannot be read. */
export const UNREADABLE = '（内容无法显示）';

/** Right-to-left scripts. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]|\p{Script=Adlam}/u;

/** Longest name within a sentence, in code points. */
const NAME_CHARACTERS = 24;

/** Shortens and isolates a user-written name for one of our sentences. For a separate element use `Foreign`. */
export function inSentence(name: string): string {
  const shortName = shorten(name, NAME_CHARACTERS);
  return rightToLeft.test(shortName) ? `\u2068${shortName}\u2069` : shortName;
}
