import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@rstest/core';
import { repoRoot } from './facts.ts';

const scratch = mkdtempSync(join(tmpdir(), 'liaozhai-reproducible-'));

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const link = (target: string, path: string) => {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path, 'junction');
};

/** Links a package's dependencies; workspace packages link to their copies below `root`. */
function linkInstalled(root: string, folder: string) {
  const installed = join(repoRoot, folder, 'node_modules');
  const names = readdirSync(installed)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => (name.startsWith('@') ? readdirSync(join(installed, name)).map((it) => `${name}/${it}`) : name));
  for (const name of names) {
    const real = name === '@liaozhai/shared' ? join(root, 'shared') : realpathSync(join(installed, name));
    link(real, join(root, folder, 'node_modules', name));
  }
}

/** Builds a remote from a copy of the sources; returns the contents of each file by path. */
async function buildIn(root: string): Promise<Record<string, string>> {
  const sources = ['remotes.json', 'pnpm-workspace.yaml', 'shared/package.json', 'shared/src'];
  const remote = ['package.json', 'rsbuild.config.ts', 'src'].map((name) => `remotes/wallet/${name}`);
  for (const path of [...sources, ...remote]) cpSync(join(repoRoot, path), join(root, path), { recursive: true });
  for (const folder of ['shared', 'remotes/wallet']) linkInstalled(root, folder);
  const cwd = join(root, 'remotes/wallet');
  const env = { ...process.env, NODE_ENV: 'production' };
  await promisify(execFile)(process.execPath, [join(cwd, 'node_modules/@rsbuild/core/bin/rsbuild.js'), 'build'], {
    cwd,
    env,
  });
  const files = readdirSync(join(cwd, 'dist'), { recursive: true, withFileTypes: true });
  // source maps are not part of a build: those of federation's modules contain the folder
  const paths = files
    .filter((file) => file.isFile() && !file.name.endsWith('.map'))
    .map((file) => join(file.parentPath, file.name));
  return Object.fromEntries(paths.sort().map((path) => [path.slice(cwd.length), readFileSync(path, 'base64')]));
}

test('the same sources result in the same bytes in every folder', async () => {
  const shallow = await buildIn(join(scratch, 'a'));
  // one letter often enough that names by letter frequency would differ
  const deep = await buildIn(join(scratch, 'a/longer/way', 'y'.repeat(200)));
  expect(Object.keys(shallow)).toContain('/dist/remoteEntry.js');
  expect(deep).toEqual(shallow);
});
