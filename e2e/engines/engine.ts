import { join } from 'node:path';

/** The browsers in whose engines the product must run. */
export type EngineName = 'chromium' | 'firefox' | 'webkit';

export interface Look {
  /** the system's colour scheme */
  colours?: 'light' | 'dark';
  /** Disables features that newer engines have and the oldest supported ones lack. WebKit only. */
  features?: readonly string[];
}

/** A window of 390×844 in one browser, with the few actions of a person, as real input. */
export interface Engine {
  readonly name: EngineName;
  /** Resolves when the document has been parsed. */
  open(url: string): Promise<void>;
  reload(): Promise<void>;
  /** Runs a function in the page, without access to the test's scope. Resolves with its result. */
  run<Args extends unknown[], Result>(script: (...args: Args) => Result, ...args: Args): Promise<Awaited<Result>>;
  inject(source: string): Promise<void>;
  /** Taps a point of the window, in CSS px; clicks with the mouse if the engine has no touch. */
  tap(x: number, y: number): Promise<void>;
  /** Types into the focused element, key by key. */
  type(text: string): Promise<void>;
  press(key: 'Enter' | 'Escape' | 'Tab' | 'Backspace'): Promise<void>;
  /** Takes a PNG of the window. */
  picture(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Runs the program in `GUARDED`, and ends it with the process that started it. */
export const guard = join(import.meta.dirname, '../../host/server/guard.mjs');
export const size = { width: 390, height: 844 };
export const timeZone = 'Asia/Shanghai';
