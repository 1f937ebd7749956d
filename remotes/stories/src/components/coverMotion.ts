import { media } from '@liaozhai/shared/ui';

/** The card that was tapped last: whose, and where its cover stood; null once a frame was drawn after the tap. */
const departure: { id: string; from: DOMRect | null } = { id: '', from: null };

/** To be called as a card is tapped; its first child is the cover. */
export function leaveFromCard(id: string, card: HTMLElement) {
  departure.id = id;
  departure.from = card.firstElementChild?.getBoundingClientRect() ?? null;
  // a page that is not there in the first frame has to be waited for: what stands in its place would jump
  requestAnimationFrame(() =>
    setTimeout(() => {
      departure.from = null;
    }),
  );
}

/**
 * Lets the page's cover grow out of the card that led here. The page stands whole from its first frame on, and only the
 * cover's picture moves; docs/decisions/017-hero-transition.md says why it is no view transition.
 */
export function growFromCard(plate: HTMLElement, id: string) {
  const { from } = departure;
  if (departure.id !== id || !from) return;
  departure.from = null;
  const to = plate.getBoundingClientRect();
  const isWanted = !media('(prefers-reduced-motion: reduce)').matches;
  if (!isWanted || to.width === 0 || from.width === 0) return;
  const scale = from.width / to.width;
  const start = `translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${scale})`;
  plate.style.transformOrigin = '0 0';
  plate.style.zIndex = '1';
  // of transform alone, the browser moves it past the page's own thread: a step back meanwhile need not wait for it
  const motion = plate.animate({ transform: [start, 'none'] }, { duration: 240, easing: 'cubic-bezier(0.2, 0, 0, 1)' });
  const rest = () => {
    plate.style.transformOrigin = '';
    plate.style.zIndex = '';
  };
  motion.onfinish = rest;
  motion.oncancel = rest;
}
