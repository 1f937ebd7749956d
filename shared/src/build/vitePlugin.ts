import type { RemoteDescription } from '../contract/releases.ts';
import { readDeclaration } from './describeBuild.ts';
import { outsideFacts } from './facts.ts';
import { contractRange, federationVersion, outsideModules, requiredVersions } from './federation.ts';
import { floor } from './floor.ts';
import { containerGlobal, exposedModule, type OutsideRemote, requireExposed } from './remotePlugin.ts';

// what is used of Vite, whose types would make it a dependency of every build
interface Output {
  type: string;
  fileName: string;
  code?: string;
}

interface VitePlugin {
  name: string;
  apply: 'build';
  enforce: 'post';
  config(settings: { root?: string }): object;
  generateBundle(
    this: { emitFile(file: object): void },
    options: unknown,
    bundle: Record<string, Output>,
  ): Promise<void>;
}

interface Log {
  code?: string;
  loc?: { file?: string };
  id?: string;
}

/** Vite's own helper for late files reads `import.meta`, which a classic script lacks and in one file nobody needs. */
function onLog(level: string, log: Log, handle: (level: string, log: Log) => void) {
  const isOfVite = `${log.id ?? ''}${log.loc?.file ?? ''}`.includes('vite/preload-helper');
  if (!(log.code === 'EMPTY_IMPORT_META' && isOfVite)) handle(level, log);
}

const ENTRY = 'remoteEntry.js';

/**
 * The container that Module Federation asks of a script: takes the shared modules from the host's share scope, has the host load the
 * stylesheet, then runs the remote's own script, all of it when the remote is first asked for.
 */
const container = (global: string, script: string, css: string[]) => `var ${global} = (() => {
  // late scripts would stand in chunks_${global}; there are none
  const base = document.currentScript.src;
  const shared = {};
  let scope = {};
  const take = async ([name, key]) => {
    const [offered] = Object.values(scope[key] || {});
    if (!offered) throw new Error('the host shares no ' + key);
    shared[name] = (offered.lib || (await offered.get()))();
  };
  const names = ${JSON.stringify(Object.entries(outsideModules()).map(([name, { shareKey = name }]) => [name, shareKey]))};
  const styles = ${JSON.stringify(css)};
  const load = async () => {
    await Promise.all([
      ...names.map(take),
      ...styles.map((file) => globalThis.__loadAsset('style', new URL(file, base).href)),
    ]);
    return run();
  };
  let remote;
  return {
    init: (given) => {
      scope = given;
    },
    get: async (name) => {
      if (name !== './remote') throw new Error('Module "' + name + '" does not exist in container.');
      remote = remote || load();
      // what failed is tried again when it is asked for again
      remote.catch(() => {
        remote = undefined;
      });
      const module = await remote;
      return () => module;
    },
  };
  function run() {
${script}
    return remoteModule;
  }
})();
`;

/**
 * Makes Vite build a remote: `plugins: [react(), remotePlugin({ name: 'gifts', label: '礼物' })]`. The host's page runs no ES modules of
 * others, so everything becomes one classic script, within the 40 KiB (br) that an entry may weigh; a remote that outgrows it splits its pages with Rsbuild.
 */
export function remotePlugin(remote: OutsideRemote): VitePlugin {
  let root = process.cwd();
  const modules = Object.keys(outsideModules());
  return {
    name: 'liaozhai:remote',
    apply: 'build',
    // stylesheets are among the output once Vite's own plugins have run
    enforce: 'post',
    config(settings) {
      root = settings.root ?? root;
      requireExposed(root);
      const { sourceHash } = outsideFacts(root);
      const output = {
        format: 'iife',
        name: 'remoteModule',
        exports: 'named',
        codeSplitting: false,
        globals: (id: string) => `shared[${JSON.stringify(id)}]`,
        entryFileNames: ENTRY,
        assetFileNames: '[name].[hash:8][extname]',
      };
      return {
        css: { modules: { generateScopedName: `[local]_[hash:base64:5]_${sourceHash.slice(0, 4)}` } },
        build: {
          target: Object.entries(floor).map(([browser, version]) => browser + version),
          modulePreload: false,
          cssCodeSplit: false,
          rolldownOptions: {
            input: `${root}/${exposedModule}`,
            external: modules,
            preserveEntrySignatures: 'strict',
            output,
            onLog,
          },
        },
      };
    },
    async generateBundle(_options, bundle) {
      const entry = bundle[ENTRY];
      if (!entry?.code)
        throw new Error(`${ENTRY} is not among what Vite built: leave names of output files to this plugin`);
      const facts = outsideFacts(root);
      const global = containerGlobal(remote.name, facts.sourceHash);
      const css = Object.keys(bundle).filter((file) => file.endsWith('.css'));
      entry.code = container(global, entry.code, css);
      const { routes, slots } = await readDeclaration(root);
      // the entry brings the scripts of all of them
      const files = { js: [ENTRY], css };
      const description: RemoteDescription = {
        kind: 'remote',
        ...remote,
        version: facts.version,
        sourceHash: facts.sourceHash,
        federation: federationVersion,
        contract: contractRange,
        shared: { provides: {}, requires: requiredVersions },
        entry: ENTRY,
        css: [],
        global,
        chunkGlobal: `chunks_${global}`,
        exposes: ['./remote'],
        module: files,
        routes: routes.map(({ name, path, title, requiresAuth = false, keepAlive = false, outsideShell = false }) => ({
          name,
          path,
          title,
          requiresAuth,
          keepAlive,
          outsideShell,
          ...files,
        })),
        slots: slots.map(({ name }) => ({ name, ...files })),
      };
      this.emitFile({ type: 'asset', fileName: 'liaozhai.json', source: JSON.stringify(description, null, 2) });
    },
  };
}
