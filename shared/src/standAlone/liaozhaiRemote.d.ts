/** The remote that is being developed: an alias of its `src/remote.ts`. */
declare module 'liaozhai-remote' {
  const remote: import('../contract').RemoteModule;
  export default remote;
}
