// `npm test`: every check and every test, browser tests included. The last line counts what ran.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../host/server/install.mjs';
import { check } from './check.mjs';
import { binary, prepare, run } from './steps.mjs';

const browserReport = join(root, 'test-results/browser.json');

function browserTests() {
  rmSync(browserReport, { force: true });
  const ok = run('browser tests', [binary('@playwright/test', 'playwright', 'e2e'), 'test'], {
    cwd: join(root, 'e2e'),
    env: { BROWSER_REPORT: browserReport },
  });
  if (!existsSync(browserReport)) return { passed: 0, failed: 1 };
  const { stats, errors } = JSON.parse(readFileSync(browserReport, 'utf8'));
  const failed = stats.unexpected + stats.flaky + stats.skipped + errors.length;
  return { passed: stats.expected, failed: ok ? failed : Math.max(failed, 1) };
}

prepare('chromium');
const checks = check();
const browser = browserTests();
const failed = checks.failed + browser.failed;
console.log(`\n${checks.passed + browser.passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
