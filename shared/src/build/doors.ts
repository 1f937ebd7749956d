import type { Rspack } from '@rsbuild/core';

/**
 * Replaces Rspack's script loader: every late chunk of a build goes through the host's one door
 * (`globalThis.__door`), which checks the hash, the Trusted Types policy and the time limit.
 */
export class ChunkDoor implements Rspack.RspackPluginInstance {
  apply(compiler: Rspack.Compiler) {
    const { RuntimeModule, RuntimeGlobals } = compiler.webpack;
    class Door extends RuntimeModule {
      constructor() {
        super('door', RuntimeModule.STAGE_TRIGGER);
      }
      override generate() {
        return `${RuntimeGlobals.loadScript} = (url, done) => {
  globalThis.__door.script(url).then(
    () => done({ type: 'load' }),
    (e) => done({ type: e.message, target: { src: url } }),
  );
};`;
      }
    }
    compiler.hooks.thisCompilation.tap('ChunkDoor', (compilation) => {
      compilation.hooks.runtimeRequirementInTree.for(RuntimeGlobals.loadScript).tap('ChunkDoor', (chunk) => {
        compilation.addRuntimeModule(chunk, new Door());
        return true;
      });
    });
  }
}

/** Given to cssExtract as `insert`: serialised into the runtime, so it may close over nothing. */
export const cssDoor = (tag: HTMLLinkElement) => {
  const { __door } = globalThis as unknown as { __door: { style(url: string): Promise<void> } };
  __door.style(tag.href).then(
    () => tag.onload?.(new Event('load')),
    () => (tag.onerror as ((event: unknown) => void) | null)?.({ type: 'error', target: { href: tag.href } }),
  );
};
