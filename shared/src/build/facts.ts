import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceHash } from './sourceHash.ts';

export const sharedRoot = join(dirname(fileURLToPath(import.meta.url)), '../..');
export const repoRoot = join(sharedRoot, '..');

export interface PackageFacts {
  root: string;
  version: string;
  /** 12 hex digits over everything that ends up in the package's bytes */
  sourceHash: string;
}

// a remote bundles the stateless rooms of shared; the host the stateful one too
const bundledRooms = {
  remote: ['contract', 'ui', 'format', 'build'],
  host: ['contract', 'runtime', 'ui', 'format', 'build'],
};

/** Facts of a package that is about to be built; cheap enough to ask before every start. */
export function packageFacts(kind: 'host' | 'remote', root: string): PackageFacts {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const own = ['src', 'public', 'package.json', 'rsbuild.config.ts'].map((path) => join(root, path)).filter(existsSync);
  const rooms = bundledRooms[kind].map((room) => join(sharedRoot, 'src', room));
  const versions = join(repoRoot, 'pnpm-workspace.yaml');
  return { root, version, sourceHash: sourceHash(repoRoot, [...own, ...rooms, versions]) };
}
