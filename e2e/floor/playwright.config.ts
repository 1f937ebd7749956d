import { defineConfig } from '@playwright/test';
import { floor } from '../../shared/src/build/floor.ts';
import engines from '../engines/playwright.config.ts';
import type { EngineOptions } from '../engines/test.ts';
import { type OldVersion, provideOldChromium } from './oldChromium.ts';

const chromium = async (version: OldVersion) => ({
  engineName: 'chromium' as const,
  executablePath: await provideOldChromium(version),
});

/** `pnpm test:floor`: runs the journey of the engine tests on the floor, and checks the page that older browsers get. */
export default defineConfig<object, EngineOptions>({
  ...engines,
  globalSetup: '../engines/product.setup.ts',
  reporter: 'list',
  outputDir: '../../test-results/floor',
  projects: [
    // ES modules run only where an import map holds their hashes, since Chrome 127
    { name: 'floor', testDir: '../engines', grepInvert: /ES modules/, use: await chromium(floor.chrome) },
    { name: 'below', use: await chromium('92') },
  ],
});
