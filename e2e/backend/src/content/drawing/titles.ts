import { tales } from '../tales/index.ts';

/** Titles by story. */
export const titles: Record<string, string> = Object.fromEntries(tales.map(({ id, title }) => [id, title]));
