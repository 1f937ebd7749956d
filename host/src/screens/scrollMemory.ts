import { STORAGE_KEYS } from '@liaozhai/shared/contract';
import { readJson, tab } from '@liaozhai/shared/runtime';
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { usePage } from '../page';
import { isTab } from '../shell/TabBar';
import type { OpenScreen } from './ScreenStack';

const REMEMBERED = 60;

/** Scroll positions in pixels by screen, for coming back to it and for a reload of this tab. */
export interface ScrollMemory {
  read: (key: string) => number;
  write: (key: string, top: number) => void;
  /** Writes to the tab's storage; the page calls it when it is left. */
  save: () => void;
  /** Forgets all of them, in storage too. */
  clear: () => void;
}

function readStored(): [string, number][] {
  const stored = readJson(STORAGE_KEYS.scroll, tab);
  if (!Array.isArray(stored)) return [];
  return stored.filter((row) => Array.isArray(row) && typeof row[0] === 'string' && Number.isFinite(row[1]));
}

export function createScrollMemory(): ScrollMemory {
  const tops = new Map(readStored());
  return {
    read: (key) => tops.get(key) ?? 0,
    write(key, top) {
      tops.delete(key);
      tops.set(key, Math.round(top));
    },
    save: () => tab.set(STORAGE_KEYS.scroll, JSON.stringify([...tops].slice(-REMEMBERED))),
    clear() {
      tops.clear();
      tab.remove(STORAGE_KEYS.scroll);
    },
  };
}

/** Keeps a screen's scroll position while it is hidden, over going back to it, and over a reload. */
export function useScrollMemory(
  scroller: RefObject<HTMLElement | null>,
  { key, route, location, action }: OpenScreen,
  active: boolean,
  memory: ScrollMemory,
) {
  const { prerendered } = usePage();
  const position = key + location.search;
  /** Where it was when it was hidden. */
  const left = useRef<string | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!active || !element) return;
    // Going back, and a cached screen shown again, lead to where it was left; a newly opened page begins at its top. Each
    // address of a tab has its own position. It outlives the document, since a new set may bring a new one at any tap.
    const goal = action === 'POP' || isTab(route.path) ? position : left.current;
    const top = prerendered.takeScroll() ?? (goal === null ? 0 : memory.read(goal));
    memory.write(position, top);
    // a new one is at its top already; setting that would force a layout in the middle of the commit
    const stop = left.current === null && top === 0 ? () => undefined : restoreScroll(element, top);
    const remember = () => memory.write(position, element.scrollTop);
    element.addEventListener('scroll', remember, { passive: true });
    return () => {
      stop();
      element.removeEventListener('scroll', remember);
      left.current = position;
    };
  }, [scroller, position, action, active, memory, prerendered, route.path]);
}

const RESTORE_FOR_MS = 3000;
/** What says that content is on its way: a skeleton, or a list that grows. */
const coming = '[data-skeleton], [aria-busy="true"]';
const takingOver = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/**
 * Scrolls an element to a position that its content may not reach yet, and again while content arrives. It ends when the position
 * is reached, the reader scrolls, or the content has not grown for three seconds and none is loading. Returns the way to stop.
 */
function restoreScroll(element: HTMLElement, top: number): () => void {
  // within React's commit: a listener could not draw yet
  element.scrollTop = top;
  if (Math.abs(element.scrollTop - top) <= 1) return () => undefined;
  let { scrollHeight } = element;
  const observer = new MutationObserver(() => {
    if (scrollFarther(element, top)) return stop();
    if (element.scrollHeight <= scrollHeight) return;
    scrollHeight = element.scrollHeight;
    clearTimeout(timer);
    timer = setTimeout(giveUp, RESTORE_FOR_MS);
  });
  const giveUp = () => {
    if (!element.querySelector(coming)) return stop();
    timer = setTimeout(giveUp, RESTORE_FOR_MS);
  };
  let timer = setTimeout(giveUp, RESTORE_FOR_MS);
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
    for (const kind of takingOver) element.removeEventListener(kind, stop);
  };
  observer.observe(element, { childList: true, subtree: true });
  for (const kind of takingOver) element.addEventListener(kind, stop, { passive: true });
  return stop;
}

/** Scrolls to a position as far as the content reaches by now. Returns whether that is all the way. */
function scrollFarther(element: HTMLElement, top: number): boolean {
  const before = element.scrollTop;
  element.scrollTop = top;
  const { scrollTop } = element;
  // the browser's own event comes with a frame; a list of which only what is in sight is drawn would stand empty until then
  if (scrollTop !== before) element.dispatchEvent(new Event('scroll'));
  return Math.abs(scrollTop - top) <= 1;
}

/** Turns the browser's own scroll restoration off and saves the positions whenever the page may be about to go. */
export function useScrollSaving(memory: ScrollMemory) {
  useEffect(() => {
    history.scrollRestoration = 'manual';
    addEventListener('pagehide', memory.save);
    document.addEventListener('visibilitychange', memory.save);
    return () => {
      removeEventListener('pagehide', memory.save);
      document.removeEventListener('visibilitychange', memory.save);
    };
  }, [memory]);
}
