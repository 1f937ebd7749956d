import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  defineConfig,
  type EnvironmentConfig,
  mergeRsbuildConfig,
  type RsbuildConfig,
  type RsbuildPlugin,
  type Rspack,
  rspack,
} from '@rsbuild/core';
import type { HostDescription } from '../contract/releases.ts';
import { CONTRACT_VERSION } from '../contract/remote.ts';
import { chunkFiles, pluginDescribe } from './describeBuild.ts';
import { backendProxy, hotReload } from './devServer.ts';
import { type PackageFacts, packageFacts, repoRoot } from './facts.ts';
import { federationVersion, productionRouter, providedVersions, unusedOfAxios } from './federation.ts';
import { generate, pluginIcons, pluginPage, pluginPrerender, prerenderEnvironment, writePageTemplate } from './page.ts';
import { registeredRemotes } from './registry.ts';
import { baseConfig } from './rsbuildRemote.ts';
import { isStock, stockHostConfig } from './stock.ts';

// 3 KiB (Brotli) of unused code: every browser has XMLHttpRequest, and axios only re-exports the other two names
const replaceUnusedAxios = () =>
  new rspack.NormalModuleReplacementPlugin(
    /^\.\/(fetch|cancel\/CancelToken|helpers\/HttpStatusCode)\.js$/,
    (request) => {
      if (/axios[\\/]lib([\\/]adapters)?$/.test(request.context)) request.request = unusedOfAxios;
    },
  );

/**
 * Removes unused parts of react-router from the host, 2 KiB (Brotli). They are prefetching links of its framework mode, and forms,
 * kept only by their display names. Throws if a new version does not match.
 */
const stripUnusedRouterCode: RsbuildPlugin = {
  name: 'liaozhai:router',
  setup(api) {
    api.transform({ test: /react-router[\\/]dist[\\/]production[\\/]chunk-\w+\.mjs$/ }, ({ code }) => {
      if (!code.includes('function PrefetchPageLinks(')) return code;
      const strippedCode = code
        .replace('React10.createElement(PrefetchPageLinks, { page: href })', 'null')
        .replace(/= usePrefetchBehavior\(\s*prefetch,\s*rest\s*\)/g, '= [false, null, {}]')
        .replace(/^\w+\.displayName = "\w+";$/gm, '')
        .replace(/= (React\d*\.(?:forwardRef|createContext|memo)\()/g, '= /* @__PURE__ */ $1');
      if (/createElement\(PrefetchPageLinks,|= usePrefetchBehavior|^Form\.displayName/m.test(strippedCode))
        throw new Error('react-router has changed: look at stripUnusedRouterCode in shared/src/build/hostConfig.ts');
      return strippedCode;
    });
  },
};

function hostRspack(config: Rspack.Configuration, hash: string) {
  config.output = {
    ...config.output,
    uniqueName: `host_${hash}`,
    chunkLoadingGlobal: `chunks_host_${hash}`,
    strictModuleErrorHandling: true,
  };
  config.optimization = { ...config.optimization, splitChunks: false, runtimeChunk: false };
  config.resolve = { ...config.resolve, alias: { ...config.resolve?.alias, ...productionRouter() } };
  config.plugins?.push(
    replaceUnusedAxios(),
    // the runtime without snapshots, which would add manifests to the page: 1.1 KiB (Brotli)
    new rspack.DefinePlugin({ FEDERATION_OPTIMIZE_NO_SNAPSHOT_PLUGIN: 'true', ENV_TARGET: '"web"' }),
  );
}

/**
 * Compiles all remotes into the host, from the same sources: hot reload for `pnpm dev`, and the monolith of the benchmarks.
 * Enabled by LIAOZHAI_MONOLITH=1.
 */
const monolithConfig = (root: string): RsbuildConfig => {
  const entries = registeredRemotes(repoRoot)
    .map(({ name, label }) => ({ name, label, file: join(repoRoot, 'remotes', name, 'src/remote.ts') }))
    .filter(({ file }) => existsSync(file));
  const source = [
    ...entries.map(({ file }, index) => `import remote${index} from ${JSON.stringify(file)};`),
    'export const bundledRemotes = {',
    ...entries.map(
      ({ name, label }, index) =>
        `  ${JSON.stringify(name)}: { label: ${JSON.stringify(label)}, module: remote${index} },`,
    ),
    '};\n',
  ];
  const generatedPath = generate(root, 'bundledRemotes.ts', source.join('\n'));
  const alias = {
    [join(root, 'src/federation/bundledRemotes')]: generatedPath,
    // compiled-in remotes need no share scope
    [join(root, 'src/federation/federation')]: false as const,
  };
  return { resolve: { alias } };
};

function describeHost(compilation: Rspack.Compilation, { version, sourceHash }: PackageFacts): HostDescription {
  const entry = chunkFiles(compilation, 'host').js.at(-1);
  if (!entry) throw new Error('the host build has no entry script');
  return {
    ...{ kind: 'host', name: 'host', label: '聊斋', version, sourceHash },
    federation: federationVersion,
    contract: CONTRACT_VERSION,
    shared: { provides: providedVersions(), requires: {} },
    entry,
    css: [],
    template: 'page.html',
    serviceWorker: 'sw.js',
  };
}

/** The worker is a separate script at the origin's root, without federation. */
const serviceWorkerEnvironment: EnvironmentConfig = {
  source: { entry: { sw: './src/serviceWorker/sw.ts' } },
  output: { target: 'web-worker', filename: { js: '[name].js' }, distPath: { js: '' } },
  tools: { htmlPlugin: false },
};

/** The site's configuration, which the product's server inlines when it renders the page. */
const siteConfigTags = (json: string | undefined) =>
  json ? [{ tag: 'script', attrs: { type: 'application/json', id: 'liaozhai-config' }, children: json }] : [];

/** Rsbuild configuration of the host: eager singletons, no HTML plugin, `page.html` with inlined critical CSS. */
export const hostConfig = () =>
  defineConfig(async ({ command }) => {
    const facts = packageFacts('host', process.cwd());
    if (isStock) return stockHostConfig(facts);
    const isMonolith = command === 'dev' || process.env.LIAOZHAI_MONOLITH === '1';
    const config = mergeRsbuildConfig(baseConfig(facts), { plugins: [pluginIcons] });
    if (command === 'dev') {
      return mergeRsbuildConfig(config, hotReload, monolithConfig(process.cwd()), {
        source: { entry: { index: './src/boot.ts' } },
        html: { template: writePageTemplate(facts.root), tags: siteConfigTags(process.env.LIAOZHAI_CONFIG) },
        output: { assetPrefix: '/' },
        dev: { assetPrefix: '/' },
        server: { port: Number(process.env.PORT ?? 3000), historyApiFallback: true, proxy: backendProxy() },
      });
    }
    const tools: RsbuildConfig['tools'] = {
      htmlPlugin: false,
      rspack: (config) => hostRspack(config, facts.sourceHash),
    };
    const dist = isMonolith ? 'dist-monolith' : 'dist';
    return {
      ...mergeRsbuildConfig(config, ...(isMonolith ? [monolithConfig(facts.root)] : []), {
        output: { distPath: { root: dist } },
        plugins: [pluginPrerender(facts.root, join(facts.root, dist))],
      }),
      environments: {
        web: {
          source: { entry: { host: './src/boot.ts' } },
          plugins: [
            pluginDescribe((compilation) => describeHost(compilation, facts)),
            pluginPage(facts.root),
            stripUnusedRouterCode,
          ],
          tools,
        },
        serviceWorker: serviceWorkerEnvironment,
        first: prerenderEnvironment(facts.root),
      },
    };
  });
