import { createContext, use } from 'react';
import type { createPage } from './openPage';

/** The services of an open page, each of which exists once. */
export type Page = ReturnType<typeof createPage>;

export const PageContext = createContext<Page | null>(null);

/** The open page. Throws outside of the app. */
export function usePage(): Page {
  const page = use(PageContext);
  if (!page) throw new Error('usePage outside of <App>');
  return page;
}
