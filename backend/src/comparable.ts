/** Accents, but not the marks that make another letter of a Japanese or an Indian one. */
const ACCENTS = /[\u0300-\u036f]/g;

/** Words as a search compares them, without regard to width, case and accents, as 查找 of the page does. */
export const comparable = (words: string): string =>
  words.normalize('NFKD').replace(ACCENTS, '').toLowerCase().toUpperCase().normalize('NFKC');
