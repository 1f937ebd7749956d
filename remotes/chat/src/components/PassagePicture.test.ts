import { expect, test } from '@rstest/core';
import { breakLines, fit, linkOf, truncateMessages } from './PassagePicture';

/** Every character has the same width, as most Chinese ones do. */
const widthOf = ({ text }: { text: string }) => text.length;
const lines = (paragraph: string, width = 6, indent = 0) =>
  breakLines(paragraph, width, indent, widthOf).map((line) => line.map(({ text }) => text).join(''));

test('a line is full, and the first one has room for the indent', () => {
  expect(lines('月光落在阶前像一层薄霜', 6, 2)).toEqual(['月光落在', '阶前像一层薄', '霜']);
});

test('a closing mark hangs at the end of its line, an opening one goes over to the next', () => {
  expect(lines('月光落在阶前，像霜')).toEqual(['月光落在阶前，', '像霜']);
  expect(lines('她轻声说：“公子”')).toEqual(['她轻声说：', '“公子”']);
  expect(lines('她说“你来了。”走')).toEqual(['她说“你来', '了。”走']);
});

test('a Latin word stays whole, and marks are drawn instead of written', () => {
  expect(lines('他说 hello 再见')).toEqual(['他说 ', 'hello ', '再见']);
  const [line] = breakLines('她*笑了*', 9, 0, widthOf);
  expect(line?.map(({ kind, text }) => `${kind} ${text}`)).toEqual(['plain 她', 'action 笑', 'action 了']);
});

test('what is longer than a line stays within the picture', () => {
  expect(lines('W'.repeat(40), 20).every((line) => line.length <= 20)).toBe(true);
  expect(fit('聂小倩', 6, (text) => text.length)).toBe('聂小倩');
  expect(fit('很长的名字'.repeat(60), 6, (text) => text.length)).toBe('很长的名字…');
});

test('a passage that is too long ends with an ellipsis where the room does', () => {
  const message = (length: number) => ({ role: 'assistant' as const, body: '字'.repeat(length) });
  expect(truncateMessages([message(600), message(600)])).toMatchObject({ isCut: false });
  const { messages, isCut } = truncateMessages([message(1000), message(300), message(5)]);
  expect(isCut).toBe(true);
  expect(messages.map(({ body }) => body.length)).toEqual([1000, 202]);
  expect(messages[1]?.body.endsWith('字……')).toBe(true);
});

test.each([
  ['LANRUO', '/story/nie-xiaoqian', 'LANRUO'],
  ['', '/story/nie-xiaoqian', null],
])('its code leads to the story, under the invitation of who made it: %s', (code, path, invite) => {
  const link = new URL(linkOf({ id: 'nie-xiaoqian' }, code));
  expect([link.origin, link.pathname, link.searchParams.get('invite')]).toEqual([location.origin, path, invite]);
});
