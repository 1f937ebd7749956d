import { join } from 'node:path';

/** The three browsers whose engines the product has to run in. */
export type EngineName = 'chromium' | 'firefox' | 'webkit';

export interface Look {
  /** the system's colours */
  colours?: 'light' | 'dark';
  /** Without what younger engines have and the oldest supported ones lack. WebKit only. */
  features?: readonly string[];
}

/** One window of 390×844 in one browser: as little as a person can do with it, by real input. */
export interface Engine {
  readonly name: EngineName;
  /** Resolves when the document has been parsed. */
  open(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Runs a function in the page and resolves to what it returns or resolves to; it sees nothing of the test's own scope. */
  run<Args extends unknown[], Result>(script: (...args: Args) => Result, ...args: Args): Promise<Awaited<Result>>;
  /** Runs a whole script in the page. */
  inject(source: string): Promise<void>;
  /** A tap at a point of the window, in CSS px; a click of the mouse where the engine has no touch. */
  tap(x: number, y: number): Promise<void>;
  /** Types into what has the focus, key by key. */
  type(text: string): Promise<void>;
  press(key: 'Enter' | 'Escape' | 'Tab' | 'Backspace'): Promise<void>;
  /** A PNG of the window. */
  picture(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Runs the program that `GUARDED` names, and ends it with its starter. */
export const guard = join(import.meta.dirname, '../../host/server/guard.mjs');
export const size = { width: 390, height: 844 };
export const timeZone = 'Asia/Shanghai';
