// `npm test`: every check and every test, browser tests included; `pnpm test:e2e`: the browser tests alone. The last line counts what ran.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../host/server/install.mjs';
import { check } from './check.mjs';
import { browserOutcome } from './reports.mjs';
import { binary, finish, prepare, run } from './steps.mjs';

/** Runs a Playwright configuration in its folder below e2e. */
async function playwrightTests(title, folder) {
  const report = join(root, `test-results/${title.replaceAll(' ', '-')}.json`);
  rmSync(report, { force: true });
  const ok = await run(title, [binary('@playwright/test', 'playwright', 'e2e'), 'test', '-c', folder], {
    cwd: join(root, 'e2e'),
    env: { BROWSER_REPORT: report },
  });
  return browserOutcome(report, ok);
}

await prepare('chromium', 'firefox', 'webkit');
await finish([
  ...(process.argv.includes('--browsers') ? [] : await check()),
  await playwrightTests('browser tests', '.'),
  await playwrightTests('three engines', 'engines'),
]);
