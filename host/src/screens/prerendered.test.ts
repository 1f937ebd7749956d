import { afterEach, beforeEach, expect, rs, test } from '@rstest/core';
import { createPrerendered } from './prerendered';

beforeEach(() => void rs.useFakeTimers());
afterEach(() => void rs.useRealTimers());

function drawn() {
  document.body.innerHTML = '<div data-first="/explore"><main>聂小倩</main></div>';
  const main = document.querySelector('main') as HTMLElement;
  const prerendered = createPrerendered(document.body);
  return {
    scrollTo(top: number) {
      main.scrollTop = top;
      main.dispatchEvent(new Event('scroll'));
    },
    rest() {
      const rest = { isOver: false };
      void prerendered.waitForScrollEnd().then(() => {
        rest.isOver = true;
      });
      return rest;
    },
  };
}
const after = (milliseconds: number) => rs.advanceTimersByTimeAsync(milliseconds);

test('what the server drew rests where nobody has scrolled it', async () => {
  const rest = drawn().rest();
  await after(0);
  expect(rest.isOver).toBe(true);
});

test('it rests once its reader scrolls no further', async () => {
  const { scrollTo, rest: begin } = drawn();
  scrollTo(40);
  const rest = begin();
  for (const top of [80, 120]) {
    scrollTo(top);
    await after(100);
    expect(rest.isOver).toBe(false);
  }
  await after(100);
  expect(rest.isOver).toBe(true);
});

test('it rests after four seconds of scrolling without an end', async () => {
  const { scrollTo, rest: begin } = drawn();
  scrollTo(40);
  const rest = begin();
  for (let top = 50; top < 90; top += 1) {
    expect(rest.isOver).toBe(false);
    scrollTo(top);
    await after(100);
  }
  expect(rest.isOver).toBe(true);
});
