import { listenTo, stopAll } from '../format/browser';
import { media } from './media';

const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex]:not([tabindex="-1"])';
const TEXT_FIELDS = 'input:not([type="radio"], [type="checkbox"], [type="file"]), textarea';

/** Position of an element: its ancestors from the nearest on, with the preceding sibling in each. */
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

const canFocus = (element: Element): boolean =>
  element.isConnected &&
  !element.matches(':disabled') &&
  element.closest('[inert]') === null &&
  element.getClientRects().length > 0;

/** A focused text field opens a touch keyboard, which only the user should do. */
const opensNoKeyboard = (element: Element) => media('(pointer: fine)').matches || !element.matches(TEXT_FIELDS);

/** The next focusable element after the position, else the last one before it, in the nearest ancestor that has one. */
function findNextFocusable(path: readonly Step[]): HTMLElement | undefined {
  for (const { parent, before } of path) {
    // the browser has restored the focus, in Safari to nothing after a tap on a button
    if (parent.matches('dialog:not([open])')) return undefined;
    if (!parent.isConnected || parent === document.body) continue;
    const candidates = [...parent.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
      (each) => canFocus(each) && opensNoKeyboard(each),
    );
    const isAfter = (each: Element) =>
      !before?.isConnected ||
      (!before.contains(each) && (before.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0);
    const nextElement = candidates.find(isAfter) ?? candidates.at(-1);
    if (nextElement) return nextElement;
  }
  return undefined;
}

/**
 * Moves the focus on when the focused element is removed, disabled or made inert. Browsers move it to the body, so that keyboards
 * and screen readers restart at the top. Returns the cleanup function.
 */
export function keepFocus(): () => void {
  let lastFocus: { element: Element; path: Step[] } | undefined;
  const recordFocus = ({ target }: FocusEvent) => {
    if (target instanceof Element) lastFocus = { element: target, path: pathOf(target) };
  };
  const observer = new MutationObserver(() => {
    const { activeElement } = document;
    const isLost = activeElement === null || activeElement === document.body || activeElement === lastFocus?.element;
    if (!lastFocus || !isLost || canFocus(lastFocus.element)) return;
    const { path } = lastFocus;
    lastFocus = undefined;
    findNextFocusable(path)?.focus({ preventScroll: true });
  });
  observer.observe(document, { childList: true, subtree: true, attributeFilter: ['disabled', 'inert'] });
  return stopAll(listenTo(document, ['focusin'], recordFocus), () => observer.disconnect());
}
