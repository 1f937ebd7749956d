import type { BrowserContext } from '@playwright/test';

/** What a translator in the browser does to a page: puts elements in the place of texts, and goes on with those that come later. */
function wrapTexts() {
  const PAUSE_MS = 60;
  const isLeftAlone = (text: Text) =>
    text.parentElement?.closest('font, script, style, noscript, textarea, title, svg, [translate="no"]') != null;
  const wrap = () => {
    // a page whose head has not all come has no body yet; its coming is a change of its own
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

/** Has every page of the context translated, word for word: what tests look for is still to be read there. */
export const translate = (context: BrowserContext) => context.addInitScript(wrapTexts);
