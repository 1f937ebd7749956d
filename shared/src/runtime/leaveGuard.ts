import { useEffect, useRef } from 'react';
import { createSignal } from './signal';

type AskBeforeLeaving = () => Promise<boolean>;

const guards = new Set<AskBeforeLeaving>();

const keepDocument = (event: BeforeUnloadEvent) => event.preventDefault();

function addGuard(ask: AskBeforeLeaving): () => void {
  // kept only while needed: a page with this listener is barred from the back-forward cache
  if (guards.size === 0) window.addEventListener('beforeunload', keepDocument);
  guards.add(ask);
  return () => {
    guards.delete(ask);
    if (guards.size === 0) window.removeEventListener('beforeunload', keepDocument);
  };
}

export const isLeaveGuarded = (): boolean => guards.size > 0;

/** Asks everyone who guards unsaved work; true when all of them let go. The host's history asks before each navigation. */
export async function mayLeave(): Promise<boolean> {
  for (const ask of [...guards]) if (!(await ask())) return false;
  return true;
}

/** While `dirty`, `ask` is asked before any navigation in the app, back included; the browser asks before the document goes. */
export function useLeaveGuard(dirty: boolean, ask: AskBeforeLeaving) {
  const latest = useRef(ask);
  useEffect(() => {
    latest.current = ask;
  });
  useEffect(() => (dirty ? addGuard(() => latest.current()) : undefined), [dirty]);
}

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
