import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
import {
  backendProxy,
  DEV_PORT,
  DEV_TRUSTED,
  devPolicy,
  endForTakenPort,
  reloadClient,
  serveInside,
  standAlonePage,
} from './devServer.ts';
import { emitTypes } from './exposedTypes.ts';
import { outsideFacts, type PackageFacts } from './facts.ts';
import {
  contractRange,
  esmRuntime,
  federationVersion,
  outsideModules,
  requiredFor,
  type SharedModules,
} from './federation.ts';

export { browserslist, cssTargets } from './floor.ts';

/** A remote in a repository of its own. */
export interface OutsideRemote {
  /** Lower-case letters and digits, a letter first: `gifts`. Its tokens, builds and overrides go by it. */
  name: string;
  /** What release managers read, in Chinese: `礼物`. */
  label: string;
}

/** What a remote gives to other remotes and takes from them. */
export interface Exchange {
  /** Libraries that it shares with other remotes → the range that its code runs with: `{ 'chart.js': '^4.4.0' }`. */
  shared?: Record<string, string>;
  /** Modules for other remotes, beside `src/remote`: `{ './Badge': './src/Badge' }`. */
  exposes?: Record<string, string>;
  /** Names of the remotes of which it imports modules. */
  remotes?: string[];
}

export const exposedModule = './src/remote';

/** The chunk that Module Federation makes of it. */
const moduleChunk = 'remote';

/** A JavaScript identifier, unlike a remote's name, which may have dashes. */
export const containerGlobal = (name: string, hash: string) => `${name.replaceAll('-', '_')}_${hash}`;

/** The version of a library that is installed for the package at `root`. */
function installedVersion(root: string, library: string): string {
  const [first = '', second] = library.split('/');
  const name = first.startsWith('@') ? `${first}/${second}` : first;
  const folders = createRequire(join(root, 'package.json')).resolve.paths(name) ?? [];
  const manifest = folders.map((folder) => join(folder, name, 'package.json')).find(existsSync);
  if (!manifest) throw new Error(`${library} is shared, but not installed in ${root}: add it to package.json`);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** Libraries that a remote carries and shares: which copy runs is negotiated in the page, by these ranges. */
const carriedModules = (root: string, { shared = {} }: Exchange) =>
  Object.fromEntries(
    Object.entries(shared).map(([name, requiredVersion]) => [
      name,
      { singleton: false, version: installedVersion(root, name), requiredVersion },
    ]),
  );

const retriedImports = fileURLToPath(new URL('./retriedImports.js', import.meta.url));

/** Module Federation's plugin as a remote sets it; `hosts` is what the host provides. */
export const federationOptions = (global: string, root: string, hosts: SharedModules, exchange: Exchange = {}) => ({
  // an instance per build, and no clash with a route that is called like its remote
  name: global,
  filename: 'remoteEntry.js',
  library: { type: 'var', name: global },
  exposes: { './remote': { import: exposedModule, name: moduleChunk }, ...exchange.exposes },
  shared: { ...hosts, ...carriedModules(root, exchange) },
  // the page leads each request to the build that runs in it; this address is never asked for
  remotes: Object.fromEntries((exchange.remotes ?? []).map((name) => [name, `${name}@/builds/${name}`])),
  runtimePlugins: exchange.remotes?.length ? [retriedImports] : [],
  remoteType: 'script' as const,
  // version-first makes one unreachable remote blank the whole host
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

/** Puts the exposed module and the bundler's runtime into the container's entry: each needs the others, and each file is a request. */
export const oneEntry = (global: string) => ({
  runtimeChunk: false as const,
  splitChunks: {
    // webpack's own default, which it does not add to what a plugin sets
    defaultSizeTypes: ['...'],
    cacheGroups: {
      default: false as const,
      defaultVendors: false as const,
      entry: {
        name: global,
        chunks: (chunk: { name?: string }) => chunk.name === moduleChunk,
        // what is shared is requested when the module is
        type: /^javascript\//,
        enforce: true,
      },
    },
  },
});

/** What a remote's compilation sets beside federation. */
export const remoteOutput = (global: string) => ({
  uniqueName: global,
  // two builds of one remote on a page must never mix their chunks
  chunkLoadingGlobal: `chunks_${global}`,
  // a module that throws must throw again on retry, not come back half-made from the cache
  strictModuleErrorHandling: true,
});

/** `provides` are libraries that the build carries for itself and others; each of them is in `requires` with its range. */
function describeShared(root: string, exchange: Exchange, declared: Declared): RemoteDescription['shared'] {
  const carried = Object.entries(carriedModules(root, exchange));
  return {
    provides: Object.fromEntries(carried.map(([name, { version }]) => [name, version])),
    requires: { ...requiredFor(declared), ...exchange.shared },
  };
}

/** What `liaozhai.json` says of a remote's finished compilation. */
export const describeRemote = (
  compilation: Rspack.Compilation,
  { name, label, ...exchange }: OutsideRemote & Exchange,
  { root, version, sourceHash }: PackageFacts,
  declared: Declared,
): RemoteDescription => {
  const global = containerGlobal(name, sourceHash);
  return {
    kind: 'remote',
    name,
    label,
    version,
    sourceHash,
    federation: federationVersion,
    contract: declared.contract ?? contractRange,
    shared: describeShared(root, exchange, declared),
    entry: 'remoteEntry.js',
    css: [],
    global,
    chunkGlobal: `chunks_${global}`,
    exposes: ['./remote', ...Object.keys(exchange.exposes ?? {})],
    module: describeModule(compilation, moduleChunk),
    routes: describeRoutes(compilation, declared.routes),
    slots: describeSlots(compilation, declared),
  };
};

type Federation = new (options: ReturnType<typeof federationOptions>) => { apply(compiler: Rspack.Compiler): void };

/** Module Federation has a plugin for each of the two compilers; the one that is not asked for need not be loadable. */
function federationOf(compiler: Rspack.Compiler): Federation {
  const kind = 'rspackVersion' in compiler.webpack ? 'rspack' : 'webpack';
  return createRequire(import.meta.url)(`@module-federation/enhanced/${kind}`).ModuleFederationPlugin as Federation;
}

/** What a remote's development server needs to know beside its name. */
export interface DevelopedRemote extends OutsideRemote {
  /** Port of the development server, 3101 unless given. */
  devPort?: number;
}

interface PluginOptions extends DevelopedRemote, Exchange {
  /**
   * `alone`: the remote without the host at its port, for the bundler's dev server; `inside`: its build, served there to a deployed host
   * while the bundler watches. Unset, a build to be published.
   */
  dev?: 'alone' | 'inside';
}

const portSetting = 'devPort of RemotePlugin in the configuration';

/** The page of a remote that runs alone; its own module takes the place of `liaozhai-remote`. */
export const standAloneEntry = join(dirname(fileURLToPath(import.meta.url)), '../standAlone/openStandAlone');

/** Where a build for a deployed host is written; it is never published. */
export const insideFolder = (root: string) => join(root, 'node_modules/.liaozhai/inside');

/**
 * Makes a configuration of Rspack or webpack build a remote: `plugins: [new RemotePlugin({ name: 'gifts', label: '礼物' })]`.
 * Reads version and routes from `package.json` and `src/routes`, exposes `src/remote`, takes React and the runtime from the host and
 * writes `liaozhai.json`. How sources are compiled is left to the configuration. With `dev` it sets what development needs instead.
 */
export class RemotePlugin {
  readonly #options: PluginOptions;

  constructor(options: PluginOptions) {
    this.#options = options;
  }

  // both compilers' types are met: what is used of them is the same
  apply(given: object) {
    const compiler = given as Rspack.Compiler;
    const { dev, devPort = DEV_PORT, ...remote } = this.#options;
    const root = compiler.options.context ?? process.cwd();
    requireExposed(root);
    if (dev === 'alone') return runAlone(compiler, root, remote.label, devPort);
    if (dev === 'inside') runInside(compiler, root, devPort);
    buildRemote(compiler, remote, outsideFacts(root));
  }
}

function buildRemote(compiler: Rspack.Compiler, remote: OutsideRemote & Exchange, facts: PackageFacts) {
  const { options } = compiler;
  const global = containerGlobal(remote.name, facts.sourceHash);
  // the container is the only entry
  options.entry = {};
  Object.assign(options.output, { publicPath: 'auto', clean: true, ...remoteOutput(global) });
  // class names are made of it, so that two builds of one remote never share a style
  options.output.hashSalt ??= facts.sourceHash;
  // published apart from the build, which no file of it leads to
  if (options.mode === 'production') options.devtool ||= 'hidden-nosources-source-map';
  options.output.chunkFilename ??= '[name].[contenthash:8].js';
  Object.assign(options.optimization, oneEntry(global));
  options.resolve.alias = { ...options.resolve.alias, ...esmRuntime() };
  new (federationOf(compiler))(federationOptions(global, facts.root, outsideModules(), remote)).apply(compiler);
  emitTypes(compiler, facts.root, remote.exposes);
  const declaration = readDeclaration(facts.root);
  // told where it is awaited; until then it is nobody's unhandled rejection
  declaration.catch(() => {});
  compiler.hooks.thisCompilation.tap('RemotePlugin', (compilation) => {
    const stage = compiler.webpack.Compilation.PROCESS_ASSETS_STAGE_REPORT;
    compilation.hooks.processAssets.tapPromise({ name: 'RemotePlugin', stage }, async () => {
      const declared = await declaration;
      emitDescription(compilation, compiler.webpack.sources, () =>
        describeRemote(compilation, remote, facts, declared),
      );
    });
  });
}

/** The code is built as it will be shipped, since the host's React is the production one, and a page is reloaded after every change. */
function runInside(compiler: Rspack.Compiler, root: string, port: number) {
  const { options, webpack } = compiler;
  options.mode = 'production';
  options.devtool = 'source-map';
  options.optimization.minimize = false;
  options.output.path = insideFolder(root);
  new webpack.BannerPlugin({ banner: reloadClient(port), raw: true, include: 'remoteEntry.js' }).apply(compiler);
  const built = serveInside(insideFolder(root), port, portSetting);
  compiler.hooks.done.tap('RemotePlugin', (stats) => {
    if (!stats.hasErrors()) built();
  });
}

interface DevServer {
  server?: { prependListener(event: 'error', listener: (cause: NodeJS.ErrnoException) => void): void };
}

/** One remote alone with hot reload: no federation, everything in one bundle. */
function runAlone(compiler: Rspack.Compiler, root: string, label: string, port: number) {
  const { options, webpack } = compiler;
  options.mode = 'development';
  options.entry = { index: { import: [standAloneEntry] } };
  options.output.publicPath = '/';
  options.output.trustedTypes = { policyName: DEV_TRUSTED };
  // the policy refuses `eval`, which is the default
  if (options.devtool === undefined || String(options.devtool).startsWith('eval'))
    options.devtool = 'cheap-module-source-map';
  options.resolve.alias = { ...options.resolve.alias, 'liaozhai-remote$': join(root, exposedModule) };
  const own = options.devServer || {};
  options.devServer = {
    port,
    historyApiFallback: true,
    static: false,
    headers: { 'Content-Security-Policy': devPolicy() },
    client: { overlay: { errors: true, warnings: false, runtimeErrors: false } },
    setupMiddlewares: (middlewares: unknown, { server }: DevServer) => {
      server?.prependListener('error', ({ code }) => {
        if (code === 'EADDRINUSE') endForTakenPort(port, portSetting);
      });
      return middlewares;
    },
    ...own,
    // the first that fits wins
    proxy: [
      ...(own.proxy ?? []),
      ...Object.entries(backendProxy()).map(([path, target]) => ({ context: [path], ...target })),
    ],
  } as typeof options.devServer;
  compiler.hooks.thisCompilation.tap('RemotePlugin', (compilation) => {
    const stage = webpack.Compilation.PROCESS_ASSETS_STAGE_REPORT;
    compilation.hooks.processAssets.tap({ name: 'RemotePlugin', stage }, () => {
      const files = compilation.entrypoints.get('index')?.getFiles() ?? [];
      const head = files
        .filter((file) => !file.includes('.hot-update.'))
        .map((file) =>
          file.endsWith('.css') ? `<link rel="stylesheet" href="/${file}">` : `<script defer src="/${file}"></script>`,
        );
      compilation.emitAsset('index.html', new webpack.sources.RawSource(standAlonePage(label, head.join('\n'))));
    });
  });
}

/** Throws where a build would expose nothing. */
export function requireExposed(root: string) {
  if (!['.ts', '.tsx', '.js', '.jsx'].some((extension) => existsSync(join(root, exposedModule + extension))))
    throw new Error(`${exposedModule}.ts is missing in ${root}: run the build in the remote's folder`);
}
