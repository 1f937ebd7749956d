// Temporary files of tests in memory: a third of the CPU of the store's tests went into writing to the disk.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
/** Tests need a tenth of it. */
const ROOM_BYTES = 2 ** 30;
const PREFIX = 'liaozhai-tests-';
/** No run takes this long: an older folder is from one that was killed. */
const OLD_MS = 3 * 3_600_000;

const remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 9 });

/** Type of a file system in memory, as statfs(2) lists it. */
const TMPFS_MAGIC = 0x01021994;

/** Whether it is in memory with room, and programs may run from there. Containers often forbid that. */
function isUsable() {
  if (!existsSync(MEMORY)) return false;
  const mounts = readFileSync('/proc/mounts', 'utf8');
  // in a chroot it is often a plain folder of /dev
  const options = [...mounts.matchAll(/^\S+ \/dev(?:\/shm)? \S+ (\S+)/gm)].at(-1)?.[1] ?? 'noexec';
  const { type, bavail, bsize } = statfsSync(MEMORY);
  return type === TMPFS_MAGIC && !/\b(?:ro|noexec)\b/.test(options) && bavail * bsize > ROOM_BYTES;
}

/** Gives this process and its children a temporary folder in memory until it ends, unless `TMPDIR` names one. */
export function keepTemporaryFilesInMemory() {
  if (process.env.TMPDIR || !isUsable()) return;
  for (const name of readdirSync(MEMORY).filter((each) => each.startsWith(PREFIX))) {
    const facts = statSync(join(MEMORY, name), { throwIfNoEntry: false });
    if (facts && facts.uid === process.getuid() && Date.now() - facts.mtimeMs > OLD_MS) remove(join(MEMORY, name));
  }
  const folder = mkdtempSync(join(MEMORY, PREFIX));
  process.env.TMPDIR = folder;
  process.on('exit', () => remove(folder));
}
