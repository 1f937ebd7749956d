import { contents } from 'liaozhai-prerender';
import { renderToStaticMarkup } from 'react-dom/server';
import type { Prerendered } from './page.ts';

/** Run in Node at build time by `pluginPrerender`; `liaozhai-prerender` is the package's own `src/prerender.tsx`. */
export const rendered = contents.map(({ element, ...rest }: Prerendered) => ({
  ...rest,
  html: element ? renderToStaticMarkup(element) : '',
}));
