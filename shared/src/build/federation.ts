import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CONTRACT_VERSION } from '../contract/remote.ts';

const require = createRequire(import.meta.url);
const folder = dirname(fileURLToPath(import.meta.url));

const readPackage = (path: string) => require(path) as { version: string; dependencies?: Record<string, string> };
const installed = (name: string) => readPackage(`${name}/package.json`).version;

/** The version of Module Federation that a build is made with. */
export const federationVersion = readPackage('@module-federation/runtime/package.json').version;

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

/** The same of a remote that names another range for the runtime. */
export const requiredFor = ({ contract = contractRange }: { contract?: string }): Record<string, string> => ({
  ...requiredVersions,
  [RUNTIME]: contract,
});

const providedVersion = (name: string) =>
  name.startsWith('@liaozhai/') ? CONTRACT_VERSION : installed(name.startsWith('react/') ? 'react' : name);

export const providedVersions = () =>
  Object.fromEntries(Object.keys(requiredVersions).map((name) => [name, providedVersion(name)]));

export type SharedModules = Record<
  string,
  { singleton: boolean; version: string; requiredVersion?: string; shareKey?: string; import?: false }
>;

/** Singletons: provided by the host (`host/src/federation/federation.ts`), never carried by a remote. */
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

/** The plug-in resolves its runtime by `require`, that is as CommonJS, which cannot be tree-shaken: 11.7 → 7.8 KiB br per entry. */
export const esmRuntime = () =>
  Object.fromEntries(
    ['@module-federation/webpack-bundler-runtime', '@module-federation/runtime'].map((name) => [
      require.resolve(name),
      require.resolve(`${name}/bundler`),
    ]),
  );

/** react-router names its development build in `exports`; the production build beside it has no warnings in it. */
export const productionRouter = () => {
  const fromDom = createRequire(require.resolve('react-router-dom'));
  const entry = fromDom.resolve('react-router').replace(/index\.(m?js)$/, 'index.mjs');
  return { 'react-router$': entry.replace('/development/', '/production/') };
};

export const unusedOfAxios = join(folder, 'unusedOfAxios.js');
