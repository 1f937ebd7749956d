import { attempt } from './media';

/** Above this the reader has zoomed in: the view is smaller then too, and there is no keyboard to blame. */
const ZOOMED = 1.01;

/** The keyboard of a lying phone leaves less than this: room for a field and for what it answers, and for nothing else. */
const TIGHT_PX = 200;

/**
 * Says at an element how much of the window the on-screen keyboard leaves. The browser lays it over the page (Safari) or moves the
 * page up behind it: `--keyboard` is covered below, `--view-top` is out of sight above, both in px. `data-tight` marks it where
 * hardly anything is left. Returns the way to stop.
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
 * The element for what stands above the page. Not the body: React listens wherever it draws, and in the body it would hear
 * each key and each touch of the page a second time.
 */
export function overlayPlace(): HTMLElement {
  const existing = document.getElementById(OVERLAYS);
  if (existing) return existing;
  const place = document.createElement('div');
  place.id = OVERLAYS;
  return document.body.appendChild(place);
}
