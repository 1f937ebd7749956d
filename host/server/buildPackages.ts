import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { packageFacts, repoRoot } from '@liaozhai/shared/build/facts';
import { registeredRemotes } from '@liaozhai/shared/build/registry';
import * as v from 'valibot';
import { preload } from './endWithStarter.mjs';

interface BuiltPackage {
  name: string;
  root: string;
  dist: string;
}

// compiles every remote into the host, for the benchmarks; its output never replaces the federated one
const isMonolith = process.env.LIAOZHAI_MONOLITH === '1';

export function packagesToBuild(): BuiltPackage[] {
  const hostRoot = join(repoRoot, 'host');
  if (isMonolith) return [{ name: 'host', root: hostRoot, dist: join(hostRoot, 'dist-monolith') }];
  const packageAt = (name: string, root: string) => ({ name, root, dist: join(root, 'dist') });
  return [
    packageAt('host', hostRoot),
    ...registeredRemotes(repoRoot).map(({ name }) => packageAt(name, join(repoRoot, 'remotes', name))),
  ];
}

/** Marker file with the id of the building process. If that process has ended, the build was interrupted: `dist` is not trusted. */
const buildMarker = (root: string) => join(root, 'node_modules/.liaozhai-building');

/** A build takes half a minute; after this time the id may belong to another program. */
const MAX_BUILD_MS = 180_000;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Resolves with true if this process must build, with false once another process has built. */
export async function claimBuild(marker: string, isDone: () => boolean, onWait: () => void): Promise<boolean> {
  const deadline = performance.now() + MAX_BUILD_MS;
  for (let isFirst = true; !isDone(); isFirst = false) {
    try {
      writeFileSync(marker, String(process.pid), { flag: 'wx' });
      return true;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw cause;
    }
    const builder = existsSync(marker) ? Number(readFileSync(marker, 'utf8')) : 0;
    if (!builder || builder === process.pid || !isRunning(builder) || performance.now() > deadline) {
      writeFileSync(marker, String(process.pid));
      return true;
    }
    if (isFirst) onWait();
    await wait(200);
  }
  return false;
}

function isUpToDate({ name, root, dist }: BuiltPackage): boolean {
  const descriptionFile = join(dist, 'liaozhai.json');
  if (isMonolith || !existsSync(descriptionFile) || existsSync(buildMarker(root))) return false;
  return sourceHashIn(descriptionFile) === packageFacts(name === 'host' ? 'host' : 'remote', root).sourceHash;
}

/** Null if the description is damaged, for example by a full disk: the package is rebuilt. */
function sourceHashIn(descriptionFile: string): unknown {
  try {
    return JSON.parse(readFileSync(descriptionFile, 'utf8'))?.sourceHash ?? null;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    return null;
  }
}

function build({ name, root }: BuiltPackage): Promise<void> {
  const rsbuild = join(root, 'node_modules/@rsbuild/core/bin/rsbuild.js');
  const child = spawn(process.execPath, ['--import', preload, rsbuild, 'build'], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => {
      if (code !== 0) return reject(new Error(`Building ${name} failed:\n${output.trim()}`));
      rmSync(buildMarker(root), { force: true });
      resolve();
    });
  });
}

/** Builds what has changed since its last build, one build per core in parallel. Returns every package, built or not. */
export async function buildPackages(report: (line: string) => void): Promise<BuiltPackage[]> {
  const packages = packagesToBuild();
  const stalePackages = packages.filter((entry) => !isUpToDate(entry));
  const queue = [...stalePackages];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { name, root } = next;
      const position = stalePackages.length - queue.length;
      const onWait = () => report(`Waiting for another start, which builds ${name} …`);
      if (!(await claimBuild(buildMarker(root), () => isUpToDate(next), onWait))) continue;
      report(`Building ${name} (${position}/${stalePackages.length}) …`);
      await build(next);
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), stalePackages.length) }, worker));
  return packages;
}

/**
 * Reads the builds of the last start from the file at `path`; empty before the first. Throws, with the solution, if the file is
 * damaged: after a wrong guess, a rolled-back build could go live again.
 */
export function readLastStart(path: string): string[] {
  if (!existsSync(path)) return [];
  try {
    return v.parse(v.array(v.string()), JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    throw new Error(
      `DATA_DIR: ${path} is damaged: delete it, and the next start makes what it builds live, also what was rolled back.`,
    );
  }
}

/** Stores the builds of this start for the next one, if they changed. Throws, with the solution, if the file cannot be written. */
export function writeLastStart(path: string, builds: readonly string[]): void {
  const text = JSON.stringify(builds);
  try {
    if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
    writeFileSync(`${path}.new`, text);
    // atomically, since a kill while writing would leave a damaged file
    renameSync(`${path}.new`, path);
  } catch (cause) {
    throw new Error(
      `DATA_DIR: ${path} cannot be written (${(cause as Error).message}). Free room there, mend its rights, or name another folder`,
    );
  }
}

// `pnpm build`; compared by name, since in a bundle every module has the program's URL
if (process.argv[1]?.endsWith('buildPackages.ts')) await buildPackages(console.log);
