import type { BrowserContext, Page } from '@playwright/test';

/** Runs in every page. */
function noteToasts() {
  const told: string[] = [];
  Reflect.set(globalThis, '__told', told);
  new MutationObserver(() => {
    for (const { textContent } of document.querySelectorAll('section[aria-label="提示"] > div > span'))
      if (textContent && !told.includes(textContent)) told.push(textContent);
  }).observe(document, { childList: true, subtree: true, characterData: true });
}

/** Has every page of the context note its toasts: they go after seconds, and a busy machine may not look in time. */
export const recordToasts = (context: BrowserContext) => context.addInitScript(noteToasts);

/** What toasts have said in this document, gone by now or not. */
export const toldBy = (page: Page): Promise<string[]> =>
  page.evaluate(() => (Reflect.get(globalThis, '__told') as string[] | undefined) ?? []);
