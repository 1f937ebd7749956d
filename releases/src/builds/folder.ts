import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, refused } from '../errors.ts';

interface Stamp {
  /** bytes */
  size: number;
  stamp: string;
}

async function pathsBelow(folder: string, subfolder = ''): Promise<string[]> {
  const entries = await readdir(join(folder, subfolder), { withFileTypes: true });
  const paths = await Promise.all(
    entries.map(async (entry) => {
      const path = subfolder ? `${subfolder}/${entry.name}` : entry.name;
      // Vite writes its own manifest there, for servers
      if (path === '.vite') return [];
      if (entry.isDirectory()) return pathsBelow(folder, path);
      if (entry.isFile()) return [path];
      throw refused(
        `${path} is a symbolic link or a special file`,
        'Builds hold plain files only: copy the file itself.',
      );
    }),
  );
  return paths.flat().sort();
}

/** Path inside the folder → size, and a stamp that differs after the file was rewritten. */
async function stampsOf(folder: string): Promise<Map<string, Stamp>> {
  const stamps = new Map<string, Stamp>();
  for (const path of await pathsBelow(folder)) {
    const { size, mtimeMs, ino } = await lstat(join(folder, path));
    stamps.set(path, { size, stamp: `${path} ${size} ${mtimeMs} ${ino}` });
  }
  return stamps;
}

/** Runs `read` with the folder's files, by path inside the folder. Throws refused if any of them changed meanwhile. */
export async function readAtRest<Result>(
  folder: string,
  read: (files: ReadonlyMap<string, { size: number }>) => Promise<Result>,
): Promise<Result> {
  const changedError = () =>
    refused(`${folder} changed while it was read`, 'Publish it again once nothing writes there any more.');
  try {
    const before = await stampsOf(folder);
    const result = await read(before);
    const stamps = [before, await stampsOf(folder)].map((each) => [...each.values()].map(({ stamp }) => stamp).join());
    if (stamps[0] !== stamps[1]) throw changedError();
    return result;
  } catch (cause) {
    throw hasCode(cause, 'ENOENT', 'ENOTDIR') ? changedError() : cause;
  }
}
