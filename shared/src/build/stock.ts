import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ModuleFederationPlugin } from '@module-federation/enhanced/rspack';
import { mergeRsbuildConfig, type RsbuildConfig } from '@rsbuild/core';
import { readDeclaration } from './describeBuild.ts';
import { type PackageFacts, repoRoot } from './facts.ts';
import { contractRange, requiredVersions } from './federation.ts';
import { generate, writePageTemplate } from './page.ts';
import { registeredRemotes } from './registry.ts';
import { baseConfig } from './rsbuildRemote.ts';

/** Enabled by LIAOZHAI_STOCK=1: Module Federation as documented, as a baseline of the benchmarks. */
export const isStock = process.env.LIAOZHAI_STOCK === '1';

const libraries = ['react-router-dom', '@reduxjs/toolkit', 'react-redux', 'axios'];

const shared = {
  ...Object.fromEntries(
    Object.entries(requiredVersions).map(([name, requiredVersion]) => [name, { singleton: true, requiredVersion }]),
  ),
  ...Object.fromEntries(libraries.map((name) => [name, { singleton: true }])),
};

const defaults = { shared, shareStrategy: 'version-first', manifest: true, dts: false, dev: false } as const;

function stockBase(facts: PackageFacts, name: string): RsbuildConfig {
  return mergeRsbuildConfig(baseConfig(facts), {
    output: { assetPrefix: `/stock/${name}/`, distPath: { root: 'dist-stock' } },
  });
}

/** Exposed name → file of each route's page and each slot's component, from the imports in `src/routes.tsx`. */
function exposesOf(root: string): Record<string, string> {
  const source = readFileSync(join(root, 'src/routes.tsx'), 'utf8');
  const imports = source.matchAll(/webpackChunkName: "([^"]+)" \*\/ '([^']+)'/g);
  return Object.fromEntries([...imports].map(([, name, file]) => [`./${name}`, `./${join('src', file ?? '')}`]));
}

export function stockRemoteConfig(facts: PackageFacts, name: string): RsbuildConfig {
  return mergeRsbuildConfig(stockBase(facts, name), {
    source: { entry: { index: './src/remote.ts' } },
    tools: {
      htmlPlugin: false,
      rspack: (config) => {
        config.entry = {};
        config.output = { ...config.output, uniqueName: name };
        config.optimization = { ...config.optimization, splitChunks: false };
        config.plugins?.push(
          new ModuleFederationPlugin({ ...defaults, name, filename: 'remoteEntry.js', exposes: exposesOf(facts.root) }),
        );
      },
    },
  });
}

/** Source of the module that replaces `bundledRemotes`: declares the remotes and loads them through federation. */
async function remotesModule(remotes: { name: string; label: string }[]): Promise<string> {
  const entries = remotes.map(async ({ name, label }) => {
    const { routes, slots } = await readDeclaration(join(repoRoot, 'remotes', name));
    const load = (exposed: string) => `() => import(${JSON.stringify(`${name}/${exposed}`)})`;
    const sourceList = (kind: string, items: { name: string }[]) =>
      `[${items.map((item) => `{ ...${JSON.stringify(item)}, ${kind}: ${load(item.name)} }`).join(', ')}]`;
    const module = `{ name: ${JSON.stringify(name)}, contract: '${contractRange}', routes: ${sourceList('page', routes)}, slots: ${sourceList('component', slots)} }`;
    return `${JSON.stringify(name)}: { label: ${JSON.stringify(label)}, module: ${module} },`;
  });
  return `export const bundledRemotes = {\n${(await Promise.all(entries)).join('\n')}\n};\n`;
}

export async function stockHostConfig(facts: PackageFacts): Promise<RsbuildConfig> {
  const { root } = facts;
  const remotes = registeredRemotes(repoRoot);
  const bundledRemotes = generate(root, 'stockRemotes.ts', await remotesModule(remotes));
  // the documented asynchronous boundary: shared modules are negotiated before the app's modules run
  const entry = generate(root, 'stockEntry.ts', `import(${JSON.stringify(join(root, 'src/boot.ts'))});\n`);
  return mergeRsbuildConfig(stockBase(facts, 'host'), {
    source: { entry: { index: entry } },
    html: { template: writePageTemplate(root) },
    resolve: {
      alias: {
        [join(root, 'src/federation/bundledRemotes')]: bundledRemotes,
        [join(root, 'src/federation/federation')]: false,
        // part of a shared module, which is unavailable before the negotiation
        '@liaozhai/shared/runtime/store': false,
      },
    },
    tools: {
      rspack: (config) => {
        config.output = { ...config.output, uniqueName: 'host' };
        config.plugins?.push(
          new ModuleFederationPlugin({
            ...defaults,
            name: 'host',
            remotes: Object.fromEntries(remotes.map(({ name }) => [name, `${name}@/stock/${name}/mf-manifest.json`])),
          }),
        );
      },
    },
  });
}
