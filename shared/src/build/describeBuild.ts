import type { RsbuildPlugin, Rspack } from '@rsbuild/core';
import type { RouteDefinition, SlotDefinition } from '../contract/remote.ts';

export interface ChunkFiles {
  js: string[];
  css: string[];
}

/** `liaozhai.json`: what a build says of itself to the release system. Paths are relative to the dist folder. */
export interface BuildDescription {
  kind: 'remote' | 'host';
  name: string;
  label: string;
  /** semver from package.json; `publish --version` overrides it */
  version: string;
  sourceHash: string;
  federation: string;
  /** remote: the range of `shared/runtime` it needs; host: the version it provides */
  contract: string;
  shared: { provides: Record<string, string>; requires: Record<string, string> };
  entry: string;
  css: string[];
  global?: string;
  chunkGlobal?: string;
  exposes?: string[];
  module?: ChunkFiles;
  routes?: (Required<Omit<RouteDefinition, 'page'>> & ChunkFiles)[];
  slots?: ({ name: string } & ChunkFiles)[];
  template?: string;
  serviceWorker?: string;
}

function filesOf(compilation: Rspack.Compilation, chunk: string): ChunkFiles | undefined {
  const files = compilation.namedChunkGroups.get(chunk)?.getFiles();
  return (
    files && { js: files.filter((file) => file.endsWith('.js')), css: files.filter((file) => file.endsWith('.css')) }
  );
}

function chunkOf(compilation: Rspack.Compilation, name: string): ChunkFiles {
  const found = filesOf(compilation, name);
  if (!found)
    throw new Error(
      `no chunk named "${name}": write import(/* webpackChunkName: "${name}" */ './pages/…') in src/routes.tsx`,
    );
  return found;
}

export const describeRoutes = (compilation: Rspack.Compilation, routes: RouteDefinition[]) =>
  routes.map(({ name, path, title, requiresAuth = false, keepAlive = false, outsideShell = false }) => ({
    name,
    path,
    title,
    requiresAuth,
    keepAlive,
    outsideShell,
    ...chunkOf(compilation, name),
  }));

export const describeSlots = (compilation: Rspack.Compilation, slots: SlotDefinition[]) =>
  slots.map(({ name }) => ({ name, ...chunkOf(compilation, name) }));

export const describeModule = (compilation: Rspack.Compilation, name: string) => chunkOf(compilation, name);

/** Writes `liaozhai.json` from the finished compilation. */
export const pluginDescribe = (describe: (compilation: Rspack.Compilation) => BuildDescription): RsbuildPlugin => ({
  name: 'liaozhai:describe',
  setup(api) {
    api.processAssets({ stage: 'report' }, ({ compilation, sources }) => {
      // a failed compilation has no chunks; its own errors say more than ours would
      if (compilation.errors.length > 0) return;
      compilation.emitAsset(
        'liaozhai.json',
        new sources.RawSource(`${JSON.stringify(describe(compilation), null, 2)}\n`),
      );
    });
  },
});
