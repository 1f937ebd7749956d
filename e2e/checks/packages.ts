// What a team without this repository gets works for it: the packages are packed, looked at as a registry and a type checker
// see them, and installed into an empty folder, in which a new remote type-checks, passes its test and builds.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { problemKindInfo } from '@arethetypeswrong/core/problems';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { readPackage } from '../../releases/src/builds/publish.ts';
import { packPackages } from '../../templates/packages/pack.ts';
import { report } from './report.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const problems: string[] = [];

/** What publint, who looks as a registry and bundlers do, has to say. */
async function lint(tarball: string) {
  const data = readFileSync(tarball);
  const pack = { tarball: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) };
  const { messages, pkg } = await publint({ pack, strict: true });
  for (const message of messages)
    problems.push(`${basename(tarball)}: ${formatMessage(message, pkg ?? {}, { color: false })}`);
}

/** What the type checker finds, as ES modules: there is no CommonJS in the packages. */
async function checkTypes(tarball: string) {
  const result = await checkPackage(createPackageFromTarballData(new Uint8Array(readFileSync(tarball))), {
    excludeEntrypoints: [/\.css$/],
  });
  if (!result.types) return problems.push(`${basename(tarball)} has no types`);
  for (const problem of result.problems) {
    const resolution =
      'resolutionKind' in problem
        ? problem.resolutionKind
        : 'resolutionOption' in problem
          ? problem.resolutionOption
          : '';
    if (['node10', 'node16-cjs'].includes(resolution)) continue;
    const entry = 'entrypoint' in problem ? problem.entrypoint : JSON.stringify(problem);
    problems.push(`${basename(tarball)}: ${problemKindInfo[problem.kind].description} (${entry}, ${resolution})`);
  }
}

/** Runs a command as a stranger would, without anything of this repository in its environment. */
function run(title: string, cwd: string, command: string, words: string[]): boolean {
  const { NODE_OPTIONS: _ours, ...environment } = process.env;
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd,
    encoding: 'utf8',
    env: environment,
    shell: process.platform === 'win32',
  });
  if (status !== 0) problems.push(`${title} fails outside of the repository:\n${stdout}${stderr}`);
  return status === 0;
}

async function checkAsStranger(tarballs: Record<string, string>, packages: string, folder: string) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { packageManager: string };
  const install = ['--yes', packageManager, 'install', '--prefer-offline', '--ignore-scripts'];
  const creator = join(folder, 'creator');
  mkdirSync(creator);
  const dependencies = { 'create-liaozhai-remote': `file:${tarballs['create-liaozhai-remote']}` };
  writeFileSync(join(creator, 'package.json'), JSON.stringify({ private: true, dependencies }));
  if (!run('installing create-liaozhai-remote', creator, 'npx', install)) return;
  const words = ['gifts', '礼物', '--folder', join(folder, 'gifts'), '--packages', packages];
  const script = join(creator, 'node_modules/create-liaozhai-remote/dist/newRemote.js');
  if (!run('create-liaozhai-remote', creator, process.execPath, [script, ...words])) return;
  const remote = join(folder, 'gifts');
  if (!run('installing the packages', remote, 'npx', install)) return;
  const bin = (name: string) => join(remote, 'node_modules/.bin', name);
  run('the type check', remote, bin('tsc'), []);
  run('the test', remote, bin('rstest'), ['run']);
  run('the command line', remote, bin('liaozhai-release'), ['--help']);
  if (!run('the build', remote, bin('rsbuild'), ['build'])) return;
  run('the check of old browsers', remote, bin('liaozhai-floor'), []);
  await readPackage(join(remote, 'dist')).catch((cause: unknown) =>
    problems.push(`the release system refuses what was built: ${cause}`),
  );
}

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-stranger-'));
try {
  const packages = join(folder, 'packages');
  const tarballs = packPackages(packages);
  for (const tarball of Object.values(tarballs)) {
    await lint(tarball);
    await checkTypes(tarball);
  }
  await checkAsStranger(tarballs, packages, folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
report('packages', problems);
