/**
 * Federation plug-in of a remote that imports modules of others: `import('stories/…')` retries after a failure. The bundler caches
 * a module that threw, e.g. because the other remote was missing, and would throw the same error again.
 */
export default () => ({
  name: 'retried-imports',
  beforeRequest(args) {
    const modules = __webpack_require__.c ?? {};
    for (const id of Object.keys(modules)) if (modules[id].error) delete modules[id];
    return args;
  },
});
