import { attempt, listenTo } from '../format/browser';

/** Scale above which the user has zoomed in: the viewport is smaller then too, without a keyboard. */
const ZOOMED_SCALE = 1.01;

/** The keyboard of a phone in landscape leaves less: room for a field and its messages only. */
const TIGHT_PX = 200;

/**
 * Sets `--keyboard` and `--view-top` on an element, in px: the parts of the window below the viewport and above it. Safari lays
 * the keyboard over the page or moves the page up behind it. `data-tight` marks very little room. Returns the cleanup function.
 */
export function followKeyboard(element: HTMLElement, onChange?: () => void): () => void {
  const view = attempt(() => window.visualViewport);
  if (!view) return () => undefined;
  let lastInsets = '';
  const updateInsets = () => {
    const isZoomed = view.scale > ZOOMED_SCALE;
    const coveredPx = isZoomed ? 0 : Math.max(0, window.innerHeight - view.height - view.offsetTop);
    const abovePx = isZoomed ? 0 : Math.max(0, view.offsetTop);
    const insets = { '--keyboard': `${Math.round(coveredPx)}px`, '--view-top': `${Math.round(abovePx)}px` };
    const isTight = !isZoomed && view.height < TIGHT_PX;
    const currentInsets = JSON.stringify([insets, isTight]);
    if (currentInsets === lastInsets) return;
    lastInsets = currentInsets;
    element.toggleAttribute('data-tight', isTight);
    for (const [name, value] of Object.entries(insets)) element.style.setProperty(name, value);
    onChange?.();
  };
  updateInsets();
  return listenTo(view, ['resize', 'scroll'], updateInsets);
}

const OVERLAYS_ID = 'overlays';

/**
 * Container of overlays. Not the body: React adds its listeners to each portal's container, and would handle all events of the
 * page twice.
 */
export function overlayContainer(): HTMLElement {
  const existing = document.getElementById(OVERLAYS_ID);
  if (existing) return existing;
  const container = document.createElement('div');
  container.id = OVERLAYS_ID;
  return document.body.appendChild(container);
}
