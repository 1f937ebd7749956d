import federation from '@module-federation/webpack-bundler-runtime/bundler';

declare global {
  var __federationRuntime: (() => object) | undefined;
}

/**
 * Builds for contract 2.0 have no bundler runtime of their own: each takes one from the host as it starts. To be deleted
 * with the first host that no such build is released beside.
 */
export function provideFormerRuntime() {
  globalThis.__federationRuntime = () => ({
    ...federation,
    bundlerRuntime: { ...federation.bundlerRuntime, S: {} },
    bundlerRuntimeOptions: {},
  });
}
