declare module 'liaozhai-prerender' {
  export const contents: import('./page.ts').Prerendered[];
}
