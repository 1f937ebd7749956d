/** A match in a text: its first code unit and the one after its last. */
export interface Found {
  start: number;
  end: number;
}

/** Accents, without the marks that form separate letters in Japanese or Indic scripts. */
const ACCENTS = /[\u0300-\u036f]/g;

/**
 * Folds one character for comparison to unaccented half-width capitals: only capitals equate ß with ss, and both small forms of Σ.
 * Returns '' for a combining mark.
 */
const foldedCharacter = (character: string): string => {
  // Chinese characters, the most frequent ones, do not change
  if (character >= '\u3400' && character <= '\u9fff') return character;
  return character.normalize('NFKD').replace(ACCENTS, '').toLowerCase().toUpperCase().normalize('NFKC');
};

/** Returns the folded text and, for each of its code units, the position of the original character. */
function folded(text: string): { words: string; places: Found[] } {
  let words = '';
  const places: Found[] = [];
  let start = 0;
  for (const character of text) {
    const end = start + character.length;
    const plain = foldedCharacter(character);
    const last = places.at(-1);
    // a combining mark extends the preceding letter
    if (plain === '' && last) last.end = end;
    const place = { start, end };
    for (let unit = 0; unit < plain.length; unit += 1) places.push(place);
    words += plain;
    start = end;
  }
  return { words, places };
}

/** Finds `wanted` in `text`, ignoring case, width and accents. Positions refer to `text`; the folded text may have another length. */
export function findAll(text: string, wanted: string): Found[] {
  const { words, places } = folded(text);
  const sought = folded(wanted).words;
  const hits: Found[] = [];
  if (sought === '') return hits;
  for (let at = words.indexOf(sought); at >= 0; at = words.indexOf(sought, at + sought.length)) {
    const [first, last] = [places[at], places[at + sought.length - 1]];
    if (first && last) hits.push({ start: first.start, end: last.end });
  }
  return hits;
}
