import { pluginReact } from '@rsbuild/plugin-react';
import { defineConfig } from '@rstest/core';

export default defineConfig({
  testEnvironment: 'happy-dom',
  plugins: [pluginReact()],
  setupFiles: ['@liaozhai/testing/setup'],
  // longer than findBy waits, which says what is missing
  testTimeout: 60_000,
});
