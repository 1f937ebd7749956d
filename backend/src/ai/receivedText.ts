const named: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ldquo: '“',
  rdquo: '”',
  lsquo: '‘',
  rsquo: '’',
  hellip: '…',
  mdash: '—',
  middot: '·',
};
const entity = /&(?:(\w{2,6})|#(\d{1,6})|#x([\da-f]{1,5}));/gi;
const entityBeginning = /&(?:#?\w{0,6})?$/;

const written = (whole: string, name?: string, decimal?: string, hex?: string): string => {
  if (name) return named[name.toLowerCase()] ?? whole;
  const code = decimal ? Number(decimal) : Number.parseInt(hex ?? '', 16);
  return code > 31 ? String.fromCodePoint(code) : whole;
};

/** A text of this length is not repeated by chance. */
const SURE_CHARACTERS = 12;

/** Joins the pieces of a text. Each piece may repeat all text before it, and a gateway may have escaped it for HTML. */
export class ReceivedText {
  #said = '';
  #latest = '';
  /** pieces after the first that are either new words or the whole text so far; null once that is known */
  #unsure: string[] | null = [];
  #entity = '';

  /** Returns the new text of the piece. */
  add(piece: string): string {
    const text = this.#entity + this.#fresh(piece);
    this.#entity = entityBeginning.exec(text)?.[0] ?? '';
    return text.slice(0, text.length - this.#entity.length).replace(entity, written);
  }

  /** Returns the text that was held back. */
  end(): string {
    const rest = (this.#entity + this.#atEnd(this.#unsure ?? [])).replace(entity, written);
    this.#entity = '';
    this.#unsure = null;
    return rest;
  }

  /** At the end of a short text, three pieces that each begin with the former are repetitions, except for laughter. */
  #atEnd(pieces: string[]): string {
    const latest = pieces.at(-1) ?? '';
    const isRepeated = pieces.length > 1 && new Set(latest).size > 1;
    return isRepeated ? latest.slice(this.#said.length) : pieces.join('');
  }

  #fresh(piece: string): string {
    if (piece === '') return '';
    const former = this.#latest;
    this.#latest = piece;
    // in both cases the first piece is the beginning of the text
    if (former === '') return this.#say(piece);
    if (!this.#unsure) return this.#say(this.#isWhole(piece) ? piece.slice(this.#said.length) : piece);
    if (piece.startsWith(former)) {
      this.#unsure.push(piece);
      const isSure = former.length >= SURE_CHARACTERS || (this.#unsure.length > 2 && piece.length >= SURE_CHARACTERS);
      if (!isSure) return '';
      this.#unsure = null;
      return this.#say(piece.slice(this.#said.length));
    }
    const words = [...this.#unsure, piece].join('');
    this.#unsure = null;
    return this.#say(words);
  }

  #isWhole = (piece: string): boolean =>
    this.#said.length >= SURE_CHARACTERS && piece.length >= this.#said.length && piece.startsWith(this.#said);

  #say(words: string): string {
    this.#said += words;
    return words;
  }
}
