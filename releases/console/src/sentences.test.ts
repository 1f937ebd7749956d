import { expect, test } from '@rstest/core';
import { createSentenceParser } from '../../src/sentences';
import { SENTENCES } from '../../src/sentenceTable';
import { inChinese } from './texts';

const SAMPLES: Record<string, string> = {
  build: 'stories@1.1.0+bbbbbbbbbbbb',
  check: 'size budget',
  failure: 'render-threw',
  visitor: 'guest',
  count: '3',
  seq: '4',
  status: '404',
  instant: '2026-11-03T12:00:00.000Z',
  end: '2026-11-04T12:00:00.000Z',
  channel: 'production',
  hash: '0123456789abcdef',
  slotName: 'story.chat',
  fromDay: 'Fri',
  fromTime: '18:00',
  toDay: 'Mon',
  toTime: '08:00',
  zone: 'Asia/Shanghai',
};
const sampleOf = (name: string): string => SAMPLES[name] ?? `/${name}`;

const filled = Object.entries(SENTENCES).map(([kind, [template]]) => {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return { kind, names, text: template.replace(/\{(\w+)\}/g, (_, name: string) => sampleOf(name)) };
});

test.each(filled)('$kind is said in Chinese: $text', ({ kind, names, text }) => {
  const values = Object.fromEntries(names.map((name) => [name, sampleOf(name)]));
  expect(createSentenceParser()(text)).toEqual({ kind, values });
  const said = inChinese(text);
  expect(said).toMatch(/[\p{Script=Han}：]/u);
  expect(said).not.toMatch(/\{|undefined/);
  // a cure may omit what its message contains
  if (!kind.endsWith('Cure')) for (const name of names) expect(said).toContain(inChinese(sampleOf(name)));
});

test.each(['needsFormerContract', 'noHostCure', 'linkUnfitCure'] as const)(
  '%s sends to the command line: the console takes one build at a time',
  (kind) => expect(SENTENCES[kind][1]).toContain('命令行'),
);

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
    'the gate refused this set; contract: stories@1.1.0+bbbbbbbbbbbb: needs shared/runtime ^2, the host has 3.0.0: build it again for that host, and switch what belongs together in one command',
    '这些构建没有通过检查；契约：stories@1.1.0+bbbbbbbbbbbb：需要 shared/runtime ^2，主程序是 3.0.0，请按这个主程序重新构建，并在命令行上一起上线（activate 可以写几个构建）',
  ],
  [
    '`rollback --to 13` goes back to a set that fits. Activate another host first, then kill this one.',
    '可以整体回到状态 13，那时的构建互相兼容。请先上线另一个主程序，再禁用它',
  ],
  ['a build failed: the page reported render-threw: x', '有构建失败，页面报告渲染出错：x'],
  ['https://chat.example/… was not reached: answered 302', '没能送达 https://chat.example/…：对方的状态码是 302'],
  [
    'production is frozen until 2026-11-03T12:00:00.000Z: weekend; its window is Fri 18:00-Mon 08:00 Asia/Shanghai, set by Li Hua',
    'production 冻结至 2026-11-03T12:00:00.000Z：weekend；时段：每周五 18:00 至 周一 08:00（Asia/Shanghai），由 Li Hua 设定',
  ],
  [
    'headless smoke: chat@1.1.0+bbbbbbbbbbbb: no page opened slot story.chat, static/js/far.js: answer what their pages ask for in gate.json, or name them there under "unopened" with the reason',
    '浏览器检查：chat@1.1.0+bbbbbbbbbbbb：没有页面打开过 插槽 story.chat、static/js/far.js，请在 gate.json 里写明这些页面要的答复，或在其中的 "unopened" 写明不打开的理由',
  ],
  ['the role viewer does not include `withdraw`', '角色「只读」不能撤下'],
  [
    'chat has a schedule already: 5@now,25@90m,100@4h, set by Li Hua',
    'chat 已有计划：5% 现在、25% 90 分钟后、100% 4 小时后，由 Li Hua 设定',
  ],
  ['channel production is damaged', '通道 production 已损坏'],
  ['auto-stop', '自动中止'],
  ['console', '发布台'],
  ['local console (0123456789ab)', '本机发布台 (0123456789ab)'],
  ['schedule of local console (0123456789ab)', '本机发布台 (0123456789ab) 的计划'],
  ['Mon 08:00-Mon 08:00 Asia/Shanghai is no window', '「每周一 08:00 至 周一 08:00（Asia/Shanghai）」不是有效的时段'],
  ['schedule of Li Hua', 'Li Hua 的计划'],
  ['the store has no channel "prod"', '存储里没有通道「prod」'],
  ['hotfix: see the chat; thanks', 'hotfix: see the chat; thanks'],
])('%s is said as %s', (text, expected) => {
  expect(inChinese(text)).toBe(expected);
});
