import { type BrowserContext, expect, type Page } from '@playwright/test';

/** Imitates a translator of the browser: replaces text nodes by elements, also in content added later. */
function wrapTexts() {
  const PAUSE_MS = 60;
  const isLeftAlone = (text: Text) =>
    text.parentElement?.closest('font, script, style, noscript, textarea, title, svg, [translate="no"]') != null;
  const wrap = () => {
    // the body may not be parsed yet; adding it is another mutation
    if (!document.body) return;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts: Text[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    for (const text of texts) {
      if (!/\p{Script=Han}|\d/u.test(text.data) || isLeftAlone(text)) continue;
      const outer = document.createElement('font');
      outer.appendChild(document.createElement('font')).textContent = text.data;
      text.replaceWith(outer);
    }
  };
  let isDue = false;
  const wrapSoon = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      wrap();
    }, PAUSE_MS);
  };
  new MutationObserver(wrapSoon).observe(document, { childList: true, characterData: true, subtree: true });
}

/** Translates every page of the context. Each text stays the same, so that tests still find it. */
export const translate = (context: BrowserContext) => context.addInitScript(wrapTexts);

/** Waits until the page is translated. */
export const isTranslated = (page: Page) => expect(page.locator('font').first()).toBeAttached();
