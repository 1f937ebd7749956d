import { hash, verify } from '@node-rs/argon2';

/** Argon2id, 12 MiB and three passes: OWASP's measure, and under 60 ms even on a small shared machine. */
const cost = { memoryCost: 12 * 1024, timeCost: 3, parallelism: 1 };

/** Verified for names that do not exist, so that they take as long as names that do. */
const nobody = await hash('nobody has this password', cost);

export const hashPassword = (password: string): Promise<string> => hash(password, cost);

/** @param stored the user's hash; undefined when there is no such user, which never matches. */
export async function verifyPassword(stored: string | undefined, password: string): Promise<boolean> {
  const matches = await verify(stored ?? nobody, password);
  return matches && stored !== undefined;
}
