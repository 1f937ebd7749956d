// `npm test`: all checks and tests, including browser tests. `pnpm test:e2e`: only browser tests. The last line is the count.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../host/server/install.mjs';
import { check } from './check.mjs';
import { browserOutcome } from './reports.mjs';
import { binary, finish, prepare, provideNeeds, run, skipped } from './steps.mjs';

/** Runs a Playwright configuration in its folder below e2e. */
async function playwrightTests(title, folder, args = []) {
  const report = join(root, `test-results/${title.replaceAll(' ', '-')}.json`);
  rmSync(report, { force: true });
  const ok = await run(title, [binary('@playwright/test', 'playwright', 'e2e'), 'test', '-c', folder, ...args], {
    cwd: join(root, 'e2e'),
    env: { BROWSER_REPORT: report },
  });
  return browserOutcome(report, ok);
}

async function engineTests(missing) {
  const projects = { chromium: ['chromium'], firefox: ['firefox'], webkit: ['webkit', 'webkit-older'] };
  const present = Object.keys(projects).filter((engine) => !missing.includes(engine));
  const args = present.flatMap((engine) => projects[engine]).map((project) => `--project=${project}`);
  return [
    ...(present.length > 0 ? [await playwrightTests('three engines', 'engines', args)] : []),
    ...Object.keys(projects)
      .filter((engine) => missing.includes(engine))
      .map((engine) => skipped(`the journey in ${engine}`, engine)),
  ];
}

prepare();
const needs = provideNeeds('chromium', 'chromium-headless-shell', 'firefox', 'webkit');
const checked = process.argv.includes('--browsers') ? [] : await check(needs);
const missing = await needs;
await finish([
  ...checked,
  missing.includes('chromium') ? skipped('browser tests', 'chromium') : await playwrightTests('browser tests', '.'),
  ...(await engineTests(missing)),
]);
