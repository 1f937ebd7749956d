import { defineConfig } from '@playwright/test';
import { forgetSettings } from '../settings.mjs';
import type { EngineName } from './engine.ts';
import type { EngineOptions } from './test.ts';

forgetSettings();

const engine = (engineName: EngineName) => ({ name: engineName, use: { engineName } });

// Playwright only runs these tests: it cannot drive Debian's WebKit and Firefox.
export default defineConfig<object, EngineOptions>({
  testDir: '.',
  globalSetup: './product.setup.ts',
  forbidOnly: true,
  retries: 0,
  workers: 2,
  // long, so that tests pass on a busy machine
  timeout: 300_000,
  reporter: [['list'], ['json', { outputFile: process.env.BROWSER_REPORT ?? '../../test-results/engines.json' }]],
  outputDir: '../../test-results/engines',
  projects: [
    engine('chromium'),
    engine('firefox'),
    engine('webkit'),
    // only steps that involve features missing in older engines
    { name: 'webkit-older', grep: /@older/, use: { engineName: 'webkit', isOlder: true } },
  ],
});
