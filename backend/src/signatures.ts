import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './env.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** Returns 256 random bits in base64url, for cookies and URLs. */
export const randomToken = (): string => randomBytes(32).toString('base64url');

/** Compares in constant time, also texts of different lengths. */
export function sameText(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest());
}

/** Returns the key for signatures: the configured one, or one that is created in the data directory at first start. */
export const loadAppKey = (dataDir: string, configured: string | undefined): string =>
  configured ?? loadOrCreate(join(dataDir, 'app.key'), randomToken);

const MIN_CHARACTERS = 16;

/** Returns the text of a file, which is created at first start. Throws `ConfigError` if the text is too short to be one. */
export function loadOrCreate(path: string, create: () => string): string {
  if (!existsSync(path)) {
    // atomic: a server that is killed while writing must not leave an empty file
    writeFileSync(`${path}.new`, create(), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
  const text = readFileSync(path, 'utf8').trim();
  if (text.length < MIN_CHARACTERS)
    throw new ConfigError(
      `DATA_DIR: ${path} has fewer than ${MIN_CHARACTERS} characters; delete it, and the start makes a new one`,
    );
  return text;
}
