import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Rspack } from '@rsbuild/core';
import type { RemoteDescription } from '../contract/releases.ts';
import {
  type ChunkFiles,
  chunkFiles,
  emitDescription,
  type RemoteDeclaration,
  readDeclaration,
  warnOfUndeclaredSlots,
} from './describeBuild.ts';
import {
  backendProxy,
  DEV_PORT,
  DEV_TRUSTED,
  devPolicy,
  exitForUsedPort,
  reloadClient,
  serveInside,
  standAlonePage,
} from './devServer.ts';
import { exposedTypes } from './exposedTypes.ts';
import { insideFacts, installedFolder, outsideFacts, type PackageFacts, readManifest } from './facts.ts';
import {
  contractRange,
  esmRuntime,
  federationVersion,
  outsideModules,
  requiredVersionsFor,
  type SharedModules,
} from './federation.ts';

export { browserslist, cssTargets } from './floor.ts';

/** A remote in its own repository. */
export interface OutsideRemote {
  /** Lower-case letters and digits, starting with a letter: `gifts`. Used for its tokens, builds and overrides. */
  name: string;
  /** Chinese label for release managers: `礼物`. */
  label: string;
}

/** Modules that a remote exchanges with other remotes. */
export interface Exchange {
  /** Libraries shared with other remotes → required range: `{ 'chart.js': '^4.4.0' }`. */
  shared?: Record<string, string>;
  /** Modules exposed to other remotes, besides `src/remote`: `{ './Badge': './src/Badge' }`. */
  exposes?: Record<string, string>;
  /** Names of the remotes whose modules it imports. */
  remotes?: string[];
}

export const exposedModule = './src/remote';
export const ENTRY = 'remoteEntry.js';

/** Chunk of the exposed module. */
const moduleChunk = 'remote';

/** A JavaScript identifier, so without the dashes that a remote's name may contain. */
export const containerGlobal = (name: string, hash: string) => `${name.replaceAll('-', '_')}_${hash}`;

/** Installed version of a library, as resolved from `root`. */
function installedVersion(root: string, library: string): string {
  const [name = ''] = /^(@[^/]+\/)?[^/]+/.exec(library) ?? [];
  const folder = installedFolder(root, name);
  if (!folder) throw new Error(`${library} is shared, but not installed in ${root}: add it to package.json`);
  return readManifest(folder).version;
}

/** Libraries that a remote bundles and shares; the page negotiates the copy to run by these ranges. */
const bundledSharedModules = (root: string, { shared = {} }: Exchange) =>
  Object.fromEntries(
    Object.entries(shared).map(([name, requiredVersion]) => [
      name,
      { singleton: false, version: installedVersion(root, name), requiredVersion },
    ]),
  );

const retriedImports = join(import.meta.dirname, 'retriedImports.js');

/** Options of Module Federation's plugin for a remote; `hostModules` are the modules from the host. */
const federationOptions = (global: string, root: string, hostModules: SharedModules, exchange: Exchange = {}) => ({
  // unique per build, and different from a route that is named like its remote
  name: global,
  filename: ENTRY,
  library: { type: 'var', name: global },
  exposes: { './remote': { import: exposedModule, name: moduleChunk }, ...exchange.exposes },
  shared: { ...hostModules, ...bundledSharedModules(root, exchange) },
  // the page redirects each import to the build that it runs; this URL is never requested
  remotes: Object.fromEntries((exchange.remotes ?? []).map((name) => [name, `${name}@/builds/${name}`])),
  runtimePlugins: exchange.remotes?.length ? [retriedImports] : [],
  remoteType: 'script' as const,
  // with version-first, one unreachable remote would break the whole host
  shareStrategy: 'loaded-first' as const,
  dts: false,
  dev: false,
  // for tools; no page requests it
  manifest: true,
  experiments: {
    externalRuntime: true,
    optimization: { target: 'web' as const, disableSnapshot: true, disableRemote: !exchange.remotes?.length },
  },
});

/** Merges the exposed module and the bundler's runtime into the container's entry: both are always needed, and each file is a request. */
const oneEntry = (global: string) => ({
  runtimeChunk: false as const,
  splitChunks: {
    // webpack's default, which it does not add to a plugin's settings
    defaultSizeTypes: ['...'],
    cacheGroups: {
      default: false as const,
      defaultVendors: false as const,
      entry: {
        name: global,
        chunks: (chunk: { name?: string }) => chunk.name === moduleChunk,
        // shared modules are requested together with the module
        type: /^javascript\//,
        enforce: true,
      },
    },
  },
});

/** Content of `liaozhai.json` for a remote; `filesOf` returns the files of the exposed module, a route or a slot by its name. */
export function describeRemote(
  remote: OutsideRemote & Exchange,
  { root, version, sourceHash }: PackageFacts,
  declaration: RemoteDeclaration,
  filesOf: (chunk: string) => ChunkFiles,
): RemoteDescription {
  const bundledModules = Object.entries(bundledSharedModules(root, remote));
  return {
    kind: 'remote',
    ...{ name: remote.name, label: remote.label, version, sourceHash, federation: federationVersion },
    contract: declaration.contract ?? contractRange,
    shared: {
      // each is also in `requires` with its range
      provides: Object.fromEntries(bundledModules.map(([name, module]) => [name, module.version])),
      requires: { ...requiredVersionsFor(declaration), ...remote.shared },
    },
    entry: ENTRY,
    css: [],
    global: containerGlobal(remote.name, sourceHash),
    exposes: ['./remote', ...Object.keys(remote.exposes ?? {})],
    module: filesOf(moduleChunk),
    routes: declaration.routes.map(
      ({ name, path, title, requiresAuth = false, keepAlive = false, outsideShell = false }) => ({
        ...{ name, path, title, requiresAuth, keepAlive, outsideShell },
        ...filesOf(name),
      }),
    ),
    slots: declaration.slots.map(({ name, order }) => ({
      ...{ name, ...(order !== undefined && { order }) },
      ...filesOf(name),
    })),
  };
}

type Federation = new (options: ReturnType<typeof federationOptions>) => { apply(compiler: Rspack.Compiler): void };

/** Module Federation has one plugin per compiler; the other one need not be installed. */
function loadFederationPlugin(compiler: Rspack.Compiler): Federation {
  const kind = 'rspackVersion' in compiler.webpack ? 'rspack' : 'webpack';
  return createRequire(import.meta.url)(`@module-federation/enhanced/${kind}`).ModuleFederationPlugin as Federation;
}

/** Settings of a remote's development server. */
export interface DevelopedRemote extends OutsideRemote {
  /** Port of the development server, default 3101. */
  devPort?: number;
}

interface PluginOptions extends DevelopedRemote, Exchange {
  /**
   * `alone`: runs the remote without the host, on the bundler's dev server. `inside`: serves its build to a deployed host while
   * the bundler watches. Unset: a build to publish.
   */
  dev?: 'alone' | 'inside';
}

const portSetting = 'devPort of RemotePlugin in the configuration';

/** Entry of a remote that runs alone; `liaozhai-remote` is replaced by the remote's own module. */
export const standAloneEntry = join(import.meta.dirname, '../standAlone/openStandAlone');

/** Output of a build for a deployed host; never published. */
export const insideFolder = (root: string) => join(root, 'node_modules/.liaozhai/inside');

/**
 * Builds a remote with Rspack or webpack: `plugins: [new RemotePlugin({ name: 'gifts', label: '礼物' })]`. Reads version and routes
 * from `package.json` and `src/routes`, exposes `src/remote`, uses the host's React and runtime, writes `liaozhai.json`. Loaders
 * stay in the configuration. `dev` configures development instead.
 */
export class RemotePlugin {
  constructor(private readonly options: PluginOptions) {}

  // `object`, since both compilers' types must be accepted; the used parts are equal
  apply(untypedCompiler: object) {
    const compiler = untypedCompiler as Rspack.Compiler;
    const { dev, devPort = DEV_PORT, ...remote } = this.options;
    const root = compiler.options.context ?? process.cwd();
    requireExposed(root);
    if (dev === 'alone') return runAlone(compiler, root, remote.label, devPort);
    if (dev === 'inside') runInside(compiler, root, devPort);
    const facts = dev === 'inside' ? insideFacts(outsideFacts(root)) : outsideFacts(root);
    const { options } = compiler;
    Object.assign(options.output, { publicPath: 'auto', clean: true });
    // salt of the class names, so that two builds of one remote never share a style
    options.output.hashSalt ??= facts.sourceHash;
    // published separately; no file of the build refers to it
    if (options.mode === 'production') options.devtool ||= 'hidden-nosources-source-map';
    options.output.chunkFilename ??= '[name].[contenthash:8].js';
    buildRemote(compiler, remote, facts, outsideModules());
  }
}

/** Makes a compiler build a remote, which uses the host's modules, and describe it. */
export function buildRemote(
  compiler: Rspack.Compiler,
  remote: OutsideRemote & Exchange,
  facts: PackageFacts,
  hostModules: SharedModules,
) {
  const { options } = compiler;
  const global = containerGlobal(remote.name, facts.sourceHash);
  // the container is the only entry
  options.entry = {};
  Object.assign(options.output, {
    uniqueName: global,
    // two builds of a remote on one page must not mix their chunks
    chunkLoadingGlobal: `chunks_${global}`,
    // a module that threw must throw again on retry, not return half-initialised from the cache
    strictModuleErrorHandling: true,
  });
  Object.assign(options.optimization, oneEntry(global));
  options.resolve.alias = { ...options.resolve.alias, ...esmRuntime() };
  new (loadFederationPlugin(compiler))(federationOptions(global, facts.root, hostModules, remote)).apply(compiler);
  const { sources } = compiler.webpack;
  const pendingDeclaration = readDeclaration(facts.root);
  let pendingTypes: ReturnType<typeof exposedTypes> = Promise.resolve({});
  // not in watch mode
  compiler.hooks.run.tap('RemotePlugin', () => {
    pendingTypes = exposedTypes(facts.root, remote.exposes ?? {});
    pendingTypes.catch(() => {});
  });
  // the errors of both are reported where the promises are awaited
  pendingDeclaration.catch(() => {});
  onReport(compiler, async (compilation) => {
    for (const [path, text] of Object.entries(await pendingTypes))
      compilation.emitAsset(path, new sources.RawSource(text));
    const declaration = await pendingDeclaration;
    emitDescription(compilation, sources, () => {
      warnOfUndeclaredSlots(compilation, declaration);
      const description = describeRemote(remote, facts, declaration, (name) => chunkFiles(compilation, name));
      return { ...description, chunkGlobal: `chunks_${global}` };
    });
  });
}

/** Runs `emit` once the assets of a compilation are final. */
function onReport(compiler: Rspack.Compiler, emit: (compilation: Rspack.Compilation) => Promise<void>) {
  const stage = compiler.webpack.Compilation.PROCESS_ASSETS_STAGE_REPORT;
  compiler.hooks.thisCompilation.tap('RemotePlugin', (compilation) =>
    compilation.hooks.processAssets.tapPromise({ name: 'RemotePlugin', stage }, () => emit(compilation)),
  );
}

function runInside(compiler: Rspack.Compiler, root: string, port: number) {
  const { options, webpack } = compiler;
  options.mode = 'production';
  options.devtool = 'source-map';
  options.optimization.minimize = false;
  options.output.path = insideFolder(root);
  new webpack.BannerPlugin({ banner: reloadClient(port), raw: true, include: 'remoteEntry.js' }).apply(compiler);
  const reportBuild = serveInside(insideFolder(root), port, portSetting);
  compiler.hooks.done.tap('RemotePlugin', (stats) => {
    if (!stats.hasErrors()) reportBuild();
  });
}

interface DevServer {
  server?: { prependListener(event: 'error', listener: (cause: NodeJS.ErrnoException) => void): void };
}

/** Runs one remote alone with hot reload: no federation, everything in one bundle. */
function runAlone(compiler: Rspack.Compiler, root: string, label: string, port: number) {
  const { options, webpack } = compiler;
  options.mode = 'development';
  options.entry = { index: { import: [standAloneEntry] } };
  options.output.publicPath = '/';
  options.output.trustedTypes = { policyName: DEV_TRUSTED };
  // the content security policy forbids `eval`, which is the default
  if (options.devtool === undefined || String(options.devtool).startsWith('eval'))
    options.devtool = 'cheap-module-source-map';
  options.resolve.alias = { ...options.resolve.alias, 'liaozhai-remote$': join(root, exposedModule) };
  const ownSettings = options.devServer || {};
  options.devServer = {
    port,
    historyApiFallback: true,
    static: false,
    headers: { 'Content-Security-Policy': devPolicy() },
    client: { overlay: { errors: true, warnings: false, runtimeErrors: false } },
    setupMiddlewares: (middlewares: unknown, { server }: DevServer) => {
      server?.prependListener('error', ({ code }) => {
        if (code === 'EADDRINUSE') exitForUsedPort(port, portSetting);
      });
      return middlewares;
    },
    ...ownSettings,
    // the first match wins
    proxy: [
      ...(ownSettings.proxy ?? []),
      ...Object.entries(backendProxy()).map(([path, target]) => ({ context: [path], ...target })),
    ],
  } as typeof options.devServer;
  onReport(compiler, async (compilation) => {
    const files = compilation.entrypoints.get('index')?.getFiles() ?? [];
    const head = files
      .filter((file) => !file.includes('.hot-update.'))
      .map((file) =>
        file.endsWith('.css') ? `<link rel="stylesheet" href="/${file}">` : `<script defer src="/${file}"></script>`,
      );
    compilation.emitAsset('index.html', new webpack.sources.RawSource(standAlonePage(label, head.join('\n'))));
  });
}

/** Throws if the exposed module is missing. */
export function requireExposed(root: string) {
  if (!['.ts', '.tsx', '.js', '.jsx'].some((extension) => existsSync(join(root, exposedModule + extension))))
    throw new Error(`${exposedModule}.ts is missing in ${root}: run the build in the remote's folder`);
}
