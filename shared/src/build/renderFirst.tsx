import * as first from 'liaozhai-first';
import { renderToStaticMarkup } from 'react-dom/server';
import type { FirstContent } from './first.ts';

/** Run in Node at build time by `pluginFirst`; `liaozhai-first` is the package's own `src/first.tsx`. */
export const rendered = first.contents.map(({ element, ...rest }: FirstContent) => ({
  ...rest,
  html: element ? renderToStaticMarkup(element) : '',
}));
