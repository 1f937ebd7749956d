import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type RsbuildPlugin, rspack } from '@rsbuild/core';
import { floor } from './floor.ts';

/** The loader has to run in browsers far below the floor too, to tell their users so: it alone is compiled to ES5. */
function compileLoader(source: string): string {
  const { code } = rspack.experiments.swc.transformSync(`(() => {${source.replace(/^export \{\};$/m, '')}})();`, {
    isModule: false,
    minify: true,
    jsc: {
      parser: { syntax: 'typescript' },
      target: 'es5',
      loose: true,
      minify: { compress: true, mangle: true },
    },
  });
  return code.trim();
}

/** The host's `src/page.html` with what is known at build time: critical CSS, the loader, the floor's versions. */
export function pageTemplate(root: string, css: string): string {
  const parts: Record<string, string> = {
    '/*lz:css*/': css.trim(),
    '/*lz:loader*/': compileLoader(readFileSync(join(root, 'src/loader.ts'), 'utf8')),
    ...Object.fromEntries(Object.entries(floor).map(([name, version]) => [`lz-floor.${name}-lz`, version])),
  };
  return Object.entries(parts).reduce(
    (html, [placeholder, part]) => {
      if (!html.includes(placeholder)) throw new Error(`${root}/src/page.html has no ${placeholder}`);
      return html.replaceAll(placeholder, () => part);
    },
    readFileSync(join(root, 'src/page.html'), 'utf8'),
  );
}

/** The template as a file, for builds whose own HTML plugin brings the styles. */
export function writePageTemplate(root: string): string {
  const path = join(root, 'node_modules/.cache/page.html');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, pageTemplate(root, ''));
  return path;
}

/** Emits `page.html`: the template with the entry's stylesheet inlined, so that the first paint waits for no second request. */
export const pluginPage = (root: string): RsbuildPlugin => ({
  name: 'liaozhai:page',
  setup(api) {
    api.processAssets({ stage: 'report' }, ({ compilation, sources }) => {
      const files =
        compilation.namedChunkGroups
          .get('host')
          ?.getFiles()
          .filter((file) => file.endsWith('.css')) ?? [];
      const css = files.map((file) => String(compilation.getAsset(file)?.source.source() ?? '')).join('\n');
      for (const file of files) compilation.deleteAsset(file);
      compilation.emitAsset('page.html', new sources.RawSource(pageTemplate(root, css)));
    });
  },
});
