import { type RefObject, useEffect, useEffectEvent } from 'react';
import { scrollerOf } from './InfiniteList';

interface Pull {
  isAllowed: () => boolean;
  /** px the finger is below where it touched */
  onPull: (element: HTMLElement, pulled: number) => void;
  onRelease: (element: HTMLElement, pulled: number) => void;
}

const isAtTop = (element: Element) => (scrollerOf(element) ?? document.documentElement).scrollTop <= 0;

/**
 * A finger that pulls down from the very top of a list. Plain touch events: @use-gesture/react costs the first screen
 * 7.8 KiB br for this, and its tap filter swallows mouse clicks on devices that also have touch.
 */
export function usePullDown(area: RefObject<HTMLElement | null>, pull: Pull) {
  const allowed = useEffectEvent(pull.isAllowed);
  const pulledTo = useEffectEvent(pull.onPull);
  const released = useEffectEvent(pull.onRelease);

  useEffect(() => {
    const element = area.current;
    if (!element) return;
    let startY: number | null = null;
    let pulled = 0;
    const start = ({ touches }: TouchEvent) => {
      const touch = touches.length === 1 ? touches[0] : undefined;
      startY = touch && allowed() && isAtTop(element) ? touch.clientY : null;
      pulled = 0;
    };
    const move = (event: TouchEvent) => {
      const touch = event.touches[0];
      if (startY === null || !touch) return;
      const down = touch.clientY - startY;
      // a move upwards is scrolling, and stays that until the finger leaves
      if (down <= 0 && pulled === 0) startY = null;
      if (startY === null) return;
      pulled = Math.max(0, down);
      if (event.cancelable) event.preventDefault();
      pulledTo(element, pulled);
    };
    const end = () => {
      if (startY !== null && pulled > 0) released(element, pulled);
      startY = null;
    };
    const cancel = () => {
      if (startY !== null && pulled > 0) released(element, 0);
      startY = null;
    };
    element.addEventListener('touchstart', start, { passive: true });
    element.addEventListener('touchmove', move, { passive: false });
    element.addEventListener('touchend', end);
    element.addEventListener('touchcancel', cancel);
    return () => {
      element.removeEventListener('touchstart', start);
      element.removeEventListener('touchmove', move);
      element.removeEventListener('touchend', end);
      element.removeEventListener('touchcancel', cancel);
    };
  }, [area]);
}
