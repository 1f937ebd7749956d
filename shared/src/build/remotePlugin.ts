import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Rspack } from '@rsbuild/core';
import type { RemoteDescription } from '../contract/releases.ts';
import {
  type Declared,
  describeModule,
  describeRoutes,
  describeSlots,
  emitDescription,
  readDeclaration,
} from './describeBuild.ts';
import { outsideFacts, type PackageFacts } from './facts.ts';
import {
  AssetLoaderPlugin,
  contractRange,
  esmRuntime,
  federationVersion,
  outsideModules,
  requiredVersions,
  type SharedModules,
  sharedRuntime,
} from './federation.ts';

export { insertStylesheet } from './federation.ts';

/** A remote in a repository of its own. */
export interface OutsideRemote {
  /** Lower-case letters and digits, a letter first: `gifts`. Its tokens, builds and overrides go by it. */
  name: string;
  /** What release managers read, in Chinese: `礼物`. */
  label: string;
}

export const exposedModule = './src/remote';

/** A JavaScript identifier, unlike a remote's name, which may have dashes. */
export const containerGlobal = (name: string, hash: string) => `${name.replaceAll('-', '_')}_${hash}`;

/** Module Federation's plugin as a remote sets it, for the share scope that the host has. */
export const federationOptions = (global: string, shared: SharedModules) => ({
  // an instance per build, and no clash with a route that is called like its remote
  name: global,
  filename: 'remoteEntry.js',
  library: { type: 'var', name: global },
  exposes: { './remote': { import: exposedModule, name: 'remote' } },
  shared,
  // version-first makes one unreachable remote blank the whole host
  shareStrategy: 'loaded-first' as const,
  dts: false,
  dev: false,
  manifest: false,
  experiments: { externalRuntime: true, optimization: { target: 'web' as const } },
});

/** What a remote's compilation sets beside federation. */
export const remoteOutput = (global: string) => ({
  uniqueName: global,
  // two builds of one remote on a page must never mix their chunks
  chunkLoadingGlobal: `chunks_${global}`,
  // a module that throws must throw again on retry, not come back half-made from the cache
  strictModuleErrorHandling: true,
});

/** What `liaozhai.json` says of a remote's finished compilation. */
export const describeRemote = (
  compilation: Rspack.Compilation,
  { name, label }: OutsideRemote,
  { version, sourceHash }: PackageFacts,
  { routes, slots }: Declared,
): RemoteDescription => {
  const global = containerGlobal(name, sourceHash);
  return {
    kind: 'remote',
    name,
    label,
    version,
    sourceHash,
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
  };
};

type Federation = new (options: ReturnType<typeof federationOptions>) => { apply(compiler: Rspack.Compiler): void };

/** Module Federation has a plugin for each of the two compilers; the one that is not asked for need not be loadable. */
function federationOf(compiler: Rspack.Compiler): Federation {
  const kind = 'rspackVersion' in compiler.webpack ? 'rspack' : 'webpack';
  return createRequire(import.meta.url)(`@module-federation/enhanced/${kind}`).ModuleFederationPlugin as Federation;
}

/**
 * Makes a configuration of Rspack or webpack build a remote: `plugins: [new RemotePlugin({ name: 'gifts', label: '礼物' })]`.
 * Reads version and routes from `package.json` and `src/routes`, exposes `src/remote`, takes React and the runtime from the host, loads
 * late files through the host's asset loader and writes `liaozhai.json`. How sources are compiled is left to the configuration; late
 * stylesheets need `insert: insertStylesheet` at the plugin that extracts them.
 */
export class RemotePlugin {
  readonly #remote: OutsideRemote;

  constructor(remote: OutsideRemote) {
    this.#remote = remote;
  }

  // both compilers' types are met: what is used of them is the same
  apply(given: object) {
    const compiler = given as Rspack.Compiler;
    const { options } = compiler;
    const facts = outsideFacts(options.context ?? process.cwd());
    requireExposed(facts.root);
    const global = containerGlobal(this.#remote.name, facts.sourceHash);
    // the container is the only entry
    options.entry = {};
    Object.assign(options.output, { publicPath: 'auto', clean: true, ...remoteOutput(global) });
    options.output.chunkFilename ??= '[name].[contenthash:8].js';
    options.optimization.splitChunks = false;
    options.resolve.alias = { ...options.resolve.alias, ...esmRuntime(), ...sharedRuntime() };
    new (federationOf(compiler))(federationOptions(global, outsideModules())).apply(compiler);
    new AssetLoaderPlugin().apply(compiler);
    const declaration = readDeclaration(facts.root);
    // told where it is awaited; until then it is nobody's unhandled rejection
    declaration.catch(() => {});
    compiler.hooks.thisCompilation.tap('RemotePlugin', (compilation) => {
      const stage = compiler.webpack.Compilation.PROCESS_ASSETS_STAGE_REPORT;
      compilation.hooks.processAssets.tapPromise({ name: 'RemotePlugin', stage }, async () => {
        const declared = await declaration;
        emitDescription(compilation, compiler.webpack.sources, () =>
          describeRemote(compilation, this.#remote, facts, declared),
        );
      });
    });
  }
}

/** Throws where a build would expose nothing. */
export function requireExposed(root: string) {
  if (!['.ts', '.tsx', '.js', '.jsx'].some((extension) => existsSync(join(root, exposedModule + extension))))
    throw new Error(`${exposedModule}.ts is missing in ${root}: run the build in the remote's folder`);
}
