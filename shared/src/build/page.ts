import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type EnvironmentConfig, type RsbuildPlugin, rspack } from '@rsbuild/core';
import type { ReactElement } from 'react';
import { BRAND } from '../contract/brand.ts';
import { floor } from './floor.ts';

/** Inline scripts run in browsers far below the floor too, to tell their users so: they alone are compiled to ES5. */
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

/** The host's `src/page.html` with what is known at build time: the icon, critical CSS, the inline scripts, the floor's versions. */
export function pageTemplate(root: string, css: string): string {
  const parts: Record<string, string> = {
    // asked for, it would hold one of HTTP/1's six connections while the tabs' files are fetched
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

/** The template as a file, for builds whose own HTML plugin brings the styles. */
export function writePageTemplate(root: string): string {
  const path = join(root, 'node_modules/.cache/page.html');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, pageTemplate(root, '').replaceAll('lz-brand.name-lz', BRAND.name));
  return path;
}

/** Emits `page.html`: the template with the entry's stylesheet inlined, so that the first paint waits for no second request. */
export const pluginPage = (root: string): RsbuildPlugin => ({
  name: 'liaozhai:page',
  setup(api) {
    api.processAssets({ stage: 'report' }, ({ compilation, sources }) => {
      const files =
        compilation.namedChunkGroups
          .get('host')
          ?.getFiles()
          .filter((file) => file.endsWith('.css')) ?? [];
      const css = files.map((file) => String(compilation.getAsset(file)?.source.source() ?? '')).join('\n');
      for (const file of files) compilation.deleteAsset(file);
      compilation.emitAsset('page.html', new sources.RawSource(pageTemplate(root, css)));
    });
  },
});

const folder = dirname(fileURLToPath(import.meta.url));

/**
 * What a package shows before any script runs: markup rendered once at build time, in which tokens like `lz-data.0.title-lz` stand for
 * fields of a public answer. The server of the page fills them in, so no code of a remote runs on the server.
 */
export interface Prerendered {
  /** name of the route it belongs to; for the host's frames the path of a tab, and `bare` for screens outside the shell */
  route: string;
  /** nothing to show: the answer only fills the card */
  element?: ReactElement;
  /** path below `/api` whose answer fills the tokens; `:id` stands for that part of the address */
  source?: string;
  /** query parameters with which the screen shows something else: then the server draws nothing */
  notWith?: string | string[];
  /** what a link to the screen shows where it is shared, with the same tokens; of several images the first there is */
  card?: { title: string; description: string; image: string | string[] };
  /** fields left out of each item of the answer when it is handed to the page as its first data */
  omit?: string[];
}

const entry = (root: string) => join(root, 'src/prerender.tsx');
const cache = (root: string) => join(root, 'node_modules/.cache/prerendered');

export const hasPrerendered = (root: string) => existsSync(entry(root));

/** Compiles `src/prerender.tsx` for Node, with the same class names as the browser's build. */
export const prerenderEnvironment = (root: string): EnvironmentConfig => ({
  source: { entry: { prerendered: join(folder, 'prerenderEntry.tsx') } },
  resolve: {
    alias: { 'liaozhai-prerender': entry(root), '@liaozhai/shared/runtime': join(folder, 'prerenderRuntime.tsx') },
  },
  output: {
    target: 'node',
    module: true,
    distPath: { root: cache(root), js: '' },
    filename: { js: 'prerendered.mjs' },
  },
  tools: { htmlPlugin: false },
});

/** Writes `first/<route>.json` into the build once both compilations are done. */
export const pluginPrerender = (root: string, dist: string): RsbuildPlugin => ({
  name: 'liaozhai:prerender',
  setup(api) {
    api.onAfterBuild(async () => {
      const file = pathToFileURL(join(cache(root), 'prerendered.mjs')).href;
      const { rendered } = (await import(file)) as { rendered: { route: string }[] };
      mkdirSync(join(dist, 'first'), { recursive: true });
      for (const { route, ...content } of rendered)
        writeFileSync(join(dist, 'first', `${route.replaceAll('/', '')}.json`), `${JSON.stringify(content)}\n`);
    });
  },
});

const createIcon = fileURLToPath(new URL('./createIcon.js', import.meta.url));

/** Has builds of this repository draw lucide's icons by `createIcon.js`; what others build keeps all that lucide offers. */
export const pluginIcons: RsbuildPlugin = {
  name: 'liaozhai:icons',
  setup(api) {
    api.modifyRspackConfig(({ plugins }) => {
      plugins?.push(new rspack.NormalModuleReplacementPlugin(/[\\/]createLucideIcon\.mjs$/, createIcon));
    });
  },
};
