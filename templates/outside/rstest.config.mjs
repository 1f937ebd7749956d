import { pluginReact } from '@rsbuild/plugin-react';
import { defineConfig } from '@rstest/core';

export default defineConfig({
  testEnvironment: 'happy-dom',
  plugins: [pluginReact()],
  setupFiles: ['@liaozhai/testing/setup'],
  // longer than the timeout of findBy, whose error names the missing element
  testTimeout: 60_000,
});
