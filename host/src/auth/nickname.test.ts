import { expect, test } from '@rstest/core';
import { makeNickname, randomBelow, randomDigits } from './nickname';

const MANY = 4000;
const compound =
  /^(欧阳|司马|上官|诸葛|慕容|令狐|皇甫|尉迟|公孙|东方|南宫|宇文|长孙|独孤|端木|百里|夏侯|司徒|轩辕|澹台)/;
const names = (gender: 'male' | 'female') => Array.from({ length: MANY }, () => makeNickname(gender));

test('about one surname in five is compound', () => {
  const share = names('male').filter((name) => compound.test(name)).length / MANY;
  expect(share).toBeGreaterThan(0.16);
  expect(share).toBeLessThan(0.24);
});

test('one or two given-name characters follow the surname', () => {
  const given = names('female').map((name) => name.length - (compound.test(name) ? 2 : 1));
  expect(new Set(given)).toEqual(new Set([1, 2]));
});

test('given names go by the gender', () => {
  const last = (gender: 'male' | 'female') => new Set(names(gender).map((name) => name.at(-1)));
  const men = last('male');
  const both = [...last('female')].filter((character) => men.has(character));
  expect(both).toEqual([]);
});

test('random numbers stay below their limit and reach all of it', () => {
  const drawn = new Set(Array.from({ length: 500 }, () => randomBelow(7)));
  expect([...drawn].sort()).toEqual([0, 1, 2, 3, 4, 5, 6]);
});

test('digits keep their leading zeros', () => {
  const codes = Array.from({ length: 300 }, () => randomDigits(6));
  expect(codes.every((code) => /^\d{6}$/.test(code))).toBe(true);
  expect(codes.some((code) => code.startsWith('0'))).toBe(true);
});
