import { attempt } from './media';

/** Scale above which the user has zoomed in: the viewport is smaller then too, without a keyboard. */
const ZOOMED = 1.01;

/** The keyboard of a phone in landscape leaves less: room for a field and its messages only. */
const TIGHT_PX = 200;

/**
 * Sets `--keyboard` and `--view-top` on an element, in px: the parts of the window below the viewport and above it. Safari lays
 * the keyboard over the page or moves the page up behind it. `data-tight` marks very little room. Returns the cleanup function.
 */
export function followKeyboard(element: HTMLElement, onChange?: () => void): () => void {
  const view = attempt(() => window.visualViewport);
  if (!view) return () => undefined;
  let last = '';
  const place = () => {
    const isZoomed = view.scale > ZOOMED;
    const covered = isZoomed ? 0 : Math.max(0, window.innerHeight - view.height - view.offsetTop);
    const above = isZoomed ? 0 : Math.max(0, view.offsetTop);
    const insets = { '--keyboard': `${Math.round(covered)}px`, '--view-top': `${Math.round(above)}px` };
    const isTight = !isZoomed && view.height < TIGHT_PX;
    const now = JSON.stringify([insets, isTight]);
    if (now === last) return;
    last = now;
    element.toggleAttribute('data-tight', isTight);
    for (const [name, value] of Object.entries(insets)) element.style.setProperty(name, value);
    onChange?.();
  };
  place();
  view.addEventListener('resize', place);
  view.addEventListener('scroll', place);
  return () => {
    view.removeEventListener('resize', place);
    view.removeEventListener('scroll', place);
  };
}

const OVERLAYS = 'overlays';

/**
 * Container of overlays. Not the body: React adds its listeners to each portal's container, and would handle all events of the
 * page twice.
 */
export function overlayPlace(): HTMLElement {
  const existing = document.getElementById(OVERLAYS);
  if (existing) return existing;
  const place = document.createElement('div');
  place.id = OVERLAYS;
  return document.body.appendChild(place);
}
