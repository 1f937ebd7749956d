import { formatNumber } from './numbers';

/** An amount of points: `1,234 点`, below zero with a true minus sign. */
export const formatPoints = (points: number): string => `${withMinus(points)} 点`;

/** A change of the balance, sign always shown: `+50 点`, `−3 点`; zero has none. */
export const formatSignedPoints = (points: number): string => `${points > 0 ? '+' : ''}${withMinus(points)} 点`;

// U+2212 is as wide as the plus, so that a column of figures stays even.
const withMinus = (points: number) => formatNumber(points).replace('-', '−');
