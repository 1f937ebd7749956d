import { STORAGE_KEYS } from '@liaozhai/shared/contract';
import { readJson, tab } from '@liaozhai/shared/runtime';
import { listenTo, stopAll } from '@liaozhai/shared/ui';
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { usePage } from '../page';
import { isTab } from '../shell/TabBar';
import type { OpenScreen } from './ScreenStack';

const MAX_STORED_POSITIONS = 60;

function readStored(): [string, number][] {
  const storedRows = readJson(STORAGE_KEYS.scroll, tab);
  if (!Array.isArray(storedRows)) return [];
  return storedRows.filter((row) => Array.isArray(row) && typeof row[0] === 'string' && Number.isFinite(row[1]));
}

export type ScrollMemory = ReturnType<typeof createScrollMemory>;

/** Scroll positions in px by screen, for going back and for a reload of this tab. */
export function createScrollMemory() {
  const tops = new Map(readStored());
  return {
    read: (key: string): number => tops.get(key) ?? 0,
    write(key: string, top: number) {
      tops.delete(key);
      tops.set(key, Math.round(top));
    },
    /** Writes to the tab's storage. Called when the page is hidden or unloads. */
    save: () => tab.set(STORAGE_KEYS.scroll, JSON.stringify([...tops].slice(-MAX_STORED_POSITIONS))),
    /** Forgets all positions, in storage too. */
    clear() {
      tops.clear();
      tab.remove(STORAGE_KEYS.scroll);
    },
  };
}

/** Keeps a screen's scroll position while it is hidden, on going back, and after a reload. */
export function useScrollMemory(
  scroller: RefObject<HTMLElement | null>,
  { key, route, location, action }: OpenScreen,
  active: boolean,
  memory: ScrollMemory,
) {
  const { prerendered } = usePage();
  const position = key + location.search;
  /** Key of the position at which the screen was hidden. */
  const hiddenPosition = useRef<string | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!active || !element) return;
    // Going back and showing a kept screen restore its position; a newly opened page starts at its top. Each address of a tab has
    // its own position, which is stored, since any tap may load a new document.
    const restoredPosition = action === 'POP' || isTab(route.path) ? position : hiddenPosition.current;
    const top = prerendered.consumeScroll() ?? (restoredPosition === null ? 0 : memory.read(restoredPosition));
    memory.write(position, top);
    // a new screen is at its top already; setting that would force a layout during the commit
    const stop = hiddenPosition.current === null && top === 0 ? () => undefined : restoreScroll(element, top);
    const recordScroll = () => memory.write(position, element.scrollTop);
    return stopAll(stop, listenTo(element, ['scroll'], recordScroll, { passive: true }), () => {
      hiddenPosition.current = position;
    });
  }, [scroller, position, action, active, memory, prerendered, route.path]);
}

const RESTORE_TIMEOUT_MS = 3000;
/** Signs of loading content: a skeleton, or a list that grows. */
const loadingSelector = '[data-skeleton], [aria-busy="true"]';
const userEvents = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/**
 * Scrolls an element to a position, and again while content arrives, since it may be too short at first. Ends when the position
 * is reached, the reader scrolls, or the content has not grown for three seconds and none is loading. Returns the stop function.
 */
function restoreScroll(element: HTMLElement, top: number): () => void {
  // without an event: during React's commit a listener could not render yet
  element.scrollTop = top;
  if (Math.abs(element.scrollTop - top) <= 1) return () => undefined;
  let { scrollHeight } = element;
  const observer = new MutationObserver(() => {
    if (scrollFarther(element, top)) return stop();
    if (element.scrollHeight <= scrollHeight) return;
    scrollHeight = element.scrollHeight;
    clearTimeout(timer);
    timer = setTimeout(giveUp, RESTORE_TIMEOUT_MS);
  });
  const giveUp = () => {
    if (!element.querySelector(loadingSelector)) return stop();
    timer = setTimeout(giveUp, RESTORE_TIMEOUT_MS);
  };
  let timer = setTimeout(giveUp, RESTORE_TIMEOUT_MS);
  const stop = stopAll(
    () => clearTimeout(timer),
    () => observer.disconnect(),
    listenTo(element, userEvents, () => stop(), { passive: true }),
  );
  observer.observe(element, { childList: true, subtree: true });
  return stop;
}

/** Scrolls towards a position as far as the content allows. Returns whether it was reached. */
function scrollFarther(element: HTMLElement, top: number): boolean {
  const previousTop = element.scrollTop;
  element.scrollTop = top;
  const { scrollTop } = element;
  // the browser's event fires with the next frame; until then a list that renders only visible rows would be empty
  if (scrollTop !== previousTop) element.dispatchEvent(new Event('scroll'));
  return Math.abs(scrollTop - top) <= 1;
}

/** Disables the browser's scroll restoration, and saves the positions when the page is hidden or unloads. */
export function useScrollSaving(memory: ScrollMemory) {
  useEffect(() => {
    history.scrollRestoration = 'manual';
    return stopAll(listenTo(window, ['pagehide'], memory.save), listenTo(document, ['visibilitychange'], memory.save));
  }, [memory]);
}
