import { defineConfig } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';

export default defineConfig({
  plugins: [pluginReact()],
  source: { entry: { index: './src/index.tsx' } },
  html: { template: './src/index.html', inject: 'body' },
  output: {
    target: 'web',
    distPath: { root: 'dist' },
    cleanDistPath: true,
    // the page's policy forbids inline elements
    inlineScripts: false,
    inlineStyles: false,
    dataUriLimit: 0,
    legalComments: 'none',
    sourceMap: false,
  },
  performance: { printFileSize: false, chunkSplit: { strategy: 'all-in-one' } },
});
