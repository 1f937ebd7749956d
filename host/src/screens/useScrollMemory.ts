import { type RefObject, useLayoutEffect, useRef } from 'react';
import { isTab } from '../shell/tabs';
import { takeDrawnScroll } from './drawnScreen';
import { restoreScroll } from './restoreScroll';
import type { OpenScreen } from './screenStack';
import type { ScrollMemory } from './scrollMemory';

/** Keeps a screen's scroll position while it is hidden, over going back to it, and over a reload. */
export function useScrollMemory(
  scroller: RefObject<HTMLElement | null>,
  { key, route, place, action }: OpenScreen,
  active: boolean,
  memory: ScrollMemory,
) {
  const position = key + place.search;
  /** Where it was when it was hidden; a tab's place outlives the document, since a new set may bring a new one at any tap. */
  const left = useRef<string | null>(isTab(route.path) ? position : null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!active || !element) return;
    // going back, and a kept screen shown again, lead to where it was left; a page opened anew begins at its top
    const goal = action === 'POP' ? position : left.current;
    const top = takeDrawnScroll() ?? (goal === null ? 0 : memory.read(goal));
    memory.write(position, top);
    const stop = restoreScroll(element, top);
    const remember = () => memory.write(position, element.scrollTop);
    element.addEventListener('scroll', remember, { passive: true });
    return () => {
      stop();
      element.removeEventListener('scroll', remember);
      left.current = position;
    };
  }, [scroller, position, action, active, memory]);
}
