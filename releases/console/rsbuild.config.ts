import { defineConfig } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';
import { browserslist } from '../../shared/src/build/floor.ts';

export default defineConfig({
  plugins: [pluginReact()],
  source: { entry: { index: './src/index.tsx' }, include: [/[\\/]node_modules[\\/]/] },
  html: { template: './src/index.html', inject: 'body' },
  output: {
    target: 'web',
    overrideBrowserslist: browserslist,
    distPath: { root: 'dist' },
    cleanDistPath: true,
    // the content security policy of the page forbids inline scripts and styles
    inlineScripts: false,
    inlineStyles: false,
    dataUriLimit: 0,
    legalComments: 'none',
    sourceMap: false,
  },
  performance: { printFileSize: false, chunkSplit: { strategy: 'all-in-one' } },
});
