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
/** Characters that are broken, private or invisible, or that turn the text round. Emoji and some scripts need the excepted ones. */
const unfitCharacter =
  /(?![\t\n\r\p{Join_Control}\p{Variation_Selector}])[\p{Cc}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}\ufff9-\uffff]/gu;

const decodeEntity = (whole: string, name?: string, decimal?: string, hex?: string): string => {
  if (name) return namedEntities[name.toLowerCase()] ?? whole;
  const code = decimal ? Number(decimal) : Number.parseInt(hex ?? '', 16);
  return String.fromCodePoint(code);
};

/** A text of this length is not repeated by chance. */
const SURE_CHARACTERS = 12;
/** Pieces that stay shorter than that are new words after this number, such as those of a model in a loop. */
const UNDECIDED_PIECES = 16;

/**
 * Joins the pieces of a text and removes unfit characters. Each piece may repeat all text before it, and a gateway may have
 * escaped it for HTML.
 */
export class ReceivedText {
  #emittedText = '';
  #latestPiece = '';
  /** pieces after the first that are either new words or the whole text so far; null once that is known */
  #undecidedPieces: string[] | null = [];
  /** half of a surrogate pair, and an entity without its end */
  #partialCharacter = '';
  #length = 0;
  #brokenCount = 0;

  /** Whether more than a tenth of the text was lost: it has another encoding, or comes from a broken model. */
  get isGarbled(): boolean {
    return this.#brokenCount > this.#length / 10;
  }

  /** Returns the new text of the piece. */
  add(piece: string): string {
    const text = this.#partialCharacter + this.#newTextOf(piece);
    const partialEntity = partialEntityPattern.exec(text)?.[0] ?? '';
    const decoded = text.slice(0, text.length - partialEntity.length).replace(entity, decodeEntity);
    const halfPair = /[\ud800-\udbff]?$/.exec(decoded)?.[0] ?? '';
    this.#partialCharacter = halfPair + partialEntity;
    return this.#clean(decoded.slice(0, decoded.length - halfPair.length));
  }

  /** Returns the text that was held back. */
  end(): string {
    const rest = this.#partialCharacter + this.#resolveUndecided(this.#undecidedPieces ?? []);
    this.#partialCharacter = '';
    this.#undecidedPieces = null;
    return this.#clean(rest.replace(entity, decodeEntity));
  }

  #clean(text: string): string {
    this.#length += text.length;
    this.#brokenCount += text.split('\ufffd').length - 1;
    return text.replace(unfitCharacter, '');
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
