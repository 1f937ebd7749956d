import { createContext, use } from 'react';
import type { createPage } from './openPage';

/** Everything that an open page has one of. */
export type Page = ReturnType<typeof createPage>;

export const PageContext = createContext<Page | null>(null);

/** The open page. Throws outside of the app. */
export function usePage(): Page {
  const page = use(PageContext);
  if (!page) throw new Error('usePage outside of <App>');
  return page;
}
