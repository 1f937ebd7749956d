import { type RefObject, useLayoutEffect, useRef } from 'react';

const isTyping = (element: Element) => element.matches('input, textarea, select, [contenteditable]');

/**
 * Moves the focus to a screen that comes into sight: to what had it when the screen was left, else to the screen itself.
 * The tab bar keeps the focus of who walks through it by keyboard, and no field takes it, since a keyboard would jump up.
 */
export function useFocusMemory(scroller: RefObject<HTMLElement | null>, active: boolean, isFirst: boolean) {
  const last = useRef<Element | null>(null);
  const skip = useRef(isFirst);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!active || !element) return;
    const remember = (event: FocusEvent) => {
      last.current = event.target as Element;
    };
    element.addEventListener('focusin', remember);
    const held = document.activeElement;
    const busyElsewhere = held?.closest('nav, dialog[open]');
    if (!skip.current && !busyElsewhere) {
      const known = last.current && element.contains(last.current) && !isTyping(last.current) ? last.current : element;
      (known as HTMLElement).focus({ preventScroll: true });
    }
    skip.current = false;
    return () => element.removeEventListener('focusin', remember);
  }, [scroller, active]);
}
