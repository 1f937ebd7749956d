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

test('texts contain what the user needs to act', () => {
  expect(errorText({ kind: 'tooOften', retryAfterSeconds: 30 })).toBe('操作太频繁，请 30 秒后再试');
  expect(errorText({ kind: 'tooOften', retryAfterSeconds: 900 })).toBe('操作太频繁，请 15 分钟后再试');
  expect(errorText({ kind: 'tooOften', retryAfterSeconds: 86_400 })).toBe('操作太频繁，请 24 小时后再试');
  expect(errorText({ kind: 'tooOften', retryAfterSeconds: null })).toBe('操作太频繁，请过一会儿再试');
  expect(errorText({ kind: 'insufficientBalance', required: 1200, balance: 8 })).toContain('1,200 点');
  expect(errorText({ kind: 'invalid', fields: { login: ['用户名已被使用'] } })).toBe('用户名已被使用');
});

test('a toast shows the server’s text, else the fallback, else the text of the kind', () => {
  expect(toastText({ kind: 'server', status: 500, message: '正在维护' }, '登录失败')).toBe('正在维护');
  expect(toastText({ kind: 'tooOften', retryAfterSeconds: 45 }, '登录失败')).toBe('操作太频繁，请 45 秒后再试');
  expect(toastText({ kind: 'forbidden' }, '没能续写，请再试一次')).toBe('没有权限这样做');
  expect(toastText({ kind: 'server', status: 419 }, '登录失败')).toBe('页面已过期，请刷新后再试');
  expect(toastText({ kind: 'server', status: 500 }, '登录失败')).toBe('登录失败');
  expect(toastText({ kind: 'server', status: 500, message: '' })).toBe('服务暂时不可用，请稍后再试');
});

test.each([
  [true, '连不上服务，请检查网络或稍后再试'],
  [false, '当前没有网络，请联网后重试'],
])('a missing response is attributed to network or service everywhere, with a network: %s', (isOnline, words) => {
  rs.spyOn(navigator, 'onLine', 'get').mockReturnValue(isOnline);
  expect(errorText({ kind: 'offline' })).toBe(words);
  expect(toastText({ kind: 'offline' }, '没能找到灵感，请再试一次')).toBe(words);
  rs.restoreAllMocks();
});

test.each([404, 405, 501])('a call that the server lacks (%i) is not to be tried again', (status) => {
  expect(toastText({ kind: 'server', status }, '没能续写，请再试一次')).toBe('服务器还没有这项功能');
});

test('other errors get a plain text', () => {
  expect(anyErrorText({ kind: 'timeout' })).toBe('等得太久了，请重试');
  expect(anyErrorText(new TypeError('x is not a function'))).toBe('出了点问题，请重试');
  expect(anyErrorText('boom')).toBe('出了点问题，请重试');
});

test('the sign-in popup and an aborted request show no toast', () => {
  expect(failureText({ kind: 'unauthenticated', message: 'Unauthenticated.' }, '保存失败')).toBeUndefined();
  expect(failureText({ name: 'AbortError', message: 'Aborted' })).toBeUndefined();
  expect(failureText({ kind: 'server', status: 500 }, '保存失败')).toBe('保存失败');
  expect(failureText(new TypeError('x is not a function'))).toBe('出了点问题，请重试');
});

test('a server failure has the id of its request, an expected refusal has none', () => {
  const requestId = '3f9c1a7b-0000-4000-8000-000000000000';
  expect(problemId({ kind: 'server', status: 500, requestId })).toBe(requestId);
  expect(problemId({ kind: 'server', status: 500 })).toBeUndefined();
  expect(problemId(new TypeError('x is not a function'))).toBeUndefined();
  for (const error of errors.filter(({ kind }) => kind !== 'server'))
    expect(problemId({ ...error, requestId })).toBeUndefined();
  expect(problemId({ kind: 'server', status: 404, requestId })).toBeUndefined();
});
