import { useEffect, useRef } from 'react';
import { createSignal } from './signal';

type AskBeforeLeaving = () => Promise<boolean>;

const guards = new Set<AskBeforeLeaving>();

const keepDocument = (event: BeforeUnloadEvent) => event.preventDefault();

function addGuard(ask: AskBeforeLeaving): () => void {
  // added only while needed: a page with this listener cannot enter the back-forward cache
  if (guards.size === 0) window.addEventListener('beforeunload', keepDocument);
  guards.add(ask);
  return () => {
    guards.delete(ask);
    if (guards.size === 0) window.removeEventListener('beforeunload', keepDocument);
  };
}

export const isLeaveGuarded = (): boolean => guards.size > 0;

/** Asks all guards of unsaved work; true if all of them allow it. The host's history calls it before each navigation. */
export async function mayLeave(): Promise<boolean> {
  for (const ask of [...guards]) if (!(await ask())) return false;
  return true;
}

/** While `dirty`, `ask` is called before every navigation in the app, back included; the browser asks before an unload. */
export function useLeaveGuard(dirty: boolean, ask: AskBeforeLeaving) {
  const latest = useRef(ask);
  useEffect(() => {
    latest.current = ask;
  });
  useEffect(() => (dirty ? addGuard(() => latest.current()) : undefined), [dirty]);
}

const blocks = new Map<symbol, string>();
const changed = createSignal();

/** Delays the reload into a new set, e.g. while a message is unsent. Returns the release. */
export function blockReload(reason: string): () => void {
  const block = Symbol(reason);
  blocks.set(block, reason);
  changed.emit();
  return () => {
    if (blocks.delete(block)) changed.emit();
  };
}

/** Reasons why the page must not reload now, without duplicates. */
export const reloadBlocks = (): string[] => [...new Set(blocks.values())];
export const onReloadBlocksChanged = changed.on;
