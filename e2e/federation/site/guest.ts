import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rspack } from '@rsbuild/core';
import { repoRoot } from './repoRoot.ts';

/** A remote that a bundler builds with its own settings, without any package of ours. */
export interface Guest {
  name: string;
  version: string;
  /** `src/Page.js`; the text it shows is the test's. */
  page: string;
  /** Further files of its folder. */
  files?: Record<string, string>;
  /** Federation's own settings beside name, entry and module. */
  federation?: Record<string, unknown>;
  /** A name that is the same for every build. */
  global?: string;
  /** As builds for contract 2.0: the bundler runtime comes from the page. */
  isFormer?: boolean;
}

const require = createRequire(join(repoRoot, 'shared/package.json'));
const { ModuleFederationPlugin } = require('@module-federation/enhanced/rspack') as {
  ModuleFederationPlugin: new (options: object) => { apply(compiler: object): void };
};

const FORMER = 'export default globalThis.__federationRuntime();';

function write(root: string, files: Record<string, string>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

/** Builds a guest. Returns its dist folder and the way to remove it. */
export async function buildGuest(guest: Guest): Promise<{ dist: string; remove: () => void }> {
  const { name, version, page, files = {}, federation = {}, isFormer } = guest;
  const root = mkdtempSync(join(tmpdir(), `liaozhai-guest-${name}-`));
  const global = guest.global ?? `${name}_${version.replaceAll('.', '_')}`;
  write(root, {
    'package.json': JSON.stringify({
      name,
      version,
      liaozhai: {
        label: name,
        contract: isFormer ? '^2.0.0' : '^2.1.0',
        routes: [{ name, path: `/${name}`, title: name }],
      },
    }),
    'former.js': FORMER,
    'src/remote.js': `export default { name: '${name}', contract: '${isFormer ? '^2.0.0' : '^2.1.0'}', slots: [], routes: [
      { name: '${name}', path: '/${name}', title: '${name}', page: () => import(/* webpackChunkName: "page" */ './Page.js') },
    ] };`,
    'src/Page.js': page,
    'src/page.css': `.guest { color: rgb(1, 2, 3); }`,
    ...files,
  });
  const runtime = require.resolve('@module-federation/webpack-bundler-runtime');
  const former = { [runtime]: join(root, 'former.js') };
  const compiler = rspack({
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
    module: { rules: [{ test: /\.css$/, type: 'css/global' as never }] },
    resolve: { alias: isFormer ? former : {} },
    plugins: [
      new ModuleFederationPlugin({
        name: global,
        filename: 'remoteEntry.js',
        library: { type: 'var', name: global },
        remoteType: 'script',
        exposes: { './remote': './src/remote.js' },
        dts: false,
        manifest: true,
        ...federation,
        ...(isFormer ? { shareStrategy: 'loaded-first', experiments: { externalRuntime: true } } : {}),
        shared: { react: { singleton: true, requiredVersion: '^19.0.0', import: false }, ...(federation.shared ?? {}) },
      }) as never,
    ],
  });
  await new Promise<void>((resolve, reject) =>
    compiler.run((failure, stats) => {
      if (failure || stats?.hasErrors())
        return reject(failure ?? new Error(stats?.toString({ all: false, errors: true })));
      resolve();
    }),
  );
  const dist = join(root, 'dist');
  return { dist, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** The files of a library as a package manager would install it. */
export const library = (name: string, version: string) => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, version, main: 'index.js' }),
  [`node_modules/${name}/index.js`]: `module.exports = { version: '${version}' };`,
});
