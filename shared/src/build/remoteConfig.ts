import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/rspack';
import { defineConfig, type EnvironmentConfig, mergeRsbuildConfig, type RsbuildConfig } from '@rsbuild/core';
import { backendSegments } from '../contract/addresses.ts';
import type { RemoteDescription } from '../contract/releases.ts';
import { AssetLoaderPlugin, insertStylesheet } from './assetLoader.ts';
import { baseConfig } from './base.ts';
import { describeModule, describeRoutes, describeSlots, pluginDescribe, readDeclaration } from './describeBuild.ts';
import { packageFacts, repoRoot, sharedRoot } from './facts.ts';
import {
  contractRange,
  esmRuntime,
  federationVersion,
  requiredVersions,
  sharedModules,
  sharedRuntime,
} from './federation.ts';
import { hasPrerendered, pluginPrerender, prerenderEnvironment } from './prerender.ts';
import { isStock, stockRemoteConfig } from './stock.ts';

interface RegisteredRemote {
  name: string;
  label: string;
  devPort: number;
}

function registered(name: string): RegisteredRemote {
  const remotes = JSON.parse(readFileSync(join(repoRoot, 'remotes.json'), 'utf8')) as RegisteredRemote[];
  const found = remotes.find((remote) => remote.name === name);
  if (!found)
    throw new Error(`remotes.json does not know "${name}": add it there, or run pnpm new-remote ${name} <label>`);
  return found;
}

const exposed = './src/remote.ts';

/** A JavaScript identifier, unlike a remote's name, which may have dashes. */
const containerGlobal = (name: string, hash: string) => `${name.replaceAll('-', '_')}_${hash}`;

function federatedConfig(name: string, hash: string): EnvironmentConfig {
  const global = containerGlobal(name, hash);
  return {
    tools: {
      htmlPlugin: false,
      // late stylesheets go through the host's asset loader like scripts do
      cssExtract: { pluginOptions: { insert: insertStylesheet } },
      rspack: (config) => {
        // the container is the only entry
        config.entry = {};
        config.output = {
          ...config.output,
          uniqueName: global,
          // two builds of one remote on a page must never mix their chunks
          chunkLoadingGlobal: `chunks_${global}`,
          // a module that throws must throw again on retry, not come back half-made from the cache
          strictModuleErrorHandling: true,
        };
        config.optimization = { ...config.optimization, splitChunks: false };
        config.resolve = {
          ...config.resolve,
          alias: { ...config.resolve?.alias, ...esmRuntime(), ...sharedRuntime() },
        };
        config.plugins?.push(
          new ModuleFederationPlugin({
            // an instance per build, and no clash with a route that is called like its remote
            name: global,
            filename: 'remoteEntry.js',
            library: { type: 'var', name: global },
            exposes: { './remote': { import: exposed, name: 'remote' } },
            shared: sharedModules('remote'),
            // version-first makes one unreachable remote blank the whole host
            shareStrategy: 'loaded-first',
            dts: false,
            dev: false,
            manifest: false,
            experiments: { externalRuntime: true, optimization: { target: 'web' } },
          }),
          new AssetLoaderPlugin(),
        );
      },
    },
  };
}

/**
 * The whole Rsbuild configuration of one remote: `export default remoteConfig('stories')`.
 * `rsbuild build` makes the federated build, `rsbuild dev` runs the remote alone on its port of remotes.json, and
 * `rsbuild dev --env-mode inside` serves it there for a deployed host that an override link has it run.
 */
export const remoteConfig = (name: string) =>
  defineConfig(async ({ command, envMode }) => {
    const root = process.cwd();
    const { label, devPort } = registered(name);
    if (!existsSync(join(root, exposed)))
      throw new Error(`${exposed} is missing in ${root}: run the build in the remote's folder`);
    const isInside = envMode === INSIDE;
    if (command === 'dev' && !isInside) return standAloneConfig(root, devPort, label);
    const facts = packageFacts('remote', root);
    if (isStock) return stockRemoteConfig(facts, name);
    const { routes, slots } = await readDeclaration(root);
    const global = containerGlobal(name, facts.sourceHash);
    const describe = (compilation: Parameters<typeof describeModule>[0]): RemoteDescription => ({
      kind: 'remote',
      name,
      label,
      version: facts.version,
      sourceHash: facts.sourceHash,
      federation: federationVersion,
      contract: contractRange,
      shared: { provides: {}, requires: requiredVersions },
      entry: 'remoteEntry.js',
      css: [],
      global,
      chunkGlobal: `chunks_${global}`,
      exposes: ['./remote'],
      module: describeModule(compilation, 'remote'),
      routes: describeRoutes(compilation, routes),
      slots: describeSlots(compilation, slots),
    });
    const web = mergeRsbuildConfig(federatedConfig(name, facts.sourceHash), {
      source: { entry: { index: exposed } },
      plugins: [pluginDescribe(describe)],
    });
    if (isInside) return { ...mergeRsbuildConfig(baseConfig(facts), insideConfig(devPort)), environments: { web } };
    const first = hasPrerendered(root);
    return {
      ...mergeRsbuildConfig(baseConfig(facts), first ? { plugins: [pluginPrerender(root, join(root, 'dist'))] } : {}),
      environments: { web, ...(first ? { first: prerenderEnvironment(root) } : {}) },
    };
  });

const INSIDE = 'inside';

/** Pages of these origins may read what the dev server has. */
const pageOrigins = [/^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/];

/**
 * A dev server for a remote inside a deployed host, whose origin HOST_ORIGIN names unless it is on this machine. The code is built
 * as it will be shipped, since the host's React is the production one, and a page is reloaded after every change.
 */
const insideConfig = (port: number): RsbuildConfig => ({
  mode: 'production',
  output: { minify: false, sourceMap: { js: 'source-map' } },
  server: {
    port,
    strictPort: true,
    cors: { origin: [...pageOrigins, ...(process.env.HOST_ORIGIN ? [process.env.HOST_ORIGIN] : [])] },
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

/** Where the backend is called, wherever the page comes from; the socket has rules of its own. */
const backendPaths = backendSegments.filter((segment) => segment !== 'app').map((segment) => `/${segment}`);

/**
 * Hands the backend's paths to the running product, under this page's own host, or changes would be refused as another
 * site's; the socket to the Reverb that REVERB_URL names, if it does.
 */
export function backendProxy(target = process.env.BACKEND_URL ?? 'http://localhost:3000') {
  const reverb = process.env.REVERB_URL;
  const socket = { '/app/': { target: reverb ?? target, changeOrigin: reverb !== undefined, ws: true, xfwd: true } };
  const calls = backendPaths.map((path) => [path, { target, changeOrigin: false, xfwd: true }] as const);
  return { ...Object.fromEntries(calls), ...socket };
}

/** One remote by itself with hot reload: no federation, everything in one bundle. */
const standAloneConfig = (root: string, port: number, label: string): RsbuildConfig =>
  mergeRsbuildConfig(baseConfig(packageFacts('remote', root)), {
    source: { entry: { index: join(sharedRoot, 'src/standAlone/openStandAlone.tsx') } },
    resolve: { alias: { 'liaozhai-remote$': join(root, 'src/remote.ts') } },
    output: { assetPrefix: '/' },
    html: {
      title: `${label} · 聊斋`,
      meta: { viewport: 'width=device-width, initial-scale=1, viewport-fit=cover' },
      mountId: 'root',
    },
    server: { port, historyApiFallback: true, proxy: backendProxy() },
    dev: { assetPrefix: '/' },
    root,
  });
