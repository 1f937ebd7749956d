import { expect, test } from '@rstest/core';
import { SENTENCES, sentenceReader } from '../../src/sentences';
import { inChinese } from './sentences';

const SAMPLES: Record<string, string> = {
  build: 'stories@1.1.0+bbbbbbbbbbbb',
  check: 'size budget',
  failure: 'render-threw',
  visitor: 'guest',
  count: '3',
  seq: '4',
  status: '404',
  instant: '2026-11-03T12:00:00.000Z',
};
const sampleOf = (name: string): string => SAMPLES[name] ?? `/${name}`;

const filled = Object.entries(SENTENCES).map(([kind, template]) => {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return { kind, names, text: template.replace(/\{(\w+)\}/g, (_, name: string) => sampleOf(name)) };
});

test.each(filled)('$kind is said in Chinese: $text', ({ kind, names, text }) => {
  const values = Object.fromEntries(names.map((name) => [name, sampleOf(name)]));
  expect(sentenceReader()(text)).toEqual({ kind, values });
  const said = inChinese(text);
  expect(said).toMatch(/[\p{Script=Han}：]/u);
  expect(said).not.toMatch(/\{|undefined/);
  // what a cure repeats of its message may be left out
  if (!kind.endsWith('Cure')) for (const name of names) expect(said).toContain(inChinese(sampleOf(name)));
});

test.each([
  [
    'routes: stories@1.1.0+bbbbbbbbbbbb: route /tasks belongs to the host already: choose another',
    '地址：stories@1.1.0+bbbbbbbbbbbb：页面 /tasks 已经属于主程序，请换一个',
  ],
  [
    'headless smoke: stories@1.1.0+bbbbbbbbbbbb: on /my as a guest an error was thrown: x is not a function after a tap on "打开"',
    '浏览器检查：stories@1.1.0+bbbbbbbbbbbb：游客打开 /my 时，抛出了错误：x is not a function（点了「打开」之后）',
  ],
  [
    'the gate refused this set; contract: stories@1.1.0+bbbbbbbbbbbb: needs shared/runtime ^2, the host has 3.0.0: release the host first',
    '这些构建没有通过检查；契约：stories@1.1.0+bbbbbbbbbbbb：需要 shared/runtime ^2，主程序是 3.0.0，请先发布主程序',
  ],
  ['a build failed: the page reported render-threw: x', '有构建失败，页面报告渲染出错：x'],
  ['https://chat.example/… was not reached: answered 302', '没能送达 https://chat.example/…：对方的状态码是 302'],
  ['hotfix: see the chat; thanks', 'hotfix: see the chat; thanks'],
])('%s is said as %s', (text, expected) => {
  expect(inChinese(text)).toBe(expected);
});
