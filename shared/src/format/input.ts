/** How many characters a reader would count as typed: code points, so 𠮷 and 🏮 are one each. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The first `count` code points of `text`; never cuts a character in two. */
export function firstCodePoints(text: string, count: number): string {
  let taken = '';
  let left = count;
  for (const character of text) {
    if (left <= 0) break;
    taken += character;
    left -= 1;
  }
  return taken;
}

/** Whether a cut goes through what a reader sees as one character. `Intl.Segmenter` is younger than the oldest browsers. */
const isWithinCharacter = (head: string, rest: string): boolean =>
  /^[\p{M}\p{Cf}\p{EMod}]/u.test(rest) ||
  head.endsWith('\u200d') ||
  // two letters of a region make a flag
  (/^\p{RI}/u.test(rest) && /(?:^|\P{RI})(?:\p{RI}{2})*\p{RI}$/u.test(head));

/** What a reader sees as one character: a flag is one, and so is a family. */
export function firstGrapheme(text: string): string {
  let head = '';
  for (const one of text) {
    if (head && !isWithinCharacter(head, one)) break;
    head += one;
  }
  return head;
}

/** `text` within `max` code points, the last of them an ellipsis where something was cut. */
export function shorten(text: string, max: number): string {
  if (codePoints(text) <= max) return text;
  let taken = max - 1;
  const head = () => firstCodePoints(text, taken);
  while (taken > 1 && isWithinCharacter(head(), text.slice(head().length))) taken -= 1;
  return `${head().trimEnd()}…`;
}

/** The address as a URL, undefined if malformed. `URL.canParse` and `URL.parse` are younger than the oldest supported browsers. */
export function parseUrl(address: string, base?: string): URL | undefined {
  try {
    return new URL(address, base);
  } catch {
    return undefined;
  }
}

// What is wrong with what was typed, in the product's words: told before a server is asked.

/** The fewest characters of a password; a registration proposes one of just as many digits. */
export const PASSWORD_CHARACTERS = 6;

export const missingText = (field: string): string => `请填写${field}`;

/** The rule that a password to be chosen breaks; undefined for a good one. */
export const passwordProblem = (password: string): string | undefined =>
  password.length < PASSWORD_CHARACTERS ? `密码至少 ${PASSWORD_CHARACTERS} 位` : undefined;

/** Shows on no screen: joiners, marks of direction, fillers, notes between lines, control characters. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffb\u{1d159}]/gu;

/** Whether a text shows nothing but blank paper. */
export const isBlank = (text: string): boolean => /^\p{Z}*$/u.test(text.replace(UNSEEN, ''));

/** A user name as it was meant, however it was typed or copied. */
export const meantLogin = (typed: string): string => typed.normalize('NFKC').replace(UNSEEN, '').trim();

const FULL_WIDTH_ASCII = /^[\u0020-\u007e\u3000\uff01-\uff5e]*$/u;

/** A password as it was meant. Blanks at its ends may belong to it; full-width letters are left among Chinese words. */
export function meantPassword(typed: string): string {
  const seen = typed.replace(UNSEEN, '');
  return FULL_WIDTH_ASCII.test(seen) ? seen.normalize('NFKC') : seen;
}
