import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Rspack } from '@rsbuild/core';
import { CONTRACT_VERSION } from '../contract/remote.ts';

const require = createRequire(import.meta.url);
const folder = dirname(fileURLToPath(import.meta.url));

const readPackage = (path: string) => require(path) as { version: string; dependencies?: Record<string, string> };
const installed = (name: string) => readPackage(`${name}/package.json`).version;

/** The exact Module Federation version; shared internals make it a contract between host and remotes. */
export const federationVersion = readPackage(
  join(dirname(require.resolve('@module-federation/webpack-bundler-runtime')), '../package.json'),
).version;

/** The range of `shared/runtime` that a remote built here needs. */
export const contractRange = `^${CONTRACT_VERSION}`;

/** The shared runtime's name in the share scope. */
const RUNTIME = '@liaozhai/shared/runtime';

export const requiredVersions: Record<string, string> = {
  react: '^19.3.0',
  'react/jsx-runtime': '^19.3.0',
  'react-dom': '^19.3.0',
  // workspace:* would become a required version and warn on each load
  [RUNTIME]: contractRange,
};

const providedVersion = (name: string) =>
  name.startsWith('@liaozhai/') ? CONTRACT_VERSION : installed(name.startsWith('react/') ? 'react' : name);

export const providedVersions = () =>
  Object.fromEntries(Object.keys(requiredVersions).map((name) => [name, providedVersion(name)]));

export type SharedModules = Record<
  string,
  { singleton: boolean; version: string; requiredVersion?: string; shareKey?: string; import?: false }
>;

/** Singletons: provided by the host (`host/src/federation/sharedRuntime.ts`), never carried by a remote. */
export function sharedModules(): SharedModules {
  const entry = (name: string) => ({
    singleton: true,
    version: providedVersion(name),
    requiredVersion: requiredVersions[name],
    import: false as const,
  });
  return Object.fromEntries(Object.keys(requiredVersions).map((name) => [name, entry(name)]));
}

/**
 * What a remote of another repository takes from the host: it imports the shared runtime as the package
 * `@liaozhai/runtime`, of which everything but the types stays behind.
 */
export function outsideModules(): SharedModules {
  const { [RUNTIME]: runtime, ...libraries } = sharedModules();
  return runtime ? { ...libraries, '@liaozhai/runtime': { ...runtime, shareKey: RUNTIME } } : libraries;
}

const federationFile = (path: string) =>
  join(dirname(require.resolve('@module-federation/webpack-bundler-runtime')), path);
const runtimeFile = (path: string) => join(dirname(require.resolve('@module-federation/runtime')), path);

/** The plugin resolves its runtime by `require`, i.e. as CommonJS, which cannot be tree-shaken: 26.4 → 11.7 KiB br per entry. */
export const esmRuntime = () => ({
  [federationFile('index.cjs')]: federationFile('index.js'),
  [runtimeFile('index.cjs')]: runtimeFile('index.js'),
});

/**
 * Remotes take the bundler runtime from the host: 7.1 → 3.3 KiB br per entry. The plugin for Rspack asks for it by the one name, that for
 * webpack by the other; a runtime of its own would not find the federation core, which the host has in its own bundle.
 */
export const sharedRuntime = () =>
  Object.fromEntries(
    ['index.cjs', 'bundler.js'].map((file) => [federationFile(file), join(folder, 'sharedRuntime.js')]),
  );

/** react-router names its development build in `exports`; the production build beside it has no warnings in it. */
export const productionRouter = () => {
  const fromDom = createRequire(require.resolve('react-router-dom'));
  const entry = fromDom.resolve('react-router').replace(/index\.(m?js)$/, 'index.mjs');
  return { 'react-router$': entry.replace('/development/', '/production/') };
};

export const unusedOfAxios = join(folder, 'unusedOfAxios.js');

/** The host's side, `host/src/federation/assetLoader.ts`; what it rejects with has its kind as `kind`. */
type LoadAsset = (kind: 'script' | 'style', url: string) => Promise<void>;

/**
 * Replaces Rspack's script loader: every late chunk of a build goes through the host's asset loader
 * (`globalThis.__loadAsset`), which checks the hash, the Trusted Types policy and the time limit. The kind of a failure
 * becomes the `type` of Rspack's ChunkLoadError.
 */
export class AssetLoaderPlugin implements Rspack.RspackPluginInstance {
  apply(compiler: Rspack.Compiler) {
    const { RuntimeModule, RuntimeGlobals } = compiler.webpack;
    class AssetLoaderModule extends RuntimeModule {
      constructor() {
        super('asset loader', RuntimeModule.STAGE_TRIGGER);
      }
      override generate() {
        return `${RuntimeGlobals.loadScript} = (url, done) => {
  globalThis.__loadAsset('script', url).then(
    () => done({ type: 'load' }),
    (error) => done({ type: error.kind, target: { src: url } }),
  );
};`;
      }
    }
    compiler.hooks.thisCompilation.tap('AssetLoaderPlugin', (compilation) => {
      compilation.hooks.runtimeRequirementInTree.for(RuntimeGlobals.loadScript).tap('AssetLoaderPlugin', (chunk) => {
        compilation.addRuntimeModule(chunk, new AssetLoaderModule());
        return true;
      });
    });
  }
}

/** Given to cssExtract as `insert`: serialised into the runtime, so it may close over nothing. */
export const insertStylesheet = (tag: HTMLLinkElement) => {
  const { __loadAsset } = globalThis as unknown as { __loadAsset: LoadAsset };
  __loadAsset('style', tag.href).then(
    () => tag.onload?.(new Event('load')),
    (error) => (tag.onerror as ((event: unknown) => void) | null)?.({ type: error.kind, target: { href: tag.href } }),
  );
};
