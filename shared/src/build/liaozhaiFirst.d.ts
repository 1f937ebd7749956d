declare module 'liaozhai-first' {
  export const contents: import('./first.ts').FirstContent[];
}
