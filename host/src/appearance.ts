/**
 * The head's inline script: what the reader has chosen stands in the document before anything of it is painted, on a slow link also
 * where only half of the content is there. Compiled like `loader.ts`, and as short as can be, since the parser stops for it.
 */
try {
  const root = document.documentElement;
  const { theme, fontSize } = JSON.parse(localStorage.getItem('liaozhai-preferences') ?? '{}');
  if (theme === 'light' || theme === 'dark') root.setAttribute('data-theme', theme);
  if (fontSize) root.setAttribute('data-font-size', fontSize);
  // what the server draws leaves room for the row that the page will have
  if (
    localStorage.getItem('user-store') &&
    localStorage.getItem(`liaozhai-recent:${localStorage.getItem('liaozhai-owner')}`)
  )
    root.setAttribute('data-recent', '');
} catch {
  // no storage, or unreadable preferences: the system's look
}

export {};
