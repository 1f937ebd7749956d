/** How far the reader has scrolled what the server drew; null while they have not. */
let top: number | null = null;

/** Follows the drawn screen, which scrolls by itself, until the app takes its place. */
export function followDrawnScroll(root: Element) {
  const drawn = root.querySelector('[data-first] > main');
  if (!drawn) return;
  top = drawn.scrollTop || null;
  drawn.addEventListener('scroll', () => {
    top = drawn.scrollTop;
  });
}

/** For the first screen alone, which goes on from there. */
export function takeDrawnScroll(): number | null {
  const taken = top;
  top = null;
  return taken;
}
