import { join } from 'node:path';
import { type ConfigParams, defineConfig, mergeRsbuildConfig, type RsbuildConfig, type Rspack } from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';
import {
  backendProxy,
  DEV_PORT,
  DEV_TRUSTED,
  devPolicy,
  hotReload,
  pageOrigins,
  requireFreePort,
} from './devServer.ts';
import { insideFacts, outsideFacts, type PackageFacts } from './facts.ts';
import { outsideModules, type SharedModules } from './federation.ts';
import { browserslist } from './floor.ts';
import {
  buildRemote,
  type DevelopedRemote,
  type Exchange,
  exposedModule,
  type OutsideRemote,
  requireExposed,
  standAloneEntry,
} from './remotePlugin.ts';

/**
 * Rsbuild configuration of a remote in its own repository: `export default remoteConfig({ name: 'gifts', label: '礼物', devPort:
 * 3101 })`. `rsbuild build` creates the federated build. `rsbuild dev` runs the remote alone against the product at BACKEND_URL.
 * With `--env-mode inside` it serves the build to a deployed host with an override link.
 */
export const remoteConfig = ({ devPort: port = DEV_PORT, ...remote }: DevelopedRemote & Exchange) =>
  defineConfig((params) => {
    requireExposed(process.cwd());
    const setting = 'devPort in rsbuild.config.mjs';
    return commandConfig(params, remote, outsideFacts(process.cwd()), outsideModules(), { port, setting });
  });

/** Configuration of a remote for a command of Rsbuild. `shared` are the host's modules, `setting` names where the port is set. */
export async function commandConfig(
  { command, envMode }: ConfigParams,
  remote: OutsideRemote & Exchange,
  publishedFacts: PackageFacts,
  shared: SharedModules,
  { port, setting }: { port: number; setting: string },
): Promise<RsbuildConfig> {
  const isInside = envMode === INSIDE;
  const facts = isInside ? insideFacts(publishedFacts) : publishedFacts;
  if (command === 'dev') await requireFreePort(port, setting);
  if (command === 'dev' && !isInside) return standAloneConfig(facts, port, remote.label);
  const plugin = { apply: (compiler: Rspack.Compiler) => buildRemote(compiler, remote, facts, shared) };
  return {
    ...mergeRsbuildConfig(baseConfig(facts), isInside ? insideConfig(port) : {}),
    environments: {
      web: {
        source: { entry: { index: exposedModule } },
        tools: { htmlPlugin: false, rspack: (config) => void config.plugins?.push(plugin) },
      },
    },
  };
}

/** Environment mode of a dev server for a deployed host. */
const INSIDE = 'inside';

/** A dev server writes nothing to `dist`, so it must not delete the build there. */
const inMemoryOutput = { cleanDistPath: false };

/**
 * Dev server for a remote in a deployed host (HOST_ORIGIN, unless on this machine). Builds in production mode, since the host's
 * React is the production one; each change reloads the page.
 */
const insideConfig = (port: number): RsbuildConfig => ({
  mode: 'production',
  output: { minify: false, sourceMap: { js: 'source-map' }, ...inMemoryOutput },
  server: {
    port,
    strictPort: true,
    cors: { origin: pageOrigins() },
  },
  dev: {
    hmr: false,
    // requested files must exist, under their published names
    lazyCompilation: false,
    liveReload: true,
    // by default the client would connect to the page's origin
    client: { protocol: 'ws', host: 'localhost', port, overlay: false },
  },
});

/** Runs one remote alone with hot reload: no federation, everything in one bundle. */
const standAloneConfig = (facts: PackageFacts, port: number, label: string): RsbuildConfig =>
  mergeRsbuildConfig(baseConfig(facts), hotReload, {
    source: { entry: { index: standAloneEntry } },
    resolve: { alias: { 'liaozhai-remote$': join(facts.root, exposedModule) } },
    output: { assetPrefix: '/', ...inMemoryOutput },
    html: {
      title: `${label} · 聊斋`,
      meta: { viewport: 'width=device-width, initial-scale=1, viewport-fit=cover' },
      mountId: 'root',
    },
    server: {
      port,
      historyApiFallback: true,
      proxy: backendProxy(),
      headers: { 'Content-Security-Policy': devPolicy() },
    },
    // the overlay would write markup, which the policy forbids; terminal and console show the errors
    dev: { assetPrefix: '/', client: { overlay: false } },
    tools: {
      rspack: (config) => {
        config.output = { ...config.output, trustedTypes: DEV_TRUSTED };
      },
    },
    root: facts.root,
  });

/**
 * Names variables by order instead of letter frequency (SWC's `disableCharFreq`). The frequency includes comments, and one in
 * federation's entry contains the folder's path.
 */
const mangle: object = { disableCharFreq: true };

/** Settings of host and remotes. Class names contain the source hash, so that two builds of one package never share a style. */
export function baseConfig({ sourceHash: hash }: PackageFacts): RsbuildConfig {
  return {
    plugins: [pluginReact()],
    output: {
      cleanDistPath: true,
      // chunks are loaded relative to the build's folder, not to the page
      assetPrefix: 'auto',
      filename: { js: '[name].[contenthash:8].js', css: '[name].[contenthash:8].css' },
      distPath: { js: 'static/js', css: 'static/css', jsAsync: 'static/js', cssAsync: 'static/css' },
      cssModules: { localIdentName: `[local]_[hash:base64:5]_${hash.slice(0, 4)}` },
      legalComments: 'none',
      minify: { jsOptions: { minimizerOptions: { mangle } } },
      overrideBrowserslist: browserslist,
      // positions and names without the sources' text, to decode stack traces; published separately, no file refers to them
      sourceMap: { js: 'hidden-nosources-source-map' },
    },
    // libraries too: their published code may be newer than the floor
    source: { include: [/[\\/]node_modules[\\/]/] },
    performance: { printFileSize: false },
    tools: {
      rspack: (config) => {
        if (config.mode !== 'production') return;
        config.optimization = {
          ...config.optimization,
          // default ids are hashes of paths, some of them absolute, so the output would depend on the folder
          moduleIds: 'natural',
          // default export names are stable between builds, which is not needed: 0.6 KiB (Brotli) of the host
          mangleExports: 'size',
        };
      },
    },
  };
}
