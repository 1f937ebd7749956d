import { expect, test } from '@rstest/core';
import fc from 'fast-check';
import { findAll } from './find';

const foundIn = (text: string, wanted: string) => findAll(text, wanted).map(({ start, end }) => text.slice(start, end));

test.each([
  ['灯下有人，灯又灭了', '灯', ['灯', '灯']],
  ['İİİ 在此', '在此', ['在此']],
  ['İstanbul', 'istanbul', ['İstanbul']],
  ['Café 与 CAFÉ', 'cafe', ['Café', 'CAFÉ']],
  ['cafe', 'CAFÉ', ['cafe']],
  ['Cafe\u0301 夜', 'café', ['Cafe\u0301']],
  ['ＡＢＣ１２', 'abc12', ['ＡＢＣ１２']],
  ['abc', 'ＡＢ', ['ab']],
  ['ﬁne', 'fi', ['ﬁ']],
  ['🏮灯🏮', '灯', ['灯']],
  ['Straße', 'STRASSE', ['Straße']],
  ['STRASSE', 'straße', ['STRASSE']],
  ['ẞ', 'ß', ['ẞ']],
  ['ΟΔΟΣ', 'οδος', ['ΟΔΟΣ']],
  ['ガ', 'カ', []],
  ['有', '', []],
  ['', '有', []],
])('in %j %j finds %j', (text, wanted, found) => {
  expect(foundIn(text, wanted)).toEqual(found);
});

const letters = fc.array(fc.constantFrom('a', 'İ', 'É', 'e\u0301', 'Ａ', 'ﬁ', '灯', '🏮', 'ß', '가', 'ǰ'), {
  maxLength: 8,
});

test('words are found at their place, also among letters that fold to more or fewer', () => {
  fc.assert(
    fc.property(letters, letters, (before, after) => {
      const text = `${before.join('')}<x>${after.join('')}`;
      expect(findAll(text, '<X>')).toEqual([{ start: before.join('').length, end: before.join('').length + 3 }]);
    }),
  );
});
