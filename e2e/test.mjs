// `npm test`: every check and every test, browser tests included; `pnpm test:e2e`: the browser tests alone. The last line counts what ran.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../host/server/install.mjs';
import { check } from './check.mjs';
import { binary, finish, prepare, run } from './steps.mjs';

/** Runs a Playwright configuration in its folder below e2e. */
async function playwrightTests(title, folder) {
  const report = join(root, `test-results/${title.replaceAll(' ', '-')}.json`);
  rmSync(report, { force: true });
  const ok = await run(title, [binary('@playwright/test', 'playwright', 'e2e'), 'test', '-c', folder], {
    cwd: join(root, 'e2e'),
    env: { BROWSER_REPORT: report },
  });
  if (!existsSync(report)) return { passed: 0, failed: 1 };
  const { stats, errors } = JSON.parse(readFileSync(report, 'utf8'));
  const failed = stats.unexpected + stats.flaky + stats.skipped + errors.length;
  return { passed: stats.expected, failed: ok ? failed : Math.max(failed, 1) };
}

await prepare('chromium', 'firefox', 'webkit');
const parts = [
  ...(process.argv.includes('--browsers') ? [] : [await check()]),
  await playwrightTests('browser tests', '.'),
  await playwrightTests('three engines', 'engines'),
];
const sum = (count) => parts.reduce((total, part) => total + count(part), 0);
await finish({ passed: sum((part) => part.passed), failed: sum((part) => part.failed) });
