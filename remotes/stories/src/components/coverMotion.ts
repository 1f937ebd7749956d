/** The card that was tapped last: whose, where its cover stood, and when. */
const departure: { id: string; from: DOMRect | null; at: number } = { id: '', from: null, at: 0 };

/** Later than this after the tap the page had to be waited for, and nothing moves any more. */
const FRESH_MS = 400;

/** To be called as a card is tapped; its first child is the cover. */
export function leaveFromCard(id: string, card: HTMLElement) {
  departure.id = id;
  departure.from = card.firstElementChild?.getBoundingClientRect() ?? null;
  departure.at = performance.now();
}

/**
 * Lets the page's cover grow out of the card that led here. The page stands whole from its first frame on, and only the
 * cover's picture moves; docs/decisions/017-a-cover-that-grows.md says why it is no view transition.
 */
export function growFromCard(plate: HTMLElement, id: string) {
  const { from, at } = departure;
  if (departure.id !== id || !from || performance.now() - at > FRESH_MS) return;
  departure.from = null;
  const to = plate.getBoundingClientRect();
  const isWanted = !matchMedia('(prefers-reduced-motion: reduce)').matches;
  if (!isWanted || to.width === 0 || from.width === 0) return;
  const scale = from.width / to.width;
  const hidden = Math.max(0, 1 - from.height / (to.height * scale));
  const common = { transformOrigin: '0 0', zIndex: 1 };
  plate.animate(
    [
      {
        ...common,
        transform: `translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${scale})`,
        clipPath: `inset(0 0 ${hidden * 100}% 0)`,
      },
      { ...common, transform: 'none', clipPath: 'inset(0)' },
    ],
    { duration: 240, easing: 'cubic-bezier(0.2, 0, 0, 1)' },
  );
}
