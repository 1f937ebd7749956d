import { createRequire } from 'node:module';
import { join } from 'node:path';
import { CONTRACT_VERSION } from '../contract/remote.ts';

const require = createRequire(import.meta.url);

const resolvedVersion = (name: string) => (require(`${name}/package.json`) as { version: string }).version;

export const federationVersion = resolvedVersion('@module-federation/runtime');

/** Range of `shared/runtime` that remotes of this repository require. */
export const contractRange = `^${CONTRACT_VERSION}`;

const RUNTIME_NAME = '@liaozhai/shared/runtime';

export const requiredVersions: Record<string, string> = {
  react: '^19.3.0',
  'react/jsx-runtime': '^19.3.0',
  'react-dom': '^19.3.0',
  // `workspace:*` would become a required version and warn on each load
  [RUNTIME_NAME]: contractRange,
};

/** Like `requiredVersions`, with a remote's own range for the runtime. */
export const requiredVersionsFor = ({ contract = contractRange }: { contract?: string }): Record<string, string> => ({
  ...requiredVersions,
  [RUNTIME_NAME]: contract,
});

export const providedVersions = (): Record<string, string> => {
  const versionOf = (name: string) =>
    name === RUNTIME_NAME ? CONTRACT_VERSION : resolvedVersion(name.startsWith('react/') ? 'react' : name);
  return Object.fromEntries(Object.keys(requiredVersions).map((name) => [name, versionOf(name)]));
};

export type SharedModules = Record<
  string,
  { singleton: boolean; version: string; requiredVersion?: string; shareKey?: string; import?: false }
>;

/** Singletons that the host provides (`host/src/federation/federation.ts`); remotes do not bundle them. */
export const sharedModules = (): SharedModules =>
  Object.fromEntries(
    Object.entries(providedVersions()).map(([name, version]) => [
      name,
      { singleton: true, version, requiredVersion: requiredVersions[name], import: false },
    ]),
  );

/**
 * Modules from the host for a remote of another repository. It imports the shared runtime as `@liaozhai/runtime`, a package of
 * which only the types are used.
 */
export function outsideModules(): SharedModules {
  const { [RUNTIME_NAME]: runtime, ...libraries } = sharedModules();
  return runtime ? { ...libraries, '@liaozhai/runtime': { ...runtime, shareKey: RUNTIME_NAME } } : libraries;
}

/** The plug-in resolves its runtime by `require`, as CommonJS without tree shaking: 11.7 instead of 7.8 KiB (Brotli) per entry. */
export const esmRuntime = () =>
  Object.fromEntries(
    ['@module-federation/webpack-bundler-runtime', '@module-federation/runtime'].map((name) => [
      require.resolve(name),
      require.resolve(`${name}/bundler`),
    ]),
  );

/** react-router's `exports` point to its development build; the production build next to it contains no warnings. */
export const productionRouter = () => {
  const fromDom = createRequire(require.resolve('react-router-dom'));
  const entry = fromDom.resolve('react-router').replace(/index\.(m?js)$/, 'index.mjs');
  return { 'react-router$': entry.replace('/development/', '/production/') };
};

export const unusedOfAxios = join(import.meta.dirname, 'unusedOfAxios.js');
