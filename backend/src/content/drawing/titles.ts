import { tales } from '../tales/index.ts';

/** Titles by story. */
export const titles = new Map(tales.map(({ id, title }) => [id, title]));
