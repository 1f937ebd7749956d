import { defineConfig } from '@rsbuild/core';

export default defineConfig({
  source: { entry: { index: './src/index.ts' } },
  html: { template: './src/index.html', inject: 'body' },
  output: {
    target: 'web',
    distPath: { root: 'dist' },
    // the page's policy forbids inline elements
    inlineScripts: false,
    inlineStyles: false,
    legalComments: 'none',
    sourceMap: false,
  },
  performance: { printFileSize: false },
});
