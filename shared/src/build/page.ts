import { readFileSync } from 'node:fs';
import type { RsbuildPlugin } from '@rsbuild/core';

const cssPlaceholder = '/*lz:css*/';

/** Emits `page.html`: the template with the entry's stylesheet inlined, so that the first paint waits for no second request. */
export const pluginPage = (template: string): RsbuildPlugin => ({
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
      const html = readFileSync(template, 'utf8');
      if (!html.includes(cssPlaceholder)) throw new Error(`${template} has no ${cssPlaceholder} in its <style>`);
      compilation.emitAsset('page.html', new sources.RawSource(html.replace(cssPlaceholder, () => css.trim())));
    });
  },
});
