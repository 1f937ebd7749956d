import { pluginReact } from '@rsbuild/plugin-react';
import { defineConfig } from '@rstest/core';

export default defineConfig({
  testEnvironment: 'happy-dom',
  plugins: [pluginReact()],
  setupFiles: ['@liaozhai/testing/setup'],
  testTimeout: 30_000,
});
