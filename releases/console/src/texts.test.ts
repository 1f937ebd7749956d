import { beforeEach, describe, expect, test } from '@rstest/core';
import type { ReadAction } from './api';
import { createLanguage, formats, language } from './language';
import { evidenceLine, relativeTime, subjectOf, texts, versionOf } from './texts';

const stories = 'stories@1.1.0+bbbbbbbbbbbb';
const chat = 'chat@1.0.0-dev.0123456789ab+cccccccccccc';

beforeEach(() => language.choose('zh'));

describe('the language of a browser', () => {
  test.each([
    [['zh-TW', 'en'], 'zh'],
    [['fr', 'en-GB', 'zh'], 'en'],
    [['fr'], 'en'],
  ] as const)('%j opens the console in %s, unless another was chosen on this device', (tags, expected) => {
    localStorage.clear();
    const languages = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(navigator), 'languages');
    Object.defineProperty(navigator, 'languages', { value: tags, configurable: true });
    try {
      expect(createLanguage().current()).toBe(expected);
      const other = expected === 'zh' ? 'en' : 'zh';
      createLanguage().choose(other);
      expect(createLanguage().current()).toBe(other);
    } finally {
      Reflect.deleteProperty(navigator, 'languages');
      expect(Object.getOwnPropertyDescriptor(Object.getPrototypeOf(navigator), 'languages')).toEqual(languages);
    }
  });

  test('no Chinese is left in the English texts', () => {
    language.choose('en');
    const { list, ...rest } = texts;
    const said = (words: object): string[] =>
      Object.values(words).flatMap((word) => {
        if (typeof word === 'string') return [word];
        return typeof word === 'function' ? [String(word('x', 2, ''))] : said(word);
      });
    const all = [...said(rest), list(['a', 'b'])];
    expect(all.length).toBeGreaterThan(100);
    expect(all.filter((text) => /\p{Script=Han}|[，。：、（）「」]/u.test(text))).toEqual([]);
  });
});

test.each([
  ['2026-11-03T11:59:30Z', '刚刚', 'just now'],
  ['2026-11-03T11:55:00Z', '5分钟前', '5 minutes ago'],
  ['2026-11-03T08:00:00Z', '4小时前', '4 hours ago'],
])('%s is %s, %s', (instant, chinese, english) => {
  const now = new Date('2026-11-03T12:00:00Z');
  expect(relativeTime(instant, now)).toBe(chinese);
  language.choose('en');
  expect(relativeTime(instant, now)).toBe(english);
});

test('times of another day and figures are written as the language writes them', () => {
  const then = (at: string) => relativeTime(new Date(at).toISOString(), new Date('2026-11-03T12:00:00'));
  expect([then('2026-10-31T09:05:00'), then('2025-10-31T19:05:00')]).toEqual([
    '10月31日 09:05',
    '2025年10月31日 19:05',
  ]);
  expect([formats.percent(0.1), formats.milliseconds(1234.4)]).toEqual(['0.1%', '1,234毫秒']);
  language.choose('en');
  expect([then('2026-10-31T09:05:00'), then('2025-10-31T19:05:00')]).toEqual([
    expect.stringMatching(/^Oct 31, 09:05\sAM$/),
    expect.stringMatching(/^Oct 31, 2025, 07:05\sPM$/),
  ]);
  expect([formats.percent(33.333, 1), formats.milliseconds(1234.4)]).toEqual(['33.3%', '1,234 ms']);
  expect([texts.builds.size(2048, 1), texts.builds.size(2_048_000, 1200)]).toEqual([
    '2\u00a0KiB, 1 file',
    '2,000\u00a0KiB, 1,200 files',
  ]);
});

test('an instant of another year is shown with it', () => {
  const year = new Date().getFullYear();
  const [at, before] = [`${year + 1}-03-10T12:00:00Z`, new Date(`${year}-12-20T12:00:00Z`)];
  expect([formats.short(at), formats.recent(at), formats.until(at, before)]).toEqual(
    Array.from({ length: 3 }, () => expect.stringContaining(`${year + 1}年3月`)),
  );
  expect(formats.short(`${year}-03-10T12:00:00Z`)).not.toContain('年');
});

test('versions are short enough for a phone', () => {
  expect([versionOf(stories), versionOf(chat)]).toEqual(['1.1.0·bbbb', '1.0.0-dev.0123·cccc']);
});

describe('the log', () => {
  test.each([
    [{ kind: 'activate', builds: [stories, chat], more: 3 }, 'stories 1.1.0·bbbb、chat 1.0.0-dev.0123·cccc，另有 3 个'],
    [{ kind: 'canary', builds: [stories], percent: 10 }, 'stories 1.1.0·bbbb（10% 的访客）'],
    [{ kind: 'rollback', builds: [stories], to: 4, names: [] }, 'stories 1.1.0·bbbb（同状态 4）'],
    [{ kind: 'renew' }, '签名有效期延长'],
    [{ kind: 'text', text: `${stories} for 10 %` }, `${stories} for 10 %`],
  ] as [ReadAction, string][])('%j is said as %s', (action, expected) => {
    expect(subjectOf({ ...action, evidence: [] })).toBe(expected);
  });

  test.each([
    [{ kind: 'finding', check: 'routes', problem: 'taken', forced: true }, '已忽略检查（地址）：taken'],
    [{ kind: 'finding', check: 'routes', problem: 'taken', forced: false }, '检查未通过（地址）：taken'],
    [{ kind: 'candidateDropped', builds: [stories] }, '灰度结束：stories 1.1.0·bbbb 与新的稳定版不兼容'],
    [
      {
        kind: 'health',
        group: 'control',
        visitors: 9,
        failedVisitors: 1,
        failures: { hang: 1 },
        p75LoadMilliseconds: 9.6,
      },
      '稳定版：9 位访客中 1 位失败（超时 1），加载 p75 10毫秒',
    ],
    [
      { kind: 'verdict', pValue: 1e-9, alpha: 1e-4 },
      '灰度版的失败明显多于稳定版，不是偶然（Fisher 检验 p = 1.0e-9，界限 0.0001）',
    ],
    [
      {
        kind: 'slower',
        build: stories,
        metric: 'lcp',
        pages: 150,
        p75: 2940,
        stablePages: 900,
        stableP75: 2100,
        pValue: 1e-9,
        alpha: 1e-4,
      },
      'stories 1.1.0·bbbb 比稳定版明显慢，不是偶然：最大内容 LCP p75 2.94秒（150 页），稳定版 2.1秒（900 页）（秩和检验 p = 1.0e-9，界限 0.0001）',
    ],
    [{ kind: 'approvalRule', hours: 24 }, '两个人决定，提议等待 24小时'],
    [{ kind: 'approvalRule', hours: 1 / 30 }, '两个人决定，提议等待 2分钟'],
    [{ kind: 'text', text: 'said in a sentence' }, 'said in a sentence'],
  ] as [ReadAction['evidence'][number], string][])('%j is said as %s', (evidence, expected) => {
    expect(evidenceLine(evidence)).toBe(expected);
  });

  test.each([
    [{ kind: 'activate', builds: [stories, chat], more: 3 }, 'stories 1.1.0·bbbb, chat 1.0.0-dev.0123·cccc and 3 more'],
    [{ kind: 'canary', builds: [stories], percent: 0.1 }, 'stories 1.1.0·bbbb (0.1% of visitors)'],
    [{ kind: 'rollback', builds: [stories], to: 4, names: [] }, 'stories 1.1.0·bbbb (as in state 4)'],
  ] as [ReadAction, string][])('%j is said in English as %s', (action, expected) => {
    language.choose('en');
    expect(subjectOf({ ...action, evidence: [] })).toBe(expected);
  });

  test('evidence is said in English, with its counts', () => {
    language.choose('en');
    const health = { kind: 'health', group: 'candidate', visitors: 1, failedVisitors: 1 } as const;
    expect(evidenceLine({ ...health, failures: { hang: 1 }, p75LoadMilliseconds: null })).toBe(
      'Candidate: 1 of 1 visitor failed (timed out 1), load time p75 –',
    );
    expect(evidenceLine({ kind: 'finding', check: 'routes', problem: 'taken', forced: true })).toBe(
      'Check overridden (routes): taken',
    );
  });
});
