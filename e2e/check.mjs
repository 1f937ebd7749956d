// `pnpm check`: types, lint and format, remotes, styles, docs, what was built, unit tests.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../host/server/install.mjs';
import { binary, finish, prepare, run } from './steps.mjs';

const unitReport = join(root, 'test-results/unit.json');

async function unitTests() {
  rmSync(unitReport, { force: true });
  const ok = await run('unit tests', [binary('@rstest/core', 'rstest'), 'run'], { env: { UNIT_REPORT: unitReport } });
  // it died before it could count
  if (!existsSync(unitReport)) return { passed: 0, failed: 1 };
  const { summary } = JSON.parse(readFileSync(unitReport, 'utf8'));
  const { passedTests: passed, failedTests, skippedTests, todoTests } = summary;
  const failed = failedTests + skippedTests + todoTests;
  // a file that does not even load has no test to count
  return { passed, failed: ok ? failed : Math.max(failed, 1) };
}

/** Runs every check on a prepared machine; each of the six that are no test suites counts as one. */
export async function check() {
  const outcomes = [
    await run('types', [binary('typescript', 'tsc'), '--noEmit', '-p', 'tsconfig.json']),
    await run('lint and format', [binary('@biomejs/biome', 'biome'), 'check', '--error-on-warnings']),
    await run('remotes', ['--import', 'tsx', 'e2e/checks/remotes.ts']),
    await run('styles', ['--import', 'tsx', 'e2e/checks/styles.ts']),
    await run('docs', ['--import', 'tsx', 'e2e/checks/docs.ts']),
    await run('floor', ['--import', 'tsx', 'e2e/checks/floor.ts']),
  ];
  const unit = await unitTests();
  const passed = outcomes.filter(Boolean).length;
  return { passed: passed + unit.passed, failed: outcomes.length - passed + unit.failed };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await prepare('chromium');
  await finish(await check());
}
