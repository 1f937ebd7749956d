import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { RemotePlugin } from '../../../shared/src/build/remotePlugin.ts';
import { repoRoot } from './repoRoot.ts';

/** A remote built by a bundler with custom settings, without packages of this repository. */
export interface Guest {
  name: string;
  version: string;
  /** Source of `src/Page.js`. */
  page: string;
  /** Slots that it fills, each with the component in `src/<file>`. */
  slots?: { name: string; order?: number; file: string }[];
  /** Additional files of its folder. */
  files?: Record<string, string>;
  /** Federation settings in addition to name, entry and module. */
  federation?: Record<string, unknown>;
  /** A container name that is the same for every build. */
  global?: string;
  /** Builds for contract 2.0, in which the page provides the bundler runtime. */
  isFormer?: boolean;
  /** Bundler and federation. Default: Rspack with this repository's federation. */
  kit?: Kit;
}

const require = createRequire(join(repoRoot, 'e2e/package.json'));
/** Older bundlers, each with federation of its time, installed separately. */
const requireOlder = createRequire(join(repoRoot, 'e2e/older/package.json'));

interface Compiler {
  run(done: (failure: Error | null, stats?: { hasErrors(): boolean; toString(options: object): string }) => void): void;
}
type Compile = (options: object) => Compiler;
type Plugin = new (options: object) => object;

/** Input of every kit: the folder, and the name of the container and its chunks. */
interface Task {
  root: string;
  global: string;
  guest: Guest;
}

const container = ({ global, guest: { federation = {} } }: Task) => ({
  name: global,
  filename: 'remoteEntry.js',
  library: { type: 'var', name: global },
  exposes: { './remote': './src/remote.js' },
  ...federation,
  shared: { react: { singleton: true, requiredVersion: '^19.0.0', import: false }, ...(federation.shared ?? {}) },
});

const run = (compilation: Compiler) =>
  new Promise<void>((resolve, reject) =>
    compilation.run((failure, stats) => {
      if (failure || stats?.hasErrors()) reject(failure ?? new Error(stats?.toString({ all: false, errors: true })));
      else resolve();
    }),
  );

async function compile(compiler: Compile, task: Task, plugin: object): Promise<void> {
  const { root, global, guest } = task;
  const runtime = createRequire(join(repoRoot, 'shared/package.json')).resolve(
    '@module-federation/webpack-bundler-runtime',
  );
  const compilation = compiler({
    context: root,
    mode: 'production',
    entry: {},
    experiments: { css: true },
    output: {
      path: join(root, 'dist'),
      publicPath: 'auto',
      uniqueName: global,
      chunkLoadingGlobal: `chunks_${global}`,
      chunkFilename: '[name].js',
      cssChunkFilename: '[name].css',
    },
    module: { rules: [{ test: /\.css$/, type: 'css/auto' }] },
    resolve: { alias: guest.isFormer ? { [runtime]: join(root, 'former.js') } : {} },
    plugins: [plugin],
  });
  await run(compilation);
}

const FORMER_OPTIONS = { shareStrategy: 'loaded-first', experiments: { externalRuntime: true } };

const federate = (requireKit: NodeJS.Require, bundler: string, federation: string) => async (task: Task) => {
  // federation stores here which webpack the process uses
  delete process.env.FEDERATION_WEBPACK_PATH;
  const isWebpack = bundler === 'webpack';
  const compiler = isWebpack ? requireKit(bundler) : requireKit(bundler).rspack;
  const { ModuleFederationPlugin } = requireKit(`${federation}/${isWebpack ? 'webpack' : 'rspack'}`);
  const options = { remoteType: 'script', dts: false, manifest: true, ...(task.guest.isFormer ? FORMER_OPTIONS : {}) };
  await compile(compiler, task, new ModuleFederationPlugin({ ...container(task), ...options }));
};

const KITS = {
  rspack: federate(require, '@rsbuild/core', '@module-federation/enhanced'),
  'rspack, federation 2.3': federate(require, '@rsbuild/core', '@module-federation/enhanced-2.3'),
  'rspack, newest federation': federate(require, '@rsbuild/core', '@module-federation/enhanced-newest'),
  'rspack 1, federation 2.0': federate(requireOlder, '@rspack/core', '@module-federation/enhanced'),
  'webpack 5.99, federation 2.0': federate(requireOlder, 'webpack', '@module-federation/enhanced'),
  'webpack, newest federation': federate(require, 'webpack', '@module-federation/enhanced-newest'),
  'webpack, its own container plug-in': async (task: Task) => {
    const webpack = require('webpack') as Compile & { container: { ModuleFederationPlugin: Plugin } };
    await compile(webpack, task, new webpack.container.ModuleFederationPlugin(container(task)));
  },
  'vite, ES modules': async (task: Task) => {
    const [vite, plugin] = ['vite', '@module-federation/vite'];
    const { build } = (await import(vite)) as { build(options: object): Promise<unknown> };
    const { federation } = (await import(plugin)) as { federation(options: object): object };
    const { root, guest } = task;
    mkdirSync(join(root, 'node_modules'), { recursive: true });
    symlinkSync(dirname(require.resolve('react/package.json')), join(root, 'node_modules/react'));
    await build({
      root,
      configFile: false,
      logLevel: 'error',
      base: './',
      build: { target: 'es2022', rollupOptions: { input: join(root, 'src/remote.js') } },
      plugins: [federation({ ...container(task), name: guest.name, library: undefined, manifest: true, dts: false })],
    });
  },
  'the plug-in for teams': async ({ root, guest: { name, federation } }: Task) => {
    const { rspack } = require('@rsbuild/core') as { rspack: Compile };
    const remotes = Object.keys(federation?.remotes ?? {});
    await run(
      rspack({
        context: root,
        mode: 'production',
        entry: {},
        output: { path: join(root, 'dist') },
        experiments: { css: true },
        module: { rules: [{ test: /\.css$/, type: 'css/global' }] },
        plugins: [new RemotePlugin({ name, label: name, remotes })],
      }),
    );
  },
} as const;

export type Kit = keyof typeof KITS;
export const kits = Object.keys(KITS) as Kit[];

function write(root: string, files: Record<string, string>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Builds a guest. Returns the dist folder, and a function that removes it. */
export async function buildGuest(guest: Guest): Promise<{ dist: string; remove: () => void }> {
  const { name, version, page, slots = [], files = {}, isFormer, kit = 'rspack' } = guest;
  const slotFields = slots.map(({ file: _, ...field }) => field);
  const fillings = slots.map((slot) => `{ name: '${slot.name}', component: () => import('./${slot.file}') }`);
  const root = mkdtempSync(join(tmpdir(), `liaozhai-guest-${name}-`));
  const contract = isFormer ? '^2.0.0' : '^2.1.0';
  const route = { name, path: `/${name}`, title: name };
  write(root, {
    'package.json': JSON.stringify({
      name,
      version,
      liaozhai: { label: name, contract, routes: [route], slots: slotFields },
    }),
    'former.js': 'export default globalThis.__federationRuntime();',
    'pnpm-lock.yaml': '',
    'src/routes.js': `export const routes = [
      { ...${JSON.stringify(route)}, page: () => import(/* webpackChunkName: "${name}" */ './Page.js') },
    ];`,
    'src/remote.js': `import { routes } from './routes.js';
      export default { name: '${name}', contract: '${contract}', slots: [${fillings}], routes };`,
    'src/Page.js': page,
    'src/page.css': `.guest { color: rgb(1, 2, 3); }`,
    ...files,
  });
  await KITS[kit]({ root, guest, global: guest.global ?? `${name}_${version.replaceAll('.', '_')}` });
  return { dist: join(root, 'dist'), remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** Files of a library, as a package manager installs them. */
export const library = (name: string, version: string) => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, version, main: 'index.js' }),
  [`node_modules/${name}/index.js`]: `module.exports = { version: '${version}' };`,
});
