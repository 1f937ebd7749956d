import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import Libsql from 'libsql';
import { ConfigError } from '../env.ts';

/**
 * Keeps a second server off the same data directory: it would take the first one's running replies for orphans.
 * The lock belongs to the process, so a killed server leaves none behind. Returns the release.
 */
export function lockDataDir(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true });
  const lock = new Libsql(join(dataDir, 'server.lock'), { timeout: 200 });
  try {
    lock.exec('begin exclusive');
  } catch {
    lock.close();
    throw new ConfigError(`DATA_DIR: ${dataDir} is in use by another backend; stop that one or name another directory`);
  }
  return () => lock.close();
}
