/** A place in a text: the first code unit of what was found, and the one after its last. */
export interface Found {
  start: number;
  end: number;
}

/** Accents, but not the marks that make another letter of a Japanese or an Indian one. */
const ACCENTS = /[\u0300-\u036f]/g;

/**
 * One character as it is compared: its plain, half-width capitals, which alone are the same for ß and ss, and for both small
 * letters of Σ. Empty for a mark alone.
 */
const foldedCharacter = (character: string): string => {
  // most are Chinese, and stay as they are
  if (character >= '\u3400' && character <= '\u9fff') return character;
  return character.normalize('NFKD').replace(ACCENTS, '').toLowerCase().toUpperCase().normalize('NFKC');
};

/** A text as it is compared, and for each of its code units the place of the character in the text that it comes from. */
function folded(text: string): { words: string; places: Found[] } {
  let words = '';
  const places: Found[] = [];
  let start = 0;
  for (const character of text) {
    const end = start + character.length;
    const plain = foldedCharacter(character);
    const last = places.at(-1);
    // a mark alone belongs to the letter before it
    if (plain === '' && last) last.end = end;
    const place = { start, end };
    for (let unit = 0; unit < plain.length; unit += 1) places.push(place);
    words += plain;
    start = end;
  }
  return { words, places };
}

/**
 * Where `wanted` stands in `text`, without regard to case, width and accents. The folded text may be longer or shorter than the text
 * itself; the places are those in the text itself.
 */
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
