import { expect, test } from '@rstest/core';
import { linesOf, passagesOf, wordsOf } from './storyText';

const told = (line: string, growing = false) =>
  passagesOf(line, growing).map(({ kind, text }) => (kind === 'plain' ? text : `<${kind}>${text}`));

test.each([
  ['她笑了。', ['她笑了。']],
  ['*她抬头*“你来了。”', ['<action>她抬头', '“你来了。”']],
  ['“你*轻轻*来了”，3 * 4', ['“你', '<action>轻轻', '来了”，3 * 4']],
  ['“3 * 4”是*几*', ['“3 * 4”是', '<action>几']],
  ['这是**要紧**的事', ['这是', '<strong>要紧', '的事']],
  ['3 * 4 = 12', ['3 * 4 = 12']],
  ['只有*一个', ['只有*一个']],
  ['「谁？」他问', ['「谁？」他问']],
  ['<b>不是标签</b>', ['<b>不是标签</b>']],
  ['', []],
])('%s', (line, passages) => {
  expect(told(line)).toEqual(passages);
});

test('a mark that is still open while the text grows shows no asterisk', () => {
  expect(told('她*轻轻', true)).toEqual(['她', '<action>轻轻']);
  expect(told('她**轻', true)).toEqual(['她', '<strong>轻']);
  expect(told('她**轻*', true)).toEqual(['她', '<strong>轻']);
  expect(told('她*', true)).toEqual(['她']);
});

test('empty lines separate and do not show', () => {
  expect(linesOf('一\n\n　　二\r\n \n三')).toEqual(['一', '二', '三']);
});

test.each([
  ['*她抬头*“你来了。”', '她抬头“你来了。”'],
  ['“这是**要紧**的事，*听着*。”', '“这是要紧的事，听着。”'],
  ['\n*风停了*\n\n「谁？」\n', '风停了\n\n「谁？」'],
  ['3 * 4 = 12', '3 * 4 = 12'],
])('the plain text of %j has its words only', (text, words) => {
  expect(wordsOf(text)).toBe(words);
});

test('the plain text of a growing text has no open mark', () => {
  expect(wordsOf('*她*\n*轻轻', true)).toBe('她\n轻轻');
});
