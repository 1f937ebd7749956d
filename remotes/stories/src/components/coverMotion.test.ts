import { onTestEnd } from '@liaozhai/shared/testing';
import { expect, rs, test } from '@rstest/core';
import { growFromCard, leaveFromCard } from './coverMotion';

const at = (rect: Partial<DOMRect>, inside?: HTMLElement) => {
  const element = document.createElement('div');
  element.getBoundingClientRect = () => ({ left: 0, top: 0, width: 0, height: 0, ...rect }) as DOMRect;
  if (inside) element.append(inside);
  return element;
};

/** Creates a page's plate and records its animations. */
function openPlate() {
  const plate = at({ left: 0, top: 0, width: 400, height: 500 });
  const motion = {} as Animation;
  const animate = rs.fn((..._how: Parameters<HTMLElement['animate']>) => motion);
  plate.animate = animate;
  return { plate, animate, motion };
}

const card = () => at({}, at({ left: 20, top: 300, width: 100, height: 125 }));

test('the cover grows out of the card that was tapped, once, and leaves nothing behind', () => {
  const { plate, animate, motion } = openPlate();
  leaveFromCard('s-1', card());
  growFromCard(plate, 's-1');
  growFromCard(plate, 's-1');
  expect(animate).toHaveBeenCalledTimes(1);
  // any other animated property would be painted on the main thread
  expect(animate.mock.calls[0]?.[0]).toEqual({ transform: ['translate(20px, 300px) scale(0.25)', 'none'] });
  expect(plate.style.zIndex).toBe('1');
  motion.onfinish?.(new Event('finish') as AnimationPlaybackEvent);
  expect(plate.style.cssText).toBe('');
});

test('a story that was reached by another way stands still', () => {
  const { plate, animate } = openPlate();
  leaveFromCard('s-1', card());
  growFromCard(plate, 's-2');
  expect(animate).not.toHaveBeenCalled();
});

test('a page that had to be waited for stands still', async () => {
  const { plate, animate } = openPlate();
  leaveFromCard('s-1', card());
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => setTimeout(resolve))));
  growFromCard(plate, 's-1');
  expect(animate).not.toHaveBeenCalled();
});

test('nothing moves for who wants less motion', () => {
  const { plate, animate } = openPlate();
  const media = rs.spyOn(window, 'matchMedia').mockReturnValue({ matches: true } as MediaQueryList);
  onTestEnd(() => media.mockRestore());
  leaveFromCard('s-1', card());
  growFromCard(plate, 's-1');
  expect(animate).not.toHaveBeenCalled();
});
