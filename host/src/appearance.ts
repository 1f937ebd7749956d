/**
 * Inline script in the head: applies the stored theme and font size before the first paint, even if the content arrives slowly.
 * Compiled like `loader.ts`. Kept short, since it blocks the parser.
 */
try {
  const root = document.documentElement;
  const { theme, fontSize } = JSON.parse(localStorage.getItem('liaozhai-preferences') ?? '{}');
  if (theme === 'light' || theme === 'dark') root.setAttribute('data-theme', theme);
  if (fontSize) root.setAttribute('data-font-size', fontSize);
  // reserves room for the row of recent stories in the server-rendered page
  if (
    localStorage.getItem('user-store') &&
    localStorage.getItem(`liaozhai-recent:${localStorage.getItem('liaozhai-owner')}`)
  )
    root.setAttribute('data-recent', '');
} catch {
  // no storage or unreadable preferences: the system's appearance
}

export {};
