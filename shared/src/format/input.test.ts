import { expect, test } from '@rstest/core';
import { codePoints, firstCodePoints, shorten } from './input';

test('a rare character or a lantern counts once', () => {
  expect(codePoints('')).toBe(0);
  expect(codePoints('聊斋')).toBe(2);
  expect(codePoints('𠮷🏮a')).toBe(3);
});

test('cutting never halves a character', () => {
  expect(firstCodePoints('𠮷先生', 1)).toBe('𠮷');
  expect(firstCodePoints('聊斋', 9)).toBe('聊斋');
  expect(firstCodePoints('聊斋', 0)).toBe('');
});

test('a long text ends in an ellipsis within its limit', () => {
  expect(shorten('月色正好', 4)).toBe('月色正好');
  expect(shorten('月色正好。', 4)).toBe('月色正…');
});
