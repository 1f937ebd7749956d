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

/** So much of a text does not come twice by chance. */
const SURE_CHARACTERS = 12;

/** A text that comes in pieces, each of which may repeat all before it, and which a gateway may have escaped for HTML. */
export class ReceivedText {
  #said = '';
  #latest = '';
  /** pieces after the first that may be new words, or the whole text so far; null once that is known */
  #unsure: string[] | null = [];
  #entity = '';

  /** What is new in the piece. */
  add(piece: string): string {
    const text = this.#entity + this.#fresh(piece);
    this.#entity = entityBeginning.exec(text)?.[0] ?? '';
    return text.slice(0, text.length - this.#entity.length).replace(entity, written);
  }

  /** What was held back. */
  end(): string {
    const rest = (this.#entity + this.#atEnd(this.#unsure ?? [])).replace(entity, written);
    this.#entity = '';
    this.#unsure = null;
    return rest;
  }

  /** A short text may end while its pieces are unsure. Laughter apart, three that each begin with the former repeat it. */
  #atEnd(pieces: string[]): string {
    const latest = pieces.at(-1) ?? '';
    const isRepeated = pieces.length > 1 && new Set(latest).size > 1;
    return isRepeated ? latest.slice(this.#said.length) : pieces.join('');
  }

  #fresh(piece: string): string {
    if (piece === '') return '';
    const former = this.#latest;
    this.#latest = piece;
    // in both readings the first piece begins the text
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
