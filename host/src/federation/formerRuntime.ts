import federation from '@module-federation/webpack-bundler-runtime/bundler';

declare global {
  var __federationRuntime: (() => object) | undefined;
}

/** Provides the bundler runtime for builds of contract 2.0, which have none of their own. Delete once no released set has such a build. */
export function provideFormerRuntime() {
  globalThis.__federationRuntime = () => ({
    ...federation,
    bundlerRuntime: { ...federation.bundlerRuntime, S: {} },
    bundlerRuntimeOptions: {},
  });
}
