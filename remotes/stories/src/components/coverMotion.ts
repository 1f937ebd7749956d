import { media } from '@liaozhai/shared/ui';

/** The story tapped last and the position of its cover; null once a frame has been painted after the tap. */
const departure: { id: string; from: DOMRect | null } = { id: '', from: null };

/** Must be called when a card is tapped; its first child is the cover. */
export function leaveFromCard(id: string, card: HTMLElement) {
  departure.id = id;
  departure.from = card.firstElementChild?.getBoundingClientRect() ?? null;
  // a page that is not in the first frame is not animated: its placeholder would jump
  requestAnimationFrame(() =>
    setTimeout(() => {
      departure.from = null;
    }),
  );
}

/**
 * Animates the page's cover from the position of the tapped card. The page is complete from its first frame on, and only the
 * cover's picture moves; docs/decisions/017-hero-transition.md explains why this is not a view transition.
 */
export function growFromCard(plate: HTMLElement, id: string) {
  const { from } = departure;
  if (departure.id !== id || !from) return;
  departure.from = null;
  const to = plate.getBoundingClientRect();
  const allowsMotion = !media('(prefers-reduced-motion: reduce)').matches;
  if (!allowsMotion || to.width === 0 || from.width === 0) return;
  const scale = from.width / to.width;
  const start = `translate(${from.left - to.left}px, ${from.top - to.top}px) scale(${scale})`;
  plate.style.transformOrigin = '0 0';
  plate.style.zIndex = '1';
  // an animation of `transform` alone runs on the compositor, so going back meanwhile does not have to wait for it
  const motion = plate.animate({ transform: [start, 'none'] }, { duration: 240, easing: 'cubic-bezier(0.2, 0, 0, 1)' });
  const resetStyles = () => {
    plate.style.transformOrigin = '';
    plate.style.zIndex = '';
  };
  motion.onfinish = resetStyles;
  motion.oncancel = resetStyles;
}
