import type { Rspack } from '@rsbuild/core';

/** The host's side, `host/src/federation/assetLoader.ts`; what it rejects with has its kind as `kind`. */
type LoadAsset = (kind: 'script' | 'style', url: string) => Promise<void>;

/**
 * Replaces Rspack's script loader: every late chunk of a build goes through the host's asset loader
 * (`globalThis.__loadAsset`), which checks the hash, the Trusted Types policy and the time limit. The kind of a failure
 * becomes the `type` of Rspack's ChunkLoadError.
 */
export class AssetLoaderPlugin implements Rspack.RspackPluginInstance {
  apply(compiler: Rspack.Compiler) {
    const { RuntimeModule, RuntimeGlobals } = compiler.webpack;
    class AssetLoaderModule extends RuntimeModule {
      constructor() {
        super('asset loader', RuntimeModule.STAGE_TRIGGER);
      }
      override generate() {
        return `${RuntimeGlobals.loadScript} = (url, done) => {
  globalThis.__loadAsset('script', url).then(
    () => done({ type: 'load' }),
    (error) => done({ type: error.kind, target: { src: url } }),
  );
};`;
      }
    }
    compiler.hooks.thisCompilation.tap('AssetLoaderPlugin', (compilation) => {
      compilation.hooks.runtimeRequirementInTree.for(RuntimeGlobals.loadScript).tap('AssetLoaderPlugin', (chunk) => {
        compilation.addRuntimeModule(chunk, new AssetLoaderModule());
        return true;
      });
    });
  }
}

/** Given to cssExtract as `insert`: serialised into the runtime, so it may close over nothing. */
export const insertStylesheet = (tag: HTMLLinkElement) => {
  const { __loadAsset } = globalThis as unknown as { __loadAsset: LoadAsset };
  __loadAsset('style', tag.href).then(
    () => tag.onload?.(new Event('load')),
    (error) => (tag.onerror as ((event: unknown) => void) | null)?.({ type: error.kind, target: { href: tag.href } }),
  );
};
