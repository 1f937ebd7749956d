import type { RsbuildConfig, RsbuildPlugin } from '@rsbuild/core';

const routesFile = /[\\/]src[\\/]routes\.[jt]sx?$/;

/** Whether this file is the remote's routes and imports the texts next to it. */
export const importsTexts = (file: string, code: string): boolean =>
  routesFile.test(file) && /from\s*['"]\.\/texts(\.\w+)?['"]/.test(code);

/**
 * Makes routes accept edits of their texts, which otherwise reload the page, since no component is in between. Components show new
 * texts immediately; a title changes with the next load.
 */
const pluginHotTexts: RsbuildPlugin = {
  name: 'liaozhai:hot-texts',
  setup(api) {
    api.transform({ test: routesFile }, ({ code, resourcePath }) =>
      importsTexts(resourcePath, code) ? `${code}\nimport.meta.webpackHot?.accept('./texts');\n` : code,
    );
  },
};

/** Settings of a dev server that shows edits without a reload. */
export const hotReload: RsbuildConfig = {
  // no hash: a changed stylesheet must replace the loaded one under the same name
  output: { filename: { js: '[name].js', css: '[name].css' } },
  plugins: [pluginHotTexts],
};
