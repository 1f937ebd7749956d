import { withoutShapeless } from '../contract/visible';

/** Number of code points, so that 𠮷 and 🏮 count as one each. */
export const codePoints = (text: string): number => [...text].length;

/** Returns the first `count` code points of `text`, without splitting a surrogate pair. */
export const firstCodePoints = (text: string, count: number): string =>
  // a code point has at most two code units
  [...text.slice(0, 2 * count)].slice(0, count).join('');

/** Whether a cut would split a grapheme. The oldest supported browsers lack `Intl.Segmenter`. */
const isWithinCharacter = (head: string, rest: string): boolean =>
  /^[\p{M}\p{Cf}\p{EMod}]/u.test(rest) ||
  head.endsWith('\u200d') ||
  // two regional indicators form a flag
  (/^\p{RI}/u.test(rest) && /(?:^|\P{RI})(?:\p{RI}{2})*\p{RI}$/u.test(head));

/** Returns the first grapheme: a flag is one, and so is a family emoji. */
export function firstGrapheme(text: string): string {
  let head = '';
  for (const character of text) {
    if (head && !isWithinCharacter(head, character)) break;
    head += character;
  }
  return head;
}

/** Shortens `text` to `max` code points, including an ellipsis if anything was cut. */
export function shorten(text: string, max: number): string {
  if (codePoints(text) <= max) return text;
  let headLength = max - 1;
  const head = () => firstCodePoints(text, headLength);
  while (headLength > 1 && isWithinCharacter(head(), text.slice(head().length))) headLength -= 1;
  return `${head().trimEnd()}…`;
}

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

// Checks of user input before a request.

/** Shortest password; a registration suggests one with as many digits. */
export const PASSWORD_CHARACTERS = 6;

export const missingText = (field: string): string => `请填写${field}`;

/** Error text for a new password; undefined if it is acceptable. */
export const passwordProblem = (password: string): string | undefined =>
  password.length < PASSWORD_CHARACTERS ? `密码至少 ${PASSWORD_CHARACTERS} 位` : undefined;

/** Error text for an email address; undefined if it may be one. */
export const emailProblem = (address: string): string | undefined =>
  address === '' ? missingText('邮箱') : /^\S+@\S+\.\S+$/.test(address) ? undefined : '邮箱格式不正确';

/** Normalises a typed or pasted user name: width, invisible characters and blanks at its ends. */
export const meantLogin = (typed: string): string => withoutShapeless(typed.normalize('NFKC')).trim();

const FULL_WIDTH_ASCII = /^[\u0020-\u007e\u3000\uff01-\uff5e]*$/u;

/** Normalises a password. Keeps blanks at its ends, and full-width letters next to Chinese text. */
export function meantPassword(typed: string): string {
  const visibleText = withoutShapeless(typed);
  return FULL_WIDTH_ASCII.test(visibleText) ? visibleText.normalize('NFKC') : visibleText;
}
