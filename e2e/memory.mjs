// Temporary files of tests in memory: a third of the CPU of the store's tests went into writing to the disk.
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Tests need a tenth of it. */
const ROOM_BYTES = 2 ** 30;

/** Whether there is room, and programs may run from there. Containers often forbid either. */
function isUsable() {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8') : '';
  const [, options = 'noexec'] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(mounts) ?? [];
  if (/\b(?:ro|noexec)\b/.test(options)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ROOM_BYTES;
}

/** Gives this process and its children a temporary folder in memory until it ends, unless `TMPDIR` names one. */
export function keepTemporaryFilesInMemory() {
  if (process.env.TMPDIR || !isUsable()) return;
  const folder = mkdtempSync(join(MEMORY, 'liaozhai-tests-'));
  process.env.TMPDIR = folder;
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 9 }));
}
