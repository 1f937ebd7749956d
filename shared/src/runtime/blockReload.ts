import { createSignal } from './signal';

const blocks = new Map<symbol, string>();
const changed = createSignal();

/** Delays the reload that a new set wants, e.g. while words are unsent. Returns the release. */
export function blockReload(reason: string): () => void {
  const block = Symbol(reason);
  blocks.set(block, reason);
  changed.emit();
  return () => {
    if (blocks.delete(block)) changed.emit();
  };
}

/** Why the page must not reload now, each reason once. */
export const reloadBlocks = (): string[] => [...new Set(blocks.values())];
export const onReloadBlocksChanged = changed.on;
