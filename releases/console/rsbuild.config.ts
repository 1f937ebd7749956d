import { defineConfig } from '@rsbuild/core';
import { browserslist } from '../../shared/src/build/floor.ts';

export default defineConfig({
  source: { entry: { index: './src/index.ts' }, include: [/[\\/]node_modules[\\/]/] },
  html: { template: './src/index.html', inject: 'body' },
  output: {
    target: 'web',
    overrideBrowserslist: browserslist,
    distPath: { root: 'dist' },
    // the page's policy forbids inline elements
    inlineScripts: false,
    inlineStyles: false,
    legalComments: 'none',
    sourceMap: false,
  },
  performance: { printFileSize: false },
});
