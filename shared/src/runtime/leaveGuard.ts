import { useEffect, useRef } from 'react';
import { createSignal } from './signal';

type LeaveGuard = () => Promise<boolean>;

const guards = new Set<LeaveGuard>();

const preventUnload = (event: BeforeUnloadEvent) => event.preventDefault();

function addGuard(guard: LeaveGuard): () => void {
  // added only while needed: a page with this listener cannot enter the back-forward cache
  if (guards.size === 0) window.addEventListener('beforeunload', preventUnload);
  guards.add(guard);
  return () => {
    guards.delete(guard);
    if (guards.size === 0) window.removeEventListener('beforeunload', preventUnload);
  };
}

export const isLeaveGuarded = (): boolean => guards.size > 0;

/** Asks all guards of unsaved work; true if all of them allow it. The host's history calls it before each navigation. */
export async function mayLeave(): Promise<boolean> {
  for (const guard of [...guards]) if (!(await guard())) return false;
  return true;
}

/** While `dirty`, `ask` is called before every navigation in the app, back included; the browser asks before an unload. */
export function useLeaveGuard(dirty: boolean, ask: LeaveGuard) {
  const latestAsk = useRef(ask);
  useEffect(() => {
    latestAsk.current = ask;
  });
  useEffect(() => (dirty ? addGuard(() => latestAsk.current()) : undefined), [dirty]);
}

const blockReasons = new Map<symbol, string>();
const blocksChanged = createSignal();

/** Delays the reload into a new set, e.g. while a message is unsent. Returns the release. */
export function blockReload(reason: string): () => void {
  const block = Symbol(reason);
  blockReasons.set(block, reason);
  blocksChanged.emit();
  return () => {
    if (blockReasons.delete(block)) blocksChanged.emit();
  };
}

/** Reasons why the page must not reload now, without duplicates. */
export const reloadBlocks = (): string[] => [...new Set(blockReasons.values())];
export const onReloadBlocksChanged = blocksChanged.on;
