import { join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/rspack';
import {
  defineConfig,
  type EnvironmentConfig,
  mergeRsbuildConfig,
  type RsbuildConfig,
  type Rspack,
} from '@rsbuild/core';
import { pluginReact } from '@rsbuild/plugin-react';
import { type Declared, pluginDescribe, readDeclaration } from './describeBuild.ts';
import { backendProxy, DEV_PORT, DEV_TRUSTED, devPolicy, pageOrigins, requireFreePort } from './devServer.ts';
import { emitTypes } from './exposedTypes.ts';
import { outsideFacts, type PackageFacts } from './facts.ts';
import { esmRuntime, outsideModules, type SharedModules } from './federation.ts';
import { browserslist } from './floor.ts';
import { hotReload } from './hotReload.ts';
import {
  containerGlobal,
  type DevelopedRemote,
  describeRemote,
  type Exchange,
  exposedModule,
  federationOptions,
  type OutsideRemote,
  oneEntry,
  remoteOutput,
  requireExposed,
  standAloneEntry,
} from './remotePlugin.ts';

/**
 * The whole Rsbuild configuration of a remote in a repository of its own:
 * `export default remoteConfig({ name: 'gifts', label: '礼物', devPort: 3101 })`.
 * `rsbuild build` makes the federated build. `rsbuild dev` runs the remote alone against the product at BACKEND_URL.
 * `rsbuild dev --env-mode inside` serves it for a deployed host, which runs it by an override link.
 */
export const remoteConfig = ({ devPort = DEV_PORT, ...remote }: DevelopedRemote & Exchange) =>
  defineConfig(async ({ command, envMode }) => {
    const root = process.cwd();
    requireExposed(root);
    const facts = outsideFacts(root);
    const isInside = envMode === INSIDE;
    if (command === 'dev') await requireFreePort(devPort, 'devPort in rsbuild.config.mjs');
    if (command === 'dev' && !isInside) return standAloneConfig(facts, devPort, remote.label);
    const web = federatedEnvironment(remote, facts, await readDeclaration(root), outsideModules());
    const config = baseConfig(facts);
    return { ...(isInside ? mergeRsbuildConfig(config, insideConfig(devPort)) : config), environments: { web } };
  });

/** A remote's build, which takes the `shared` modules from the host. */
export const federatedEnvironment = (
  remote: OutsideRemote & Exchange,
  facts: PackageFacts,
  declared: Declared,
  shared: SharedModules,
): EnvironmentConfig => {
  const global = containerGlobal(remote.name, facts.sourceHash);
  return {
    source: { entry: { index: exposedModule } },
    plugins: [pluginDescribe((compilation) => describeRemote(compilation, remote, facts, declared))],
    tools: {
      htmlPlugin: false,
      rspack: (config) => {
        // the container is the only entry
        config.entry = {};
        config.output = { ...config.output, ...remoteOutput(global) };
        config.optimization = { ...config.optimization, ...oneEntry(global) };
        config.resolve = {
          ...config.resolve,
          alias: { ...config.resolve?.alias, ...esmRuntime() },
        };
        config.plugins?.push(new ModuleFederationPlugin(federationOptions(global, facts.root, shared, remote)), {
          apply: (compiler: Rspack.Compiler) => emitTypes(compiler, facts.root, remote.exposes),
        });
      },
    },
  };
};

/** The environment mode in which a dev server builds for a deployed host. */
export const INSIDE = 'inside';

/** A dev server writes nothing to `dist`, so what was built there stays to be published. */
const servedFromMemory = { cleanDistPath: false };

/**
 * A dev server for a remote inside a deployed host, whose origin HOST_ORIGIN names unless it is on this machine. The code is built
 * as it will be shipped, since the host's React is the production one, and a page is reloaded after every change.
 */
export const insideConfig = (port: number): RsbuildConfig => ({
  mode: 'production',
  output: { minify: false, sourceMap: { js: 'source-map' }, ...servedFromMemory },
  server: {
    port,
    strictPort: true,
    cors: { origin: pageOrigins() },
  },
  dev: {
    hmr: false,
    // what a page asks for has to be there, and named with its files
    lazyCompilation: false,
    liveReload: true,
    // not the page's origin, which the client would ask otherwise
    client: { protocol: 'ws', host: 'localhost', port, overlay: false },
  },
});

/** One remote alone with hot reload: no federation, everything in one bundle. */
export const standAloneConfig = (facts: PackageFacts, port: number, label: string): RsbuildConfig =>
  mergeRsbuildConfig(baseConfig(facts), hotReload, {
    source: { entry: { index: standAloneEntry } },
    resolve: { alias: { 'liaozhai-remote$': join(facts.root, exposedModule) } },
    output: { assetPrefix: '/', ...servedFromMemory },
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
    // its overlay would write markup, which the policy refuses; terminal and console tell the errors
    dev: { assetPrefix: '/', client: { overlay: false } },
    tools: {
      rspack: (config) => {
        config.output = { ...config.output, trustedTypes: DEV_TRUSTED };
      },
    },
    root: facts.root,
  });

/** Positions and names, without the sources' text. */
export const mapsOfBuild = 'hidden-nosources-source-map';

/**
 * Short names by order instead of by how often letters occur, as SWC's `disableCharFreq` says: it counts comments as well, and that of
 * federation's own entry names the folder.
 */
const mangle: object = { disableCharFreq: true };

/** What host and remotes have in common. Class names carry the source hash, so two builds of one package never share a style. */
export function baseConfig({ sourceHash: hash }: PackageFacts): RsbuildConfig {
  return {
    plugins: [pluginReact()],
    output: {
      cleanDistPath: true,
      // chunks are asked of the build's own folder, not of the page
      assetPrefix: 'auto',
      filename: { js: '[name].[contenthash:8].js', css: '[name].[contenthash:8].css' },
      distPath: { js: 'static/js', css: 'static/css', jsAsync: 'static/js', cssAsync: 'static/css' },
      cssModules: { localIdentName: `[local]_[hash:base64:5]_${hash.slice(0, 4)}` },
      legalComments: 'none',
      minify: { jsOptions: { minimizerOptions: { mangle } } },
      overrideBrowserslist: browserslist,
      // published apart from the build, for reading stacks; no comment in a file leads to them
      sourceMap: { js: mapsOfBuild },
    },
    // libraries too: what they publish may be newer than the floor
    source: { include: [/[\\/]node_modules[\\/]/] },
    performance: { printFileSize: false },
    tools: {
      rspack: (config) => {
        if (config.mode !== 'production') return;
        config.optimization = {
          ...config.optimization,
          // the default ids are hashed from paths, of which federation's own modules have absolute ones:
          // the same sources would give other bytes in another folder
          moduleIds: 'natural',
          // the default names of exports last from build to build, which nothing needs: 0.6 KiB br of the host
          mangleExports: 'size',
        };
      },
    },
  };
}
