// `pnpm check`: types, lint and format, unused code, remotes, styles, texts, docs, floor, packages, images, unit tests.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../host/server/install.mjs';
import { unitOutcome } from './reports.mjs';
import { binary, finish, prepare, provideNeeds, run, skipped } from './steps.mjs';

/**
 * Page tests often wait for timers, so they share processes as threads: one process per file takes half as long again. Each thread
 * needs memory, so their number does not grow with the cores.
 */
const pageTests = ['--project', 'browser', '--pool', 'vmThreads', '--pool.maxWorkers', '8'];
/** These change no global of their process, so files share it: a process per file takes twice as long. */
const nodeTests = ['--project', 'node', '--isolate=false', '--pool.maxWorkers', '100%'];
/** These often wait for a child process, so other files run meanwhile. */
const programTests = ['--project', 'programs', '--pool.maxWorkers', '200%'];

async function unitTests(title, options, missing) {
  const report = join(root, `test-results/${title.replaceAll(' ', '-')}.json`);
  rmSync(report, { force: true });
  const ok = await run(title, [binary('@rstest/core', 'rstest'), 'run', ...options], {
    env: { UNIT_REPORT: report, MISSING_ENGINES: missing.join(' ') },
  });
  return unitOutcome(report, ok);
}

async function step(title, args, options) {
  const ok = await run(title, args, options);
  return ok ? { passed: 1, failed: 0, failures: [] } : { passed: 0, failed: 1, failures: [`✗ ${title}`] };
}

const background = { isBackground: true };

/** Each uses one core, so other checks and tests run meanwhile. */
const slowChecks = async () => [
  await step('types', ['host/server/run.mjs', 'e2e/checks/types.ts'], background),
  await step('unused code', ['node_modules/knip/bin/knip.js', '--no-progress', '--no-config-hints'], background),
];

const quickChecks = async () => [
  await step('lint and format', [binary('@biomejs/biome', 'biome'), 'check', '--error-on-warnings']),
  await step('remotes', ['host/server/run.mjs', 'e2e/checks/remotes.ts']),
  await step('texts', ['host/server/run.mjs', 'e2e/checks/texts.ts']),
  await step('docs', ['host/server/run.mjs', 'e2e/checks/docs.ts']),
  await step('floor', ['host/server/run.mjs', 'e2e/checks/floor.ts']),
];

const testsWithoutEngines = () =>
  Promise.all([
    step('images', ['host/server/run.mjs', 'e2e/checks/images.ts'], background),
    unitTests('unit tests of pages', pageTests, []),
  ]);

const testsWithEngines = async (missing) => [
  await unitTests('unit tests in Node', nodeTests, missing),
  await unitTests('tests of programs', programTests, missing),
  ...(missing.includes('chromium')
    ? ["the gate's browser check", 'npm run dev of remotes outside'].map((title) => skipped(title, 'chromium'))
    : []),
];

/**
 * Runs every check, except those that need a missing engine. `missing` is a promise of their names: checks without an engine run
 * while the engines are installed. A check that is not a test suite counts as one test.
 */
export async function check(missing) {
  const slow = slowChecks();
  const quick = await quickChecks();
  // in the background: uses one core most of the time, needs the build of the check before it, and opens pages in an engine
  const packages = missing.then(() => step('packages', ['host/server/run.mjs', 'e2e/checks/packages.ts'], background));
  const tests = [...(await testsWithoutEngines()), ...(await testsWithEngines(await missing))];
  return [...quick, ...(await slow), ...tests, await packages];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  prepare();
  await finish(await check(provideNeeds('chromium')));
}
