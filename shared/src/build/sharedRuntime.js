// replaces @module-federation/webpack-bundler-runtime inside remotes: the host shares its own
export default globalThis.__federationRuntime();
