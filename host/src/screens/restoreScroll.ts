const patienceMs = 3000;
const impatience = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/**
 * Scrolls an element to a position that its content may not reach yet, and again while content arrives,
 * until it is reached, the reader takes over, or three seconds have passed. Returns the way to stop.
 */
export function restoreScroll(element: HTMLElement, top: number): () => void {
  element.scrollTop = top;
  if (Math.abs(element.scrollTop - top) <= 1) return () => undefined;
  const observer = new MutationObserver(() => {
    element.scrollTop = top;
    if (Math.abs(element.scrollTop - top) <= 1) stop();
  });
  const timer = setTimeout(() => stop(), patienceMs);
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
    for (const kind of impatience) element.removeEventListener(kind, stop);
  };
  observer.observe(element, { childList: true, subtree: true });
  for (const kind of impatience) element.addEventListener(kind, stop, { passive: true });
  return stop;
}
