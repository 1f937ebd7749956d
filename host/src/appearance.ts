/**
 * The head's inline script: applies the reader's choices before anything is painted, also on a slow link where half of the content
 * is missing. Compiled like `loader.ts`, and as short as possible, since the parser stops for it.
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
