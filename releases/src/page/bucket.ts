import { createHash } from 'node:crypto';

const STEPS = 2 ** 48;

/** Where a visitor stands for a salt: 0 (inclusive) to 100 (exclusive), even over visitors, the same for ever. */
export const bucket = (visitor: string, salt: string): number =>
  (createHash('sha256').update(`${salt}:${visitor}`).digest().readUIntBE(0, 6) / STEPS) * 100;

/** A higher percentage keeps everyone who was in at a lower one. */
export const isInCandidate = (visitor: string, candidate: { salt: string; percent: number }): boolean =>
  bucket(visitor, candidate.salt) < candidate.percent;
