import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { GATE_FILE } from '../contract/gateFile.ts';
import { gateFileText, readDeclaration } from './describeBuild.ts';
import {
  backendProxy,
  DEV_NONCE,
  DEV_PORT,
  devPolicy,
  importsTexts,
  reloadClient,
  requireFreePort,
  serveInside,
  standAlonePage,
} from './devServer.ts';
import { insideFacts, outsideFacts, type PackageFacts } from './facts.ts';
import { outsideModules } from './federation.ts';
import { floor } from './floor.ts';
import {
  containerGlobal,
  type DevelopedRemote,
  describeRemote,
  ENTRY,
  exposedModule,
  insideFolder,
  requireExposed,
  standAloneEntry,
} from './remotePlugin.ts';

// the used parts of Vite, whose types would make it a dependency of every build
interface ViteDevServer {
  middlewares: {
    use(
      middleware: (
        request: { url?: string; headers: { accept?: string } },
        response: { setHeader(name: string, value: string): void; end(body: string): void },
        next: (cause?: unknown) => void,
      ) => void,
    ): void;
  };
  transformIndexHtml(url: string, html: string): Promise<string>;
}

interface Log {
  code?: string;
  loc?: { file?: string };
  id?: string;
}

/** Ignores the warning for `import.meta` in Vite's preload helper: a classic script lacks it, and a single file never preloads. */
function onLog(level: string, log: Log, handle: (level: string, log: Log) => void) {
  const isFromVite = `${log.id ?? ''}${log.loc?.file ?? ''}`.includes('vite/preload-helper');
  if (!(log.code === 'EMPTY_IMPORT_META' && isFromVite)) handle(level, log);
}

/**
 * Container script for Module Federation. On the first request it takes the shared modules from the host's share scope, lets the
 * host load the stylesheets and runs the remote's script.
 */
const container = (global: string, script: string, css: string[]) => `var ${global} = (() => {
  const base = document.currentScript.src;
  const shared = {};
  let scope = {};
  const loadShared = async ([name, key]) => {
    const [offered] = Object.values(scope[key] || {});
    if (!offered) throw new Error('the host shares no ' + key);
    shared[name] = (offered.lib || (await offered.get()))();
  };
  const names = ${JSON.stringify(Object.entries(outsideModules()).map(([name, { shareKey = name }]) => [name, shareKey]))};
  const styles = ${JSON.stringify(css)};
  const load = async () => {
    await Promise.all([
      ...names.map(loadShared),
      ...styles.map((file) => globalThis.__loadAsset('style', new URL(file, base).href)),
    ]);
    return run();
  };
  let remote;
  return {
    init: (shareScope) => {
      scope = shareScope;
    },
    get: async (name) => {
      if (name !== './remote') throw new Error('Module "' + name + '" does not exist in container.');
      remote = remote || load();
      // a failed load is repeated with the next request
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

const portSetting = 'devPort of remotePlugin in vite.config.mjs';

const preBundledModules = [
  ...['react', 'react/jsx-runtime', 'react/jsx-dev-runtime', 'react-dom', 'react-dom/client', 'react-router-dom'],
  ...['@liaozhai/runtime', '@liaozhai/runtime/contract', '@liaozhai/runtime/format'],
];

/** Config for `vite`: one remote alone with hot reload, from its sources. */
const aloneConfig = (root: string, port: number) => ({
  // no index.html: the plugin serves the page
  appType: 'custom',
  html: { cspNonce: DEV_NONCE },
  resolve: { alias: { 'liaozhai-remote': join(root, exposedModule) }, dedupe: ['react', 'react-dom'] },
  server: { port, strictPort: true, proxy: backendProxy() },
  // listed, since Vite finds CommonJS dependencies only below the sources
  optimizeDeps: { include: preBundledModules, exclude: ['@liaozhai/ui', '@liaozhai/build'] },
});

const buildConfig = ({ root, sourceHash }: PackageFacts) => {
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
      // published separately; no file of the build refers to it
      sourcemap: 'hidden',
      rolldownOptions: {
        input: `${root}/${exposedModule}`,
        external: Object.keys(outsideModules()),
        preserveEntrySignatures: 'strict',
        output,
        onLog,
      },
    },
  };
};

/** Mode of `vite build --watch --mode inside`. */
const INSIDE = 'inside';

/**
 * Builds a remote with Vite: `plugins: [react(), remotePlugin({ name: 'gifts', label: '礼物' })]`. The result is one classic script
 * of at most 40 KiB (Brotli), since the host loads no ES modules of remotes; a larger remote needs Rsbuild. `vite` runs the remote
 * alone, `vite build --watch --mode inside` serves it to a deployed host.
 */
export function remotePlugin({ devPort = DEV_PORT, ...remote }: DevelopedRemote) {
  let root = process.cwd();
  let isServing = false;
  let isInside = false;
  let reportBuild = () => {};
  const readFacts = () => (isInside ? insideFacts(outsideFacts(root)) : outsideFacts(root));
  return {
    name: 'liaozhai:remote',
    // `post`, since Vite's own plugins emit the stylesheets
    enforce: 'post' as const,
    async config(settings: { root?: string }, { command, mode }: { command: string; mode: string }): Promise<object> {
      root = settings.root ?? root;
      requireExposed(root);
      isServing = command === 'serve';
      if (isServing) {
        await requireFreePort(devPort, portSetting);
        return aloneConfig(root, devPort);
      }
      isInside = mode === INSIDE;
      const config = buildConfig(readFacts());
      if (!isInside) return config;
      reportBuild = serveInside(insideFolder(root), devPort, portSetting);
      return { ...config, build: { ...config.build, outDir: insideFolder(root), minify: false } };
    },
    transform(code: string, id: string) {
      if (isServing && importsTexts(id, code))
        return { code: `${code}\nimport.meta.hot?.accept('./texts', () => {});\n`, map: null };
    },
    configureServer(server: ViteDevServer) {
      const entry = ['.js', '.tsx'].map((extension) => standAloneEntry + extension).find((file) => existsSync(file));
      const policy = devPolicy();
      const page = standAlonePage(remote.label, `<script type="module" src="/@fs/${entry}"></script>`);
      return () =>
        server.middlewares.use((request, response, next) => {
          if (!request.headers.accept?.includes('text/html')) return next();
          server.transformIndexHtml(request.url ?? '/', page).then((html) => {
            response.setHeader('content-type', 'text/html; charset=utf-8');
            response.setHeader('content-security-policy', policy);
            response.end(html);
          }, next);
        });
    },
    writeBundle() {
      reportBuild();
    },
    async generateBundle(
      this: { emitFile(file: object): void },
      _options: unknown,
      bundle: Record<string, { fileName: string; code?: string }>,
    ) {
      const entry = bundle[ENTRY];
      if (!entry?.code)
        throw new Error(`${ENTRY} is not among what Vite built: leave names of output files to this plugin`);
      const facts = readFacts();
      const css = Object.keys(bundle).filter((file) => file.endsWith('.css'));
      const script = container(containerGlobal(remote.name, facts.sourceHash), entry.code, css);
      entry.code = (isInside ? reloadClient(devPort) : '') + script;
      // the entry contains the scripts of all pages and slots
      const description = describeRemote(remote, facts, await readDeclaration(root), () => ({ js: [ENTRY], css }));
      this.emitFile({ type: 'asset', fileName: 'liaozhai.json', source: JSON.stringify(description, null, 2) });
      this.emitFile({ type: 'asset', fileName: GATE_FILE, source: gateFileText(root) });
    },
  };
}
