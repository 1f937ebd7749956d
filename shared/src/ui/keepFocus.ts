import { media } from './media';

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])';
const WRITTEN_IN = 'input:not([type="radio"], [type="checkbox"], [type="file"]), textarea';

/** Where an element stands: its parents from the nearest to the farthest, with what comes before it in each. */
interface Step {
  parent: Element;
  before: Element | null;
}

function pathOf(element: Element): Step[] {
  const path: Step[] = [];
  for (let child = element; child.parentElement; child = child.parentElement)
    path.push({ parent: child.parentElement, before: child.previousElementSibling });
  return path;
}

const canHold = (element: Element): boolean =>
  element.isConnected &&
  !element.matches(':disabled') &&
  element.closest('[inert]') === null &&
  element.getClientRects().length > 0;

/** A touch screen's keyboard comes up for a field, which only the reader may ask for. */
const isWelcome = (element: Element) => media('(pointer: fine)').matches || !element.matches(WRITTEN_IN);

/** The next element after the place where the path begins, else the last before it, within the nearest parent that has one. */
function nextOn(path: readonly Step[]): HTMLElement | undefined {
  for (const { parent, before } of path) {
    if (!parent.isConnected || parent === document.body) continue;
    const all = [...parent.querySelectorAll<HTMLElement>(FOCUSABLE)].filter((each) => canHold(each) && isWelcome(each));
    const isAfter = (each: Element) =>
      !before?.isConnected ||
      (!before.contains(each) && (before.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0);
    const next = all.find(isAfter) ?? all.at(-1);
    if (next) return next;
  }
  return undefined;
}

/**
 * Hands the focus on where the element that has it goes away, is disabled or becomes inert: a browser would let it fall to the
 * body, and a keyboard or a screen reader would begin at the top of the page. Returns the way to stop.
 */
export function keepFocus(): () => void {
  let last: { element: Element; path: Step[] } | undefined;
  const note = ({ target }: FocusEvent) => {
    if (target instanceof Element) last = { element: target, path: pathOf(target) };
  };
  const observer = new MutationObserver(() => {
    const { activeElement } = document;
    const isLost = activeElement === null || activeElement === document.body || activeElement === last?.element;
    if (!last || !isLost || canHold(last.element)) return;
    const { path } = last;
    last = undefined;
    nextOn(path)?.focus({ preventScroll: true });
  });
  document.addEventListener('focusin', note);
  observer.observe(document, { childList: true, subtree: true, attributeFilter: ['disabled', 'inert'] });
  return () => {
    document.removeEventListener('focusin', note);
    observer.disconnect();
  };
}
