import { join } from 'node:path';
import { defineConfig } from '@playwright/test';
import { testFlags } from '../needs.ts';
import everyday from '../playwright.config.ts';
import { type OldVersion, provideOldChromium } from './oldChromium.ts';

const old = async (name: string, version: OldVersion) => ({
  name,
  testMatch: `${name}.spec.ts`,
  use: { launchOptions: { executablePath: await provideOldChromium(version), args: testFlags } },
});

/** `pnpm test:floor`: the product in browsers of the floor's age and below, which Playwright starts but does not look into. */
export default defineConfig({
  ...everyday,
  testDir: '.',
  testMatch: '*.spec.ts',
  outputDir: '../../test-results/floor',
  reporter: 'list',
  workers: 1,
  timeout: 120_000,
  // its traces and pictures of failures need younger browsers
  use: { ...everyday.use, trace: 'off' },
  webServer: [everyday.webServer ?? []].flat().map((server) => ({ ...server, cwd: join(import.meta.dirname, '..') })),
  projects: [await old('floor', '103'), await old('below', '92')],
});
