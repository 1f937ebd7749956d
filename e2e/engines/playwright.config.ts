import { defineConfig } from '@playwright/test';
import { forgetSettings } from '../settings.mjs';
import type { EngineName } from './engine.ts';
import type { EngineOptions } from './test.ts';

forgetSettings();

const engine = (engineName: EngineName) => ({ name: engineName, use: { engineName } });

// Playwright is the runner here and drives no browser: it has none for Debian's WebKit and Firefox.
export default defineConfig<object, EngineOptions>({
  testDir: '.',
  globalSetup: './product.setup.ts',
  forbidOnly: true,
  retries: 0,
  workers: 2,
  // generous, so that a busy machine is no reason to fail
  timeout: 300_000,
  reporter: [['list'], ['json', { outputFile: process.env.BROWSER_REPORT ?? '../../test-results/engines.json' }]],
  outputDir: '../../test-results/engines',
  projects: [
    engine('chromium'),
    engine('firefox'),
    engine('webkit'),
    // the steps that met what older engines lack
    { name: 'webkit-older', grep: /@older/, use: { engineName: 'webkit', isOlder: true } },
  ],
});
