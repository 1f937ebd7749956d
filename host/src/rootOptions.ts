import type { RootOptions } from 'react-dom/client';

/** What a pane's boundary has caught is contained and told as a warning; `console.error` stays for what nobody caught. */
export const rootOptions = {
  onCaughtError: (error: unknown) => console.warn('contained in its pane:', error),
} satisfies RootOptions;
