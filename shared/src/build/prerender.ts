import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { EnvironmentConfig, RsbuildPlugin } from '@rsbuild/core';
import type { ReactElement } from 'react';

const folder = dirname(fileURLToPath(import.meta.url));

/**
 * What a package shows before any script runs: markup rendered once at build time, in which tokens like
 * `lz-data.0.title-lz` stand for fields of a public answer. Whoever serves the page fills them in, so no code of a
 * remote runs on the server.
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
