const namedEntities: Record<string, string> = {
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
const partialEntityPattern = /&(?:#?\w{0,6})?$/;

const decodeEntity = (whole: string, name?: string, decimal?: string, hex?: string): string => {
  if (name) return namedEntities[name.toLowerCase()] ?? whole;
  const code = decimal ? Number(decimal) : Number.parseInt(hex ?? '', 16);
  return code > 31 ? String.fromCodePoint(code) : whole;
};

/** A text of this length is not repeated by chance. */
const SURE_CHARACTERS = 12;
/** Pieces that stay shorter than that are new words after this number, such as those of a model in a loop. */
const UNDECIDED_PIECES = 16;

/** Joins the pieces of a text. Each piece may repeat all text before it, and a gateway may have escaped it for HTML. */
export class ReceivedText {
  #emittedText = '';
  #latestPiece = '';
  /** pieces after the first that are either new words or the whole text so far; null once that is known */
  #undecidedPieces: string[] | null = [];
  #partialEntity = '';

  /** Returns the new text of the piece. */
  add(piece: string): string {
    const text = this.#partialEntity + this.#newTextOf(piece);
    this.#partialEntity = partialEntityPattern.exec(text)?.[0] ?? '';
    return text.slice(0, text.length - this.#partialEntity.length).replace(entity, decodeEntity);
  }

  /** Returns the text that was held back. */
  end(): string {
    const rest = (this.#partialEntity + this.#resolveUndecided(this.#undecidedPieces ?? [])).replace(
      entity,
      decodeEntity,
    );
    this.#partialEntity = '';
    this.#undecidedPieces = null;
    return rest;
  }

  /** At the end of a short text, three pieces that each begin with the former are repetitions, except for laughter. */
  #resolveUndecided(pieces: string[]): string {
    const latestPiece = pieces.at(-1) ?? '';
    const isRepeated = pieces.length > 1 && new Set(latestPiece).size > 1;
    return isRepeated ? latestPiece.slice(this.#emittedText.length) : pieces.join('');
  }

  #newTextOf(piece: string): string {
    if (piece === '') return '';
    const formerPiece = this.#latestPiece;
    this.#latestPiece = piece;
    // in both cases the first piece is the beginning of the text
    if (formerPiece === '') return this.#emit(piece);
    if (!this.#undecidedPieces)
      return this.#emit(this.#repeatsAll(piece) ? piece.slice(this.#emittedText.length) : piece);
    this.#undecidedPieces.push(piece);
    if (piece.startsWith(formerPiece)) {
      const isSure =
        formerPiece.length >= SURE_CHARACTERS || (this.#undecidedPieces.length > 2 && piece.length >= SURE_CHARACTERS);
      if (isSure) {
        this.#undecidedPieces = null;
        return this.#emit(piece.slice(this.#emittedText.length));
      }
      if (this.#undecidedPieces.length < UNDECIDED_PIECES) return '';
    }
    const words = this.#undecidedPieces.join('');
    this.#undecidedPieces = null;
    return this.#emit(words);
  }

  #repeatsAll = (piece: string): boolean =>
    this.#emittedText.length >= SURE_CHARACTERS &&
    piece.length >= this.#emittedText.length &&
    piece.startsWith(this.#emittedText);

  #emit(words: string): string {
    this.#emittedText += words;
    return words;
  }
}
