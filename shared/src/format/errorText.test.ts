import { expect, rs, test } from '@rstest/core';
import type { ApiError } from '../contract';
import { anyErrorText, errorText, failureText, problemId, toastText } from './errorText';

const errors: ApiError[] = [
  { kind: 'offline' },
  { kind: 'timeout' },
  { kind: 'unauthenticated' },
  { kind: 'forbidden' },
  { kind: 'notFound' },
  { kind: 'invalid', fields: {} },
  { kind: 'tooOften', retryAfterSeconds: 30 },
  { kind: 'insufficientBalance', required: 1200, balance: 8 },
  { kind: 'conflict', code: 'stale' },
  { kind: 'server', status: 503 },
  { kind: 'server', status: 404 },
];

test('every kind has its own words', () => {
  const texts = errors.map(errorText);
  expect(new Set(texts).size).toBe(errors.length);
  expect(texts.every((text) => /\p{Script=Han}/u.test(text))).toBe(true);
});

test('the words carry what the reader needs to act', () => {
  expect(errorText({ kind: 'tooOften', retryAfterSeconds: 30 })).toBe('操作太频繁，请 30 秒后再试');
  expect(errorText({ kind: 'tooOften', retryAfterSeconds: 900 })).toBe('操作太频繁，请 15 分钟后再试');
  expect(errorText({ kind: 'tooOften', retryAfterSeconds: 86_400 })).toBe('操作太频繁，请 24 小时后再试');
  expect(errorText({ kind: 'tooOften', retryAfterSeconds: null })).toBe('操作太频繁，请过一会儿再试');
  expect(errorText({ kind: 'insufficientBalance', required: 1200, balance: 8 })).toContain('1,200 点');
  expect(errorText({ kind: 'invalid', fields: { login: ['用户名已被使用'] } })).toBe('用户名已被使用');
});

test('a toast says what the server said, else the fallback, else the kind', () => {
  expect(toastText({ kind: 'server', status: 500, message: '正在维护' }, '登录失败')).toBe('正在维护');
  expect(toastText({ kind: 'server', status: 500 }, '登录失败')).toBe('登录失败');
  expect(toastText({ kind: 'server', status: 500, message: '' })).toBe('服务暂时不可用，请稍后再试');
});

test.each([
  [true, '连不上服务，请检查网络或稍后再试'],
  [false, '当前没有网络，请联网后重试'],
])('no answer is blamed on what is away, in every place, with a network: %s', (isOnline, words) => {
  rs.spyOn(navigator, 'onLine', 'get').mockReturnValue(isOnline);
  expect(errorText({ kind: 'offline' })).toBe(words);
  expect(toastText({ kind: 'offline' }, '没能找到灵感，请再试一次')).toBe(words);
  rs.restoreAllMocks();
});

test('what is no failed request gets plain words', () => {
  expect(anyErrorText({ kind: 'timeout' })).toBe('等得太久了，请重试');
  expect(anyErrorText(new TypeError('x is not a function'))).toBe('出了点问题，请重试');
  expect(anyErrorText('boom')).toBe('出了点问题，请重试');
});

test('there is no toast where the sign-in popup opens, nor for an aborted request', () => {
  expect(failureText({ kind: 'unauthenticated', message: 'Unauthenticated.' }, '保存失败')).toBeUndefined();
  expect(failureText({ name: 'AbortError', message: 'Aborted' })).toBeUndefined();
  expect(failureText({ kind: 'server', status: 500 }, '保存失败')).toBe('保存失败');
  expect(failureText(new TypeError('x is not a function'))).toBe('出了点问题，请重试');
});

test('what the server failed at has the id of its request, what was to be expected has none', () => {
  const requestId = '3f9c1a7b-0000-4000-8000-000000000000';
  expect(problemId({ kind: 'server', status: 500, requestId })).toBe(requestId);
  expect(problemId({ kind: 'server', status: 500 })).toBeUndefined();
  expect(problemId(new TypeError('x is not a function'))).toBeUndefined();
  for (const error of errors.filter(({ kind }) => kind !== 'server'))
    expect(problemId({ ...error, requestId })).toBeUndefined();
  expect(problemId({ kind: 'server', status: 404, requestId })).toBeUndefined();
});
