import { defineConfig } from '@playwright/test';
import { provideTestChromium, testFlags } from './needs.ts';
import { forgetSettings } from './settings.mjs';

forgetSettings();

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 1 };
const port = process.env.E2E_PORT ?? '3987';

export default defineConfig({
  testDir: '.',
  testMatch: ['journeys/**/*.spec.ts', 'federation/**/*.spec.ts'],
  outputDir: '../test-results/browser',
  forbidOnly: true,
  retries: 0,
  workers: 2,
  // generous, so that a machine with ten times the work is no reason to fail; nothing waits for it when all is well
  timeout: 240_000,
  expect: { timeout: 40_000 },
  reporter: [['list'], ['json', { outputFile: process.env.BROWSER_REPORT ?? '../test-results/browser.json' }]],
  use: {
    baseURL: `http://localhost:${port}`,
    locale: 'zh-CN',
    timezoneId: 'Asia/Shanghai',
    // a worker answers from its own cache, past page.route; the journeys that are about it allow it
    serviceWorkers: 'block',
    ...phone,
    launchOptions: { executablePath: await provideTestChromium(), args: testFlags },
    screenshot: 'only-on-failure',
    // a trace of every test would double the run: PWTRACE=1 keeps those of failed ones
    trace: process.env.PWTRACE ? 'retain-on-failure' : 'off',
  },
  webServer: {
    command: 'node ../host/server/start.mjs --end-with-parent',
    url: `http://localhost:${port}/explore`,
    env: {
      PORT: port,
      CONSOLE_PORT: '0',
      DATA_DIR: process.env.E2E_DATA_DIR ?? 'test-results/data',
      RATE_LIMIT_REGISTER: '1000',
      RATE_LIMIT_LOGIN: '1000',
      PAYMENT_PROVIDER: 'sandbox',
      // those of this machine, which their page asks about before they run
      LOCAL_REMOTES: 'anyone',
      // nobody reads on once the tests are over
      DRAIN_SECONDS: '0',
    },
    timeout: 600_000,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 5_000 },
    reuseExistingServer: false,
  },
});
