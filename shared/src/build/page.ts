import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type EnvironmentConfig, type RsbuildPlugin, rspack } from '@rsbuild/core';
import type { ReactElement } from 'react';
import { BRAND } from '../contract/brand.ts';
import { chunkFiles } from './describeBuild.ts';
import { floor } from './floor.ts';

/** Compiles inline scripts to ES5, since they also run in browsers below the floor, to inform their users. */
function compileInline(path: string): string {
  const source = readFileSync(path, 'utf8');
  const { code } = rspack.experiments.swc.transformSync(`(() => {${source.replace(/^export \{\};$/m, '')}})();`, {
    isModule: false,
    minify: true,
    jsc: {
      parser: { syntax: 'typescript' },
      target: 'es5',
      loose: true,
      minify: { compress: true, mangle: true },
    },
  });
  return code.trim();
}

/** The host's `src/page.html` with its build-time parts: icon, critical CSS, inline scripts, versions of the floor. */
export function pageTemplate(root: string, css: string): string {
  const parts: Record<string, string> = {
    // inlined: a request would occupy one of HTTP/1's six connections while the tabs' files load
    'lz-icon': `data:image/svg+xml,${encodeURIComponent(readFileSync(join(root, 'public/favicon.svg'), 'utf8').trim())}`,
    '/*lz:css*/': css.trim(),
    '/*lz:appearance*/': compileInline(join(root, 'src/appearance.ts')),
    '/*lz:loader*/': compileInline(join(root, 'src/loader.ts')),
    ...Object.fromEntries(Object.entries(floor).map(([name, version]) => [`lz-floor.${name}-lz`, version])),
  };
  return Object.entries(parts).reduce(
    (html, [placeholder, part]) => {
      if (!html.includes(placeholder)) throw new Error(`${root}/src/page.html has no ${placeholder}`);
      return html.replaceAll(placeholder, () => part);
    },
    readFileSync(join(root, 'src/page.html'), 'utf8'),
  );
}

/** Writes a generated file below the package's `node_modules`; returns its path. */
export function generate(root: string, file: string, content: string): string {
  const path = join(root, 'node_modules/.cache', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

/** Writes the template to a file, for builds whose HTML plugin adds the styles. */
export const writePageTemplate = (root: string): string =>
  generate(root, 'page.html', pageTemplate(root, '').replaceAll('lz-brand.name-lz', BRAND.name));

/** Emits `page.html`: the template with the entry's stylesheet inlined, so that the first paint needs no second request. */
export const pluginPage = (root: string): RsbuildPlugin => ({
  name: 'liaozhai:page',
  setup(api) {
    api.processAssets({ stage: 'report' }, ({ compilation, sources }) => {
      const files = chunkFiles(compilation, 'host').css;
      const css = files.map((file) => String(compilation.getAsset(file)?.source.source() ?? '')).join('\n');
      for (const file of files) compilation.deleteAsset(file);
      compilation.emitAsset('page.html', new sources.RawSource(pageTemplate(root, css)));
    });
  },
});

/**
 * Markup rendered at build time, to show before scripts run. Tokens like `lz-data.0.title-lz` stand for fields of a public
 * response; the page's server fills them in, so that it runs no code of a remote.
 */
export interface Prerendered {
  /** name of the route; for the host's frames the path of a tab, or `bare` for screens outside the shell */
  route: string;
  /** missing if the response only fills the card */
  element?: ReactElement;
  /** path below `/api` of the response for the tokens; `:id` stands for that part of the page's path */
  source?: string;
  /** query parameters that change the screen's content, so that the server renders nothing */
  notWith?: string | string[];
  /** link preview of a shared screen, with the same tokens; the first available image is used */
  card?: { title: string; description: string; image: string | string[] };
  /** fields removed from each item when the response is inlined as the page's first data */
  omit?: string[];
}

const prerenderSource = (root: string) => join(root, 'src/prerender.tsx');
const prerenderCache = (root: string) => join(root, 'node_modules/.cache/prerendered');

export const hasPrerendered = (root: string) => existsSync(prerenderSource(root));

/** Compiles `src/prerender.tsx` for Node, with the same class names as the browser build. */
export const prerenderEnvironment = (root: string): EnvironmentConfig => ({
  source: { entry: { prerendered: join(import.meta.dirname, 'prerenderEntry.tsx') } },
  resolve: {
    alias: {
      'liaozhai-prerender': prerenderSource(root),
      '@liaozhai/shared/runtime': join(import.meta.dirname, 'prerenderRuntime.tsx'),
    },
  },
  output: {
    target: 'node',
    module: true,
    distPath: { root: prerenderCache(root), js: '' },
    filename: { js: 'prerendered.mjs' },
  },
  tools: { htmlPlugin: false },
});

/** Writes `first/<route>.json` into the build after both compilations. */
export const pluginPrerender = (root: string, dist: string): RsbuildPlugin => ({
  name: 'liaozhai:prerender',
  setup(api) {
    api.onAfterBuild(async () => {
      const file = pathToFileURL(join(prerenderCache(root), 'prerendered.mjs')).href;
      const { rendered } = (await import(file)) as { rendered: { route: string }[] };
      mkdirSync(join(dist, 'first'), { recursive: true });
      for (const { route, ...content } of rendered)
        writeFileSync(join(dist, 'first', `${route.replaceAll('/', '')}.json`), `${JSON.stringify(content)}\n`);
    });
  },
});

const createIcon = join(import.meta.dirname, 'createIcon.js');

/** Replaces lucide's icon factory by `createIcon.js` in builds of this repository; other teams' builds use lucide unchanged. */
export const pluginIcons: RsbuildPlugin = {
  name: 'liaozhai:icons',
  setup(api) {
    api.modifyRspackConfig(({ plugins }) => {
      plugins?.push(new rspack.NormalModuleReplacementPlugin(/[\\/]createLucideIcon\.mjs$/, createIcon));
    });
  },
};
