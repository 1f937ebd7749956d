import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

export const requiredVersions: Record<string, string> = {
  react: '^19.3.0',
  'react/jsx-runtime': '^19.3.0',
  'react-dom': '^19.3.0',
  // workspace:* would become a required version and warn on each load
  '@liaozhai/shared/runtime': contractRange,
};

const providedVersion = (name: string) =>
  name.startsWith('@liaozhai/') ? CONTRACT_VERSION : installed(name.startsWith('react/') ? 'react' : name);

export const providedVersions = () =>
  Object.fromEntries(Object.keys(requiredVersions).map((name) => [name, providedVersion(name)]));

/** Singletons: provided eagerly by the host (no async bootstrap), never carried by a remote. */
export function sharedModules(side: 'host' | 'remote') {
  const entry = (name: string) => ({
    singleton: true,
    version: providedVersion(name),
    requiredVersion: requiredVersions[name],
    ...(side === 'host' ? { eager: true } : { import: false as const }),
  });
  return Object.fromEntries(Object.keys(requiredVersions).map((name) => [name, entry(name)]));
}

const federationFile = (path: string) =>
  join(dirname(require.resolve('@module-federation/webpack-bundler-runtime')), path);
const runtimeFile = (path: string) => join(dirname(require.resolve('@module-federation/runtime')), path);

/** The plugin resolves its runtime by `require`, i.e. as CommonJS, which cannot be tree-shaken: 26.4 → 11.7 KiB br per entry. */
export const esmRuntime = () => ({
  [federationFile('index.cjs')]: federationFile('index.js'),
  [runtimeFile('index.cjs')]: runtimeFile('index.js'),
});

/** Remotes take the bundler runtime from the host: 7.1 → 3.3 KiB br per entry. */
export const sharedRuntime = () => ({
  [federationFile('index.cjs')]: join(folder, 'sharedRuntime.js'),
});

/** Lets the host hand its runtime core to remotes; the experiments flag of the same effect pulls the CommonJS build. */
export const shareCorePlugin = () =>
  join(dirname(require.resolve('@module-federation/inject-external-runtime-core-plugin')), 'index.js');

/** react-router names its development build in `exports`; the production build beside it has no warnings in it. */
export const productionRouter = () => {
  const fromDom = createRequire(require.resolve('react-router-dom'));
  const entry = fromDom.resolve('react-router').replace(/index\.(m?js)$/, 'index.mjs');
  return { 'react-router$': entry.replace('/development/', '/production/') };
};

export const unusedOfAxios = join(folder, 'unusedOfAxios.js');
export const noFederation = join(folder, 'noFederation.js');
