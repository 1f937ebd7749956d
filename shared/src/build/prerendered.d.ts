declare module 'liaozhai-prerender' {
  export const contents: import('./prerender.ts').Prerendered[];
}
