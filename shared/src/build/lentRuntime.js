// stands in for @module-federation/webpack-bundler-runtime inside remotes
export default globalThis.__lend();
