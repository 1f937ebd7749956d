import { pluginReact } from '@rsbuild/plugin-react';
import { defineConfig } from '@rstest/core';
import { keepTemporaryFilesInMemory } from './e2e/memory.mjs';
import { forgetSettings } from './e2e/settings.mjs';

// generous, so that a machine with ten times the work is no reason to fail; nothing waits for it when all is well (projects do not inherit it)
const timeouts = { testTimeout: 180_000, hookTimeout: 180_000, expect: { poll: { timeout: 30_000 } } };

// what Node itself takes: the ES modules of some packages (OpenTelemetry) are for bundlers alone
const resolve = { conditionNames: ['node', 'import', 'default'], mainFields: ['main'] };

// Folders whose tests start programs, servers, browsers or builds.
const programs =
  '{host/server,backend/{conformance,test},releases/{cli,console/server,src/{gate,store}},e2e/security,templates}/**/*.test.ts';

// Set by `npm test` on a machine without Chromium, where it reports the file as skipped.
const isWithoutChromium = process.env.MISSING_ENGINES?.split(' ').includes('chromium') ?? false;

// `pnpm test:unit` runs the first two projects, which share nothing with the machine; `pnpm test` runs all three.
// one test of reverb.publish is for the Reverb that a shell names
forgetSettings(process.env, (name) => name.startsWith('REVERB_'));
// React of production has no act()
process.env.NODE_ENV = 'test';
keepTemporaryFilesInMemory();

export default defineConfig({
  // the count of `npm test` comes from this report
  reporters: process.env.UNIT_REPORT ? ['default', ['json', { outputPath: process.env.UNIT_REPORT }]] : ['default'],
  projects: [
    {
      name: 'browser',
      ...timeouts,
      include: ['{host/src,remotes/*/src,shared/src,releases/console/src,templates/remote/src}/**/*.test.{ts,tsx}'],
      exclude: ['shared/src/{build,floorCheck}/**'],
      testEnvironment: 'happy-dom',
      plugins: [pluginReact()],
      setupFiles: ['./shared/src/testing/setup.ts'],
    },
    {
      name: 'node',
      ...timeouts,
      include: [
        '{host/server,shared/{http,telemetry,src/{build,floorCheck}},releases,backend,e2e/{security,storm},templates}/**/*.test.ts',
      ],
      exclude: [programs, 'releases/console/src/**'],
      testEnvironment: 'node',
    },
    {
      name: 'programs',
      ...timeouts,
      resolve,
      include: [programs],
      exclude: ['templates/remote/**', ...(isWithoutChromium ? ['releases/src/gate/smoke*.test.ts'] : [])],
      testEnvironment: 'node',
    },
  ],
});
