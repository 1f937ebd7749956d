import { cpSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { reservedSegments } from '../shared/src/contract/index.ts';

const repoRoot = join(dirname(fileURLToPath(import.meta.url)), '..');

interface RegisteredRemote {
  name: string;
  label: string;
  owner: string;
  devPort: number;
}

/** Why a remote was not made, and what to do about it; nothing has been written. */
export class RefusedError extends Error {}

// first segments of the paths that host, server and the first remotes answer, and names that mean something else here
const taken = [
  ...reservedSegments,
  ...['conversations', 'email', 'explore', 'my', 'story', 'test'],
  ...['host', 'sample', 'shared', 'templates'],
];

function refuseBadName(name: string) {
  // the name becomes part of a JavaScript variable, a folder, a package and a path
  if (!/^[a-z][a-z0-9]{1,23}$/.test(name)) {
    throw new RefusedError(
      `"${name}" cannot name a remote: use 2 to 24 small letters and digits, a letter first (gifts)`,
    );
  }
  if (taken.includes(name)) throw new RefusedError(`"${name}" is taken by the product itself: choose another name`);
}

function refuseBadLabel(label: string) {
  if (!/^[\p{L}\p{N}·]{1,12}$/u.test(label)) {
    throw new RefusedError(
      `"${label}" cannot be the label: use 1 to 12 letters or digits, in Chinese as people read it (礼物)`,
    );
  }
}

function freePort(remotes: RegisteredRemote[]): number {
  const used = new Set(remotes.map((remote) => remote.devPort));
  let port = 3101;
  while (used.has(port)) port += 1;
  return port;
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesIn(path) : [path];
  });
}

/** Puts name and label where the template says `sample`, `Sample` and 样例, in texts and in file names. */
function personalise(folder: string, name: string, label: string) {
  const capitalised = name.charAt(0).toUpperCase() + name.slice(1);
  const filled = (text: string) =>
    text.replaceAll('sample', name).replaceAll('Sample', capitalised).replaceAll('样例', label);
  for (const file of filesIn(folder)) {
    writeFileSync(file, filled(readFileSync(file, 'utf8')));
    renameSync(file, join(dirname(file), filled(basename(file))));
  }
}

/**
 * Copies the template to `remotes/<name>` and registers it in `remotes.json`.
 * @throws RefusedError before anything is written, if name or label are bad or taken.
 */
export function createRemote({ root, name, label }: { root: string; name: string; label: string }): RegisteredRemote {
  refuseBadName(name);
  refuseBadLabel(label);
  const registry = join(root, 'remotes.json');
  const remotes = JSON.parse(readFileSync(registry, 'utf8')) as RegisteredRemote[];
  if (remotes.some((remote) => remote.name === name)) {
    throw new RefusedError(`remotes.json knows "${name}" already: choose another name`);
  }
  const folder = join(root, 'remotes', name);
  if (existsSync(folder)) throw new RefusedError(`remotes/${name} exists already: remove it or choose another name`);
  const remote = { name, label, owner: `${name} team`, devPort: freePort(remotes) };
  cpSync(join(repoRoot, 'templates/remote'), folder, {
    recursive: true,
    filter: (source) => !['node_modules', 'dist'].includes(basename(source)),
  });
  personalise(folder, name, label);
  writeFileSync(registry, `${JSON.stringify([...remotes, remote], null, 2)}\n`);
  return remote;
}

const nextSteps = ({
  name,
  label,
  devPort,
}: RegisteredRemote) => `remotes/${name} (${label}) is ready and registered in remotes.json.

  pnpm install                                links it into the workspace
  npx rstest run remotes/${name}
  pnpm --filter @liaozhai/${name} dev         alone at http://localhost:${devPort}, beside a running pnpm start
  pnpm start                                  in the product, at /${name} and in the list at /test/list

Then: write its README, replace the example endpoint, release it with its own token (docs/).`;

function main([name, label, ...rest]: string[]) {
  if (!name || !label || rest.length > 0) {
    console.error('usage: pnpm new-remote <name> <label>      for example: pnpm new-remote gifts 礼物');
    process.exit(2);
  }
  try {
    console.log(nextSteps(createRemote({ root: repoRoot, name, label })));
  } catch (cause) {
    if (!(cause instanceof RefusedError)) throw cause;
    console.error(cause.message);
    process.exit(1);
  }
}

const [, script] = process.argv;
if (script && import.meta.url === pathToFileURL(script).href) main(process.argv.slice(2));
