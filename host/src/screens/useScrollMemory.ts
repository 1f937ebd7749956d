import { type RefObject, useLayoutEffect, useRef } from 'react';
import { restoreScroll } from './restoreScroll';
import type { OpenScreen } from './screenStack';
import type { ScrollMemory } from './scrollMemory';

/** Keeps a screen's scroll position while it is hidden, over going back to it, and over a reload. */
export function useScrollMemory(
  scroller: RefObject<HTMLElement | null>,
  { key, place, action }: OpenScreen,
  active: boolean,
  memory: ScrollMemory,
) {
  const position = key + place.search;
  const shown = useRef<string | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!active || !element) return;
    // a page opened anew begins at its top; the same one shown again, or gone back to, where it was left
    const returns = action === 'POP' || shown.current === position;
    shown.current = position;
    const stop = restoreScroll(element, returns ? memory.read(position) : 0);
    const remember = () => memory.write(position, element.scrollTop);
    element.addEventListener('scroll', remember, { passive: true });
    return () => {
      stop();
      element.removeEventListener('scroll', remember);
    };
  }, [scroller, position, action, active, memory]);
}
