import { describe, expect, test } from '@rstest/core';
import type { Action, Evidence } from './api';
import { evidenceLine, relativeTime, subjectOf, versionOf } from './texts';

const stories = 'stories@1.1.0+bbbbbbbbbbbb';
const chat = 'chat@1.0.0-dev.0123456789ab+cccccccccccc';

test.each([
  ['2026-11-03T11:59:30Z', '刚刚'],
  ['2026-11-03T11:55:00Z', '5 分钟前'],
  ['2026-11-03T08:00:00Z', '4 小时前'],
])('%s is %s', (instant, expected) => {
  expect(relativeTime(instant, new Date('2026-11-03T12:00:00Z'))).toBe(expected);
});

test('versions are short enough for a phone', () => {
  expect([versionOf(stories), versionOf(chat)]).toEqual(['1.1.0 · bbbb', '1.0.0-dev.0123 · cccc']);
});

describe('the log', () => {
  test.each([
    [{ kind: 'activate', builds: [stories, chat], more: 3 }, 'stories 1.1.0·bbbb、chat 1.0.0-dev.0123·cccc，另有 3 个'],
    [{ kind: 'canary', builds: [stories], percent: 10 }, 'stories 1.1.0·bbbb（10% 的访客）'],
    [{ kind: 'rollback', builds: [stories], to: 4, names: [] }, 'stories 1.1.0·bbbb（同状态 4）'],
    [{ kind: 'renew' }, '签名有效期延长'],
    [{ kind: 'text', text: `${stories} for 10 %` }, `${stories} for 10 %`],
  ] as [Action, string][])('%j is said as %s', (action, expected) => {
    expect(subjectOf({ ...action, evidence: [] })).toBe(expected);
  });

  test.each([
    [{ kind: 'finding', check: 'routes', problem: 'taken', forced: true }, '已忽略检查（routes）：taken'],
    [{ kind: 'finding', check: 'routes', problem: 'taken', forced: false }, '检查未通过（routes）：taken'],
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
      '稳定版：9 位访客中 1 位失败（超时 1），加载 p75 10 ms',
    ],
    [
      { kind: 'verdict', pValue: 1e-9, alpha: 1e-4 },
      '灰度版的失败明显多于稳定版，不是偶然（Fisher 检验 p = 1.0e-9，界限 0.0001）',
    ],
    [{ kind: 'text', text: 'told in a sentence' }, 'told in a sentence'],
  ] as [Evidence, string][])('%j is said as %s', (evidence, expected) => {
    expect(evidenceLine(evidence)).toBe(expected);
  });
});
