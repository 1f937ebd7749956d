/** Above this the reader has zoomed in: the view is smaller then too, and there is no keyboard to blame. */
const ZOOMED = 1.01;

/**
 * Tells an element's style how much of the window the on-screen keyboard leaves, where the browser lays it over the page
 * (Safari) or moves the page up behind it: `--keyboard` is covered below, `--view-top` is out of sight above, both in px.
 * Returns the way to stop.
 */
export function followKeyboard(element: HTMLElement, onChange?: () => void): () => void {
  const view = window.visualViewport;
  if (!view) return () => undefined;
  let last = '';
  const place = () => {
    const isZoomed = view.scale > ZOOMED;
    const covered = isZoomed ? 0 : Math.max(0, window.innerHeight - view.height - view.offsetTop);
    const above = isZoomed ? 0 : Math.max(0, view.offsetTop);
    const insets = { '--keyboard': `${Math.round(covered)}px`, '--view-top': `${Math.round(above)}px` };
    const now = JSON.stringify(insets);
    if (now === last) return;
    last = now;
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
