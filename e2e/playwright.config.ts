import { defineConfig } from '@playwright/test';
import { provideTestChromium, testFlags } from './needs.ts';
import { forgetSettings } from './settings.mjs';

forgetSettings();
// for the workers, too
process.env.E2E_DATA_DIR ??= 'test-results/data';

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 1 };
const port = process.env.E2E_PORT ?? '3987';

export default defineConfig({
  testDir: '.',
  testMatch: ['journeys/**/*.spec.ts', 'federation/**/*.spec.ts'],
  outputDir: '../test-results/browser',
  forbidOnly: true,
  retries: 0,
  workers: 3,
  // long enough for a machine that is ten times slower; a passing test does not wait for it
  timeout: 240_000,
  expect: { timeout: 40_000 },
  reporter: [['list'], ['json', { outputFile: process.env.BROWSER_REPORT ?? '../test-results/browser.json' }]],
  use: {
    baseURL: `http://localhost:${port}`,
    locale: 'zh-CN',
    timezoneId: 'Asia/Shanghai',
    // a service worker answers from its cache, which bypasses `page.route`; its own journeys allow it
    serviceWorkers: 'block',
    ...phone,
    launchOptions: { executablePath: await provideTestChromium(), args: testFlags },
    screenshot: 'only-on-failure',
    // traces would double the duration: `PWTRACE=1` stores those of failed tests
    trace: process.env.PWTRACE ? 'retain-on-failure' : 'off',
  },
  webServer: {
    command: 'node ../host/server/start.mjs --end-with-parent',
    url: `http://localhost:${port}/explore`,
    env: {
      PORT: port,
      CONSOLE_PORT: '0',
      DATA_DIR: process.env.E2E_DATA_DIR,
      RATE_LIMIT_REGISTER: '1000',
      RATE_LIMIT_LOGIN: '1000',
      PAYMENT_PROVIDER: 'sandbox',
      // remotes on this machine, which a page runs only after confirmation
      LOCAL_REMOTES: 'anyone',
      // connections need no draining after the tests
      DRAIN_SECONDS: '0',
    },
    timeout: 600_000,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 5_000 },
    reuseExistingServer: false,
  },
});
