import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, link, mkdir, open, readdir, readFile, rename, rm, stat, statfs, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { hasCode, messageOf, refused, reportUnreachable, unreachable } from '../errors.ts';
import { say } from '../sentences.ts';
import type { Entry, Pointer, Store } from './store.ts';

const SAFE_KEY = /^(?!.*(^|\/)\.\.?(\/|$))[^\\\0]+$/;
const GENERATIONS = '.generations';
const TEMPORARY = '.temporary';
const KEPT_GENERATIONS = 100;

/** Ignores errors of callers that may only read or have no room to write. */
function ignoreDenied(cause: unknown): void {
  if (!hasCode(cause, 'EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT')) throw cause;
}

/** Contents of the generation that removes a pointer. */
const REMOVED = 'removed';

/**
 * Stores objects as files below a folder. An object appears complete or not at all: it is written to a temporary file, synced and
 * linked. A pointer is a sequence of generations 1, 2, 3 …, each created by one atomic link, so there are no locks. The plain file is a
 * copy of the newest generation. The newest hundred are kept.
 */
export class FileStore implements Store {
  readonly root: string;
  readonly label: string;

  constructor(root: string) {
    this.root = resolve(root);
    this.label = `file:${root}`;
  }

  async read(key: string): Promise<Buffer | null> {
    return this.#guard(() => readOrNull(this.#path(key)));
  }

  async create(key: string, body: Uint8Array | string): Promise<boolean> {
    return this.#guard(() => this.#link(this.#path(key), body));
  }

  async readPointer(key: string): Promise<Pointer | null> {
    return this.#guard(async () => {
      const newest = await this.#newest(key);
      if (newest?.isRemoval) {
        await rm(this.#path(key), { force: true }).catch(ignoreDenied);
        return null;
      }
      if (newest) await this.#repairCopy(key, newest.body);
      return newest && { body: newest.body.toString('utf8'), tag: String(newest.generation) };
    });
  }

  async swapPointer(key: string, body: string, tag: string | null): Promise<boolean> {
    return this.#guard(async () => {
      const newest = tag === null ? await this.#newest(key) : null;
      const next = Number(tag ?? (newest?.isRemoval ? newest.generation : 0)) + 1;
      if (!(await this.#link(this.#generation(key, next), body))) return false;
      const generations = await this.#generations(key);
      const newestOutdated = Math.max(...generations) - KEPT_GENERATIONS;
      // the name was only free because an outdated generation was removed; readers use the highest and never saw this one
      if (next <= newestOutdated) {
        await rm(this.#generation(key, next), { force: true });
        return false;
      }
      await this.#guard(() => this.#updateCopy(key)).catch(reportUnreachable(key));
      await this.#removeGenerations(
        key,
        generations.filter((generation) => generation <= newestOutdated),
      );
      return true;
    });
  }

  /** Writes a generation that says so, which stays. So of a removal and a concurrent swap, only one succeeds. */
  async removePointer(key: string, tag: string): Promise<boolean> {
    return this.#guard(async () => {
      const generation = Number(tag) + 1;
      if (!(await this.#link(this.#generation(key, generation), REMOVED))) return false;
      const formerGenerations = (await this.#generations(key)).filter((each) => each < generation);
      await this.#removeGenerations(key, formerGenerations);
      await this.readPointer(key);
      return true;
    });
  }

  async list(prefix: string): Promise<string[]> {
    return this.#guard(async () => {
      const keys: string[] = [];
      for (const child of await this.children(prefix)) {
        if (child.endsWith('/')) keys.push(...(await this.list(`${prefix}${child}`)));
        else keys.push(`${prefix}${child}`);
      }
      return keys;
    });
  }

  async children(prefix: string): Promise<string[]> {
    return this.#guard(async () => {
      const entries = await readdir(this.#path(prefix), { withFileTypes: true }).catch(nullIfAbsent);
      return (entries ?? []).map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
    });
  }

  async remove(key: string): Promise<void> {
    await this.#guard(() => rm(this.#path(key), { force: true }));
  }

  async entries(prefix: string): Promise<Entry[]> {
    const keys = await this.list(prefix);
    const entries: Entry[] = [];
    for (const key of keys) {
      const { size, mtime } = (await this.#guard(() => stat(this.#path(key)).catch(nullIfAbsent))) ?? {};
      if (size !== undefined && mtime) entries.push({ key, bytes: size, at: mtime });
    }
    return entries;
  }

  async room(): Promise<number | null> {
    const disk = await this.#guard(() => statfs(this.root).catch(nullIfAbsent));
    return disk && disk.bavail * disk.bsize;
  }

  async sweep(before: Date): Promise<number> {
    return this.#guard(async () => {
      const folder = join(this.root, TEMPORARY);
      const names = (await readdir(folder).catch(nullIfAbsent)) ?? [];
      let removedFiles = 0;
      for (const name of names) {
        const stats = await stat(join(folder, name)).catch(nullIfAbsent);
        if (!stats || stats.mtime >= before) continue;
        await rm(join(folder, name), { force: true });
        removedFiles += 1;
      }
      return removedFiles;
    });
  }

  /** Time of the file system, which may be on another machine; for callers that may only read, of this machine. */
  async time(): Promise<Date> {
    return this.#guard(async () => {
      const temporaryFile = await this.#writeTemporary('').catch(ignoreDenied);
      if (!temporaryFile) return new Date();
      try {
        return (await stat(temporaryFile)).mtime;
      } finally {
        await unlink(temporaryFile);
      }
    });
  }

  #path(key: string): string {
    if (!SAFE_KEY.test(key) || key.startsWith('/')) throw refused(`"${key}" is not a key`);
    return join(this.root, key);
  }

  #generation(key: string, generation: number): string {
    return join(this.root, GENERATIONS, this.#path(key).slice(this.root.length + 1), String(generation));
  }

  async #generations(key: string): Promise<number[]> {
    const entries = await readdir(dirname(this.#generation(key, 1))).catch(nullIfAbsent);
    return (entries ?? []).map(Number).filter((generation) => generation > 0);
  }

  async #newest(key: string): Promise<{ generation: number; body: Buffer; isRemoval: boolean } | null> {
    for (;;) {
      const generation = Math.max(0, ...(await this.#generations(key)));
      if (generation === 0) return null;
      const body = await readFile(this.#generation(key, generation)).catch(nullIfAbsent);
      // null: a hundred swaps removed this generation since the listing
      if (!body) continue;
      // version 1.0.0 removed a pointer by an empty generation; next to a plain file, an empty one is damaged
      const isRemoval = body.length === 0 ? !(await exists(this.#path(key))) : body.toString('utf8') === REMOVED;
      return { generation, body, isRemoval };
    }
  }

  /** Updates the copy if a writer was killed between swap and copy. Readers without write access leave it to others. */
  async #repairCopy(key: string, newest: Buffer): Promise<void> {
    // the copy may be all that is left of an emptied file
    if (newest.length === 0 || (await readOrNull(this.#path(key)))?.equals(newest)) return;
    await this.#updateCopy(key).catch(ignoreDenied);
  }

  /** Repeats until the copy is the newest, because a slower writer may have replaced it with an older one. */
  async #updateCopy(key: string): Promise<void> {
    for (let copiedGeneration = 0; ; ) {
      const newest = await this.#newest(key);
      if (!newest || newest.isRemoval || newest.generation === copiedGeneration) return;
      await makeFolder(dirname(this.#path(key)));
      const temporaryFile = await this.#writeTemporary(newest.body);
      await rename(temporaryFile, this.#path(key)).finally(() => rm(temporaryFile, { force: true }));
      await syncFolder(dirname(this.#path(key)));
      copiedGeneration = newest.generation;
    }
  }

  /** Ignores failures, because the swap has already succeeded. The next swap tries again. */
  async #removeGenerations(key: string, generations: number[]): Promise<void> {
    await Promise.allSettled(generations.map((generation) => rm(this.#generation(key, generation), { force: true })));
  }

  async #writeTemporary(body: Uint8Array | string): Promise<string> {
    const folder = join(this.root, TEMPORARY);
    await makeFolder(folder);
    const path = join(folder, randomUUID());
    const file = await open(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, 0o644);
    try {
      await file.writeFile(body);
      await file.sync();
    } catch (cause) {
      // do not leave remains on a full disk
      await rm(path, { force: true });
      throw cause;
    } finally {
      await file.close();
    }
    return path;
  }

  async #link(path: string, body: Uint8Array | string): Promise<boolean> {
    if (await exists(path)) return false;
    const temporaryFile = await this.#writeTemporary(body);
    try {
      await makeFolder(dirname(path));
      await link(temporaryFile, path);
      await syncFolder(dirname(path));
      return true;
    } catch (cause) {
      if (hasCode(cause, 'EEXIST')) return false;
      throw cause;
    } finally {
      await unlink(temporaryFile);
    }
  }

  #guard<Result>(work: () => Promise<Result>): Promise<Result> {
    return guardFolder(this.label, work);
  }
}

const folderFaults = 'EACCES EPERM EROFS ENOSPC EDQUOT EFBIG EIO ENOENT ENOTDIR EISDIR EMFILE'.split(' ');

/** Reports faults of a folder by its name and with the cure. */
export async function guardFolder<Result>(label: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (!hasCode(cause, ...folderFaults)) throw cause;
    throw unreachable(say('storeFailed', { store: label, problem: messageOf(cause) }), say('folderCure'));
  }
}

const nullIfAbsent = (cause: unknown): null => {
  if (hasCode(cause, 'ENOENT')) return null;
  throw cause;
};

const readOrNull = (path: string): Promise<Buffer | null> =>
  readFile(path).catch((cause: unknown) => (hasCode(cause, 'EISDIR') ? null : nullIfAbsent(cause)));

const exists = async (path: string): Promise<boolean> => (await access(path).catch(nullIfAbsent)) !== null;

/** Creates a folder and its parents durably. Node's recursive `mkdir` never returns where a folder accepts no entries, as in /proc. */
export async function makeFolder(path: string): Promise<void> {
  if (await exists(path)) return;
  await makeFolder(dirname(path));
  await mkdir(path).catch((cause: unknown) => {
    // another process may have created it
    if (!hasCode(cause, 'EEXIST')) throw cause;
  });
  await syncFolder(dirname(path));
}

/** Syncs a folder, without which new names in it are not durable. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
