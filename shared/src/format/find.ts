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
const foldCharacter = (character: string): string => {
  // Chinese characters, the most frequent ones, do not change
  if (character >= '\u3400' && character <= '\u9fff') return character;
  return character.normalize('NFKD').replace(ACCENTS, '').toLowerCase().toUpperCase().normalize('NFKC');
};

/** Returns the folded text and, for each of its code units, the position of the original character. */
function foldText(text: string): { folded: string; positions: Found[] } {
  let folded = '';
  const positions: Found[] = [];
  let start = 0;
  for (const character of text) {
    const end = start + character.length;
    const foldedCharacter = foldCharacter(character);
    const last = positions.at(-1);
    // a combining mark extends the preceding letter
    if (foldedCharacter === '' && last) last.end = end;
    const place = { start, end };
    for (let unit = 0; unit < foldedCharacter.length; unit += 1) positions.push(place);
    folded += foldedCharacter;
    start = end;
  }
  return { folded, positions };
}

/** Finds `query` in `text`, ignoring case, width and accents. Positions refer to `text`; the folded text may have another length. */
export function findAll(text: string, query: string): Found[] {
  const { folded, positions } = foldText(text);
  const needle = foldText(query).folded;
  const matches: Found[] = [];
  if (needle === '') return matches;
  for (let at = folded.indexOf(needle); at >= 0; at = folded.indexOf(needle, at + needle.length)) {
    const [first, last] = [positions[at], positions[at + needle.length - 1]];
    if (first && last) matches.push({ start: first.start, end: last.end });
  }
  return matches;
}
