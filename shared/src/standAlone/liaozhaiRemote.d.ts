/** The remote in development: an alias of its `src/remote.ts`. */
declare module 'liaozhai-remote' {
  const remote: import('../contract').RemoteModule;
  export default remote;
}

interface ImportMeta {
  /** Set by the dev servers of Rspack and webpack. */
  readonly webpackHot?: { accept(module: string, updated: () => void): void };
}
