/**
 * Federation's plug-in in a remote that imports modules of others: `import('stories/…')` asks again for what did not come. The bundler
 * keeps a module that threw, here for want of the other remote, and would throw the same for ever.
 */
export default () => ({
  name: 'retried-imports',
  beforeRequest(args) {
    const modules = __webpack_require__.c ?? {};
    for (const id of Object.keys(modules)) if (modules[id].error) delete modules[id];
    return args;
  },
});
