import { createHash } from 'node:crypto';
import { motifNames } from './drawing/motifs.ts';

/** The pictures a user can choose from. */
export const avatarUrls: string[] = motifNames.map((name) => `/api/media/avatars/${name}.svg`);

/** A new user's first picture. */
export function avatarFor(userId: string): string {
  const index = createHash('sha256').update(userId).digest().readUInt32BE() % avatarUrls.length;
  return avatarUrls[index] ?? '';
}
