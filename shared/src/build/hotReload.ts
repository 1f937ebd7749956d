import type { RsbuildConfig, RsbuildPlugin } from '@rsbuild/core';

const routesFile = /[\\/]src[\\/]routes\.[jt]sx?$/;

/** Whether this file is the remote's routes and takes words from the texts beside it. */
export const takesTexts = (file: string, code: string): boolean =>
  routesFile.test(file) && /from\s*['"]\.\/texts(\.\w+)?['"]/.test(code);

/**
 * Routes take titles from the texts, and no component stands between the two and the page: without their word an edit of the texts
 * reloads it. Components draw the new words themselves; a title changes with the next load.
 */
const pluginHotTexts: RsbuildPlugin = {
  name: 'liaozhai:hot-texts',
  setup(api) {
    api.transform({ test: routesFile }, ({ code, resourcePath }) =>
      takesTexts(resourcePath, code) ? `${code}\nimport.meta.webpackHot?.accept('./texts');\n` : code,
    );
  },
};

/** Lets a dev server show an edit without a reload. */
export const hotReload: RsbuildConfig = {
  // a stylesheet is replaced under the name that the page has loaded: a hash in it would keep the old one there
  output: { filename: { js: '[name].js', css: '[name].css' } },
  plugins: [pluginHotTexts],
};
