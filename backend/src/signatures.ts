import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export const hmac = (key: string, text: string): string => createHmac('sha256', key).update(text).digest('hex');

/** 256 random bits, safe in cookies and addresses. */
export const randomToken = (): string => randomBytes(32).toString('base64url');

/** Compares in constant time, also for different lengths. */
export function sameText(left: string, right: string): boolean {
  return timingSafeEqual(createHash('sha256').update(left).digest(), createHash('sha256').update(right).digest());
}

/** The key for signatures: the configured one, or one made at the first start and kept in the data directory. */
export function loadAppKey(dataDir: string, configured: string | undefined): string {
  if (configured) return configured;
  const path = join(dataDir, 'app.key');
  if (!existsSync(path)) {
    // in one step: a server killed in between would go on with an empty key
    writeFileSync(`${path}.new`, randomToken(), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }
  return readFileSync(path, 'utf8').trim();
}
