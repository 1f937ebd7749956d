import { bundledRemotes } from './bundledRemotes';
import { bundledSet } from './bundledSet';
import type { PageSet } from './pageSet';

/** What the page's inline script (`loader.ts`) leaves behind for the host. */
interface Loader {
  policy: { createScriptURL(url: string): unknown } | null;
  /** Integrity of a listed file of this origin; throws for anything else. */
  hashOf(url: string): string;
  /** Set by the host's script as it begins to run. */
  started: boolean;
  /** Says on the page that the app could not be opened. */
  failed(): void;
}

declare global {
  var __liaozhai: Loader | undefined;
}

function readInlinedSet(): PageSet | null {
  const text = document.getElementById('liaozhai-set')?.textContent;
  return text ? (JSON.parse(text) as PageSet) : null;
}

const inlined = readInlinedSet();

function requireSet(): PageSet {
  if (bundledRemotes) return bundledSet(inlined);
  if (!inlined) throw new Error('the page carries no set: serve it through host/server or release export');
  return inlined;
}

export const pageSet: PageSet = requireSet();

export const policy = globalThis.__liaozhai?.policy ?? null;

export function hashOf(url: string): string {
  const loader = globalThis.__liaozhai;
  if (!loader) throw new Error('the page has no loader');
  return loader.hashOf(url);
}
