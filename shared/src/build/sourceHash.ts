import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

const ignored = /(^|\/)(node_modules|dist|\.rsbuild)(\/|$)|\.test\.tsx?$|README\.md$/;

function* filesBelow(path: string): Generator<string> {
  if (statSync(path).isFile()) {
    yield path;
    return;
  }
  for (const name of readdirSync(path).sort()) {
    const child = join(path, name);
    if (!ignored.test(child)) yield* filesBelow(child);
  }
}

/**
 * 12 hex digits over names and contents of the given files and folders (tests and READMEs aside).
 * Chunk globals derive from it, so equal sources give equal bytes.
 */
export function sourceHash(root: string, paths: string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    for (const file of filesBelow(path)) {
      hash
        .update(`${relative(root, file).replaceAll('\\', '/')}\0`)
        .update(readFileSync(file))
        .update('\0');
    }
  }
  return hash.digest('hex').slice(0, 12);
}
