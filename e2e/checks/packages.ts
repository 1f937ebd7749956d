// Checks that the published packages work for a team without this repository. The packed packages are checked as a registry and a
// type checker see them. New remotes of each bundler then install them in an empty folder, type-check, test and build.
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { problemKindInfo } from '@arethetypeswrong/core/problems';
import { findChromium } from '@liaozhai/releases/chromium';
import { type Browser, chromium } from 'playwright';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { readPackage } from '../../releases/src/builds/package.ts';
import { bundlers } from '../../templates/newRemote.ts';
import { packPackages } from '../../templates/packages/pack.ts';
import { testFlags } from '../needs.ts';
import { freePort } from '../product.ts';
import { markers } from '../sharedLibraries.ts';
import { report } from './report.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const problems: string[] = [];
const DEV_START_MS = 60_000;

/** Collects the problems that publint finds in a package. */
async function lint(tarball: string) {
  const data = readFileSync(tarball);
  const pack = { tarball: data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) };
  const { messages, pkg } = await publint({ pack, strict: true });
  for (const message of messages)
    problems.push(`${basename(tarball)}: ${formatMessage(message, pkg ?? {}, { color: false })}`);
}

/** Checks the types for ES modules only, because the packages contain no CommonJS. */
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

/** Runs a command without settings of this repository in its environment. */
async function run(title: string, cwd: string, command: string, words: string[], settings = {}): Promise<boolean> {
  const { NODE_OPTIONS: _ours, ...environment } = process.env;
  const env = { ...environment, ...settings };
  const child = spawn(command, words, { cwd, env, shell: process.platform === 'win32' });
  let said = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (text) => (said += text));
  const status = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (status !== 0) problems.push(`${title} fails outside of the repository:\n${said}`);
  return status === 0;
}

/** Builds a remote as its README says, and checks that the release system and the host accept the result. */
async function checkRemote(remote: string, bundler: string) {
  const bin = (name: string) => join(remote, 'node_modules/.bin', name);
  await run(`the type check with ${bundler}`, remote, bin('tsc'), []);
  if (!(await run(`the build with ${bundler}`, remote, bin(bundler), bundler === 'webpack' ? [] : ['build']))) return;
  await run(`the check of old browsers with ${bundler}`, remote, bin('liaozhai-floor'), ['dist']);
  await readPackage(join(remote, 'dist')).catch((cause: unknown) =>
    problems.push(`the release system refuses what ${bundler} built: ${cause}`),
  );
  for (const file of readdirSync(join(remote, 'dist'), { encoding: 'utf8', recursive: true })) {
    if (!file.endsWith('.js')) continue;
    const text = readFileSync(join(remote, 'dist', file), 'utf8');
    for (const [library, marker] of Object.entries(markers))
      if (text.includes(marker))
        problems.push(`${bundler} builds ${library} into ${file}, which only the host carries`);
  }
}

/**
 * Checks that `npm run dev` shows the remote, and edits of its style and texts without a reload, under the product's policy. A page
 * of another remote says where it is.
 */
async function checkDev(browser: Browser, remote: string, bundler: string, port: number) {
  const fault = (what: string) => problems.push(`npm run dev with ${bundler} ${what}`);
  const config = ['rsbuild.config.mjs', 'webpack.config.mjs', 'vite.config.mjs']
    .map((name) => join(remote, name))
    .find(existsSync);
  if (!config) return fault('has no configuration');
  writeFileSync(config, readFileSync(config, 'utf8').replace('devPort: 3101', `devPort: ${port}`));
  const bin = join(remote, 'node_modules/.bin', bundler);
  const words = { rsbuild: ['dev'], webpack: ['serve', '--env', 'dev=alone'], vite: [] }[bundler] ?? [];
  const server = spawn(bin, words, { cwd: remote, env: { ...process.env, BACKEND_URL: 'http://localhost:9' } });
  let said = '';
  for (const output of [server.stdout, server.stderr]) output.on('data', (text) => (said += text));
  const page = await browser.newPage();
  page.on('pageerror', (error) => fault(`has an error in the page: ${error.message}`));
  try {
    const address = `http://localhost:${port}/${bundler}`;
    const headers = { accept: 'text/html' };
    const until = Date.now() + DEV_START_MS;
    const isUp = () =>
      fetch(address, { headers }).then(
        ({ ok }) => ok,
        () => false,
      );
    while (!(await isUp()) && Date.now() < until) await pause(200);
    await page.goto(address);
    await page.getByRole('heading', { name: '礼物' }).waitFor({ timeout: DEV_START_MS });
    const isRefused = await page.evaluate(() => {
      try {
        document.createElement('div').innerHTML = '';
        return false;
      } catch {
        return true;
      }
    });
    if (!isRefused) fault('does not hold the policy of the product');
    const opened = await page.evaluate(() => performance.timeOrigin);
    const texts = join(remote, 'src/texts.ts');
    writeFileSync(texts, readFileSync(texts, 'utf8').replace('礼物', '礼物（改）'));
    await page.getByRole('heading', { name: '礼物（改）' }).waitFor({ timeout: DEV_START_MS });
    const style = readdirSync(join(remote, 'src/pages')).find((name) => name.endsWith('.css')) ?? '';
    appendFileSync(join(remote, 'src/pages', style), '\nbody { letter-spacing: 7px; }\n');
    await page.waitForFunction(() => getComputedStyle(document.body).letterSpacing === '7px', null, {
      timeout: DEV_START_MS,
    });
    if ((await page.evaluate(() => performance.timeOrigin)) !== opened)
      fault(`loads the page again for an edit\n${said.slice(-2000)}`);
    await page.goto(`http://localhost:${port}/story/s-7`);
    await page.getByText('/story/s-7 不在这个功能里').waitFor({ timeout: DEV_START_MS });
  } catch (cause) {
    fault(`does not get there: ${(cause as Error).message}\n${said.slice(-2000)}`);
  } finally {
    await page.close();
    server.kill();
  }
}

async function checkAsStranger(tarballs: Record<string, string>, packages: string, folder: string) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { packageManager: string };
  const install = ['--yes', packageManager, 'install', '--prefer-offline', '--ignore-scripts'];
  const creator = join(folder, 'creator');
  mkdirSync(creator);
  const dependencies = { 'create-liaozhai-remote': `file:${tarballs['create-liaozhai-remote']}` };
  writeFileSync(join(creator, 'package.json'), JSON.stringify({ private: true, dependencies }));
  if (!(await run('installing create-liaozhai-remote', creator, 'npx', install))) return;
  const script = join(creator, 'node_modules/create-liaozhai-remote/dist/newRemote.js');
  await run('create-liaozhai-remote --help', creator, process.execPath, [script, '--help']);
  const registry = { npm_config_registry: 'https://npm.example/' };
  await run('create-liaozhai-remote from a registry', creator, process.execPath, [script, 'gifts', '礼物'], registry);
  const settings = join(creator, 'gifts/.npmrc');
  if (!existsSync(settings) || readFileSync(settings, 'utf8') !== '@liaozhai:registry=https://npm.example/\n')
    problems.push('create-liaozhai-remote does not name the registry that it came from');
  // one installation for all of them takes a third of the time
  const together = join(folder, 'remotes');
  mkdirSync(together);
  writeFileSync(join(together, 'pnpm-workspace.yaml'), "packages: ['*']\n");
  for (const bundler of bundlers) {
    const words = [bundler, '礼物', '--bundler', bundler, '--folder', join(together, bundler), '--packages', packages];
    if (!(await run(`create-liaozhai-remote with ${bundler}`, together, process.execPath, [script, ...words]))) return;
  }
  // a clone has only what is in the repository
  rmSync(packages, { recursive: true });
  if (!(await run('installing the packages', together, 'npx', install))) return;
  await Promise.all(bundlers.map((bundler) => checkRemote(join(together, bundler), bundler)));
  const path = await findChromium();
  if (path) {
    const browser = await chromium.launch({ executablePath: path, args: testFlags });
    await Promise.all(
      bundlers.map(async (bundler) => checkDev(browser, join(together, bundler), bundler, await freePort())),
    );
    await browser.close();
  }
  // neither depends on the bundler
  const bin = (name: string) => join(together, 'rsbuild/node_modules/.bin', name);
  await run('the test', join(together, 'rsbuild'), bin('rstest'), ['run']);
  await run('the command line', join(together, 'rsbuild'), bin('liaozhai-release'), ['--help']);
}

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-stranger-'));
try {
  const packages = join(folder, 'packages');
  const tarballs = await packPackages(packages);
  for (const tarball of Object.values(tarballs)) {
    await lint(tarball);
    await checkTypes(tarball);
  }
  await checkAsStranger(tarballs, packages, folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
report('packages', problems);
