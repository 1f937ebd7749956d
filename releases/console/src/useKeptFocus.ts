import { type FocusEvent, useEffect, useRef } from 'react';

interface Last {
  element: HTMLElement;
  /** Where to go when the element is no more: the heading of its section. */
  heading: HTMLElement | null;
}

const modal = (): Element | null => document.querySelector('dialog[open]');
/** Nothing has the focus, or only what a dialog that has just closed still holds. */
const isLost = ({ activeElement, body }: Document): boolean =>
  activeElement === null || activeElement === body || activeElement.closest('dialog:not([open])') !== null;

const isUsable = (element: HTMLElement): boolean => element.isConnected && !element.matches(':disabled');

/**
 * Keeps the keyboard's place over changes of the page. A control that is busy or gone lets focus fall to the body; it comes back
 * to the control as soon as that can be used again, else to the heading of its section. Spread the result on the frame.
 */
export function useKeptFocus() {
  const last = useRef<Last | null>(null);
  // after every render, since any of them may have taken the focused control away
  useEffect(() => {
    if (!last.current || !isLost(document) || modal()) return;
    const { element, heading } = last.current;
    if (isUsable(element)) element.focus({ preventScroll: true });
    else if (!element.isConnected && heading?.isConnected) heading.focus({ preventScroll: true });
  });
  return {
    onFocus: ({ target }: FocusEvent<HTMLElement>) => {
      if (target.closest('dialog')) return;
      last.current = { element: target, heading: target.closest('section')?.querySelector<HTMLElement>('h2') ?? null };
    },
    onBlur: ({ target }: FocusEvent<HTMLElement>) => {
      // a usable control was left on purpose, unless a dialog has taken the focus for a while
      if (last.current?.element === target && isUsable(target) && !modal()) last.current = null;
    },
  };
}
