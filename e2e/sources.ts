import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { preload } from '../host/server/endWithStarter.mjs';
import { ended, freePort, root, started } from './product.ts';

const copiedFiles = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'remotes.json'];
const copiedFolders = ['backend', 'host', 'releases', 'remotes', 'shared'];
const ignoredNames = new Set(['dist', 'dist-monolith', '.cache', '.bin', 'content']);

/** A copy of the sources that a test edits while dev servers compile it. It shares the installed packages. */
export interface Sources {
  /** Replaces the first match of `from` in the file's original text. Throws without a match. */
  edit(file: string, from: string | RegExp, to: string): void;
  /** Runs `pnpm dev` with that product's backend. Returns its origin. */
  dev(backend: string): Promise<string>;
  /** Runs a remote's `pnpm dev` or `pnpm dev:inside` with that product's backend. Returns its origin. */
  devOf(remote: string, mode: 'alone' | 'inside', backend: string): Promise<string>;
  /** Stops every dev server and restores every file. */
  reset(): Promise<void>;
  remove(): void;
}

export async function copySources(): Promise<Sources> {
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-sources-'));
  const isSource = (path: string) => !ignoredNames.has(basename(path)) && !/\.test\.tsx?$/.test(path);
  for (const name of [...copiedFiles, ...copiedFolders])
    cpSync(join(root, name), join(folder, name), { recursive: true, verbatimSymlinks: true, filter: isSource });
  // a package's links are relative to it, or lead to another package of the copy
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  const originals = new Map<string, string>();
  const running = new Set<ChildProcess>();

  const launch = async (cwd: string, args: string[], port: number, env: Record<string, string>) => {
    const child = spawn(process.execPath, ['--import', preload, ...args], {
      cwd: join(folder, cwd),
      env: { ...process.env, ...env },
      // the dev server exits when the IPC channel closes, so also if the test runner is killed
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    running.add(child);
    if (!child.stdout) throw new Error('the dev server has no output to read');
    await started(child, child.stdout, 'built in', 'the dev server');
    return `http://localhost:${port}`;
  };

  return {
    edit(file, from, to) {
      const original = originals.get(file) ?? readFileSync(join(folder, file), 'utf8');
      originals.set(file, original);
      const edited = original.replace(from, to);
      if (edited === original) throw new Error(`${file} has no ${from}: name in this test what stands there now`);
      writeFileSync(join(folder, file), edited);
    },
    async dev(backend) {
      const port = await freePort();
      const env = { PORT: String(port), BACKEND_URL: backend, DATA_DIR: join(folder, '.data') };
      return launch('.', ['host/server/start.mjs', '--dev'], port, env);
    },
    async devOf(remote, mode, backend) {
      const port = await freePort();
      const registry = join(folder, 'remotes.json');
      const remotes = JSON.parse(readFileSync(registry, 'utf8')) as { name: string; devPort: number }[];
      const movedRemotes = remotes.map((each) => (each.name === remote ? { ...each, devPort: port } : each));
      writeFileSync(registry, JSON.stringify(movedRemotes));
      const args = ['node_modules/@rsbuild/core/bin/rsbuild.js', 'dev'];
      if (mode === 'inside') args.push('--env-mode', 'inside');
      return launch(`remotes/${remote}`, args, port, { BACKEND_URL: backend });
    },
    async reset() {
      for (const child of running) await ended(child, 'SIGTERM');
      running.clear();
      for (const [file, original] of originals) writeFileSync(join(folder, file), original);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
