import { expect, test } from '@rstest/core';
import { render } from '@testing-library/react';
import { Passages } from './StoryText';

const paragraph = (line: string, growing = true) => (
  <p>
    <Passages line={line} growing={growing} />
  </p>
);

const runs = (place: HTMLElement) =>
  [...(place.querySelector('p')?.children ?? [])].map(({ tagName, textContent }) => [tagName, textContent]);

test.each([
  ['plain words', '她笑', '她笑了，说：'],
  ['a quote that closes', '她说：“你', '她说：“你来了。”又笑'],
  ['an action that is still open', '她*轻', '她*轻轻抬头*'],
  ['a mark that begins', '她说', '她说*好*'],
])('%s grow within the text node that a selection may stand in', (_, before, after) => {
  const { container, rerender } = render(paragraph(before));
  const nodes = [...container.querySelectorAll('p > *')].map(({ firstChild }) => firstChild);
  for (let end = before.length; end <= after.length; end += 1) rerender(paragraph(after.slice(0, end)));
  rerender(paragraph(after, false));
  expect(nodes.every((node) => node?.isConnected)).toBe(true);
  expect(container.textContent).toBe(after.replaceAll('*', ''));
});

test.each(['她', '她说', '他*说*', ''])('a translated text follows its words, here to %j', (after) => {
  const { container, rerender, unmount } = render(paragraph('她*轻轻*'));
  for (const run of container.querySelectorAll('p > *')) {
    const font = document.createElement('font');
    font.textContent = 'she, softly';
    run.firstChild?.replaceWith(font);
  }
  rerender(paragraph(after));
  rerender(paragraph(`${after}了`));
  expect(container.textContent).toBe(`${after.replaceAll('*', '')}了`);
  expect(runs(container).flat()).not.toContain('she, softly');
  unmount();
});
