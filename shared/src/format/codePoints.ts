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

/** `text` shortened to `max` code points, the last of them an ellipsis where something was cut. */
export function shorten(text: string, max: number): string {
  return codePoints(text) <= max ? text : `${firstCodePoints(text, max - 1).trimEnd()}…`;
}
