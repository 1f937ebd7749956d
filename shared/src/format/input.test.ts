import { expect, test } from '@rstest/core';
import { isBlank } from '../contract/visible';
import { copiedCredentials } from './credentials';
import { codePoints, firstCodePoints, firstGrapheme, meantLogin, meantPassword, shorten } from './input';

test('a rare character or an emoji counts once', () => {
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
  expect(shorten('\u0301\u0301\u0301', 2)).toBe('\u0301…');
});

test.each([
  ['a12345678', 'a12345678'],
  [' a123 ', 'a123'],
  ['ａ１２３', 'a123'],
  ['\u200ba1\u00ad23\ufeff', 'a123'],
  ['李白', '李白'],
])('the user name %j is meant as %j', (typed, meant) => {
  expect(meantLogin(typed)).toBe(meant);
});

test.each([
  ['１２３４５６', '123456'],
  ['\u200e123456\u2060', '123456'],
  [' 1 2 ', ' 1 2 '],
  ['你好，世界１', '你好，世界１'],
])('the password %j is meant as %j', (typed, meant) => {
  expect(meantPassword(typed)).toBe(meant);
});

test.each([
  ['用户名：a12345678\n密码：384756'],
  ['用户名：a12345678密码：384756'],
  ['我的账号是聊斋的\u200b，账号：ａ12345678　密码： 384756 '],
  ['账号 a12345678\r\n密码 384756\r\n'],
  ['账户：a12345678 密码：384756。'],
  ['登录名：a12345678，密码：384756，别忘了'],
  ['手机号：a12345678|口令：384756'],
  ['账号是a12345678，密码是384756'],
  ['我的账号为 a12345678；我的密码为 384756'],
  ['账号=a12345678 密码=384756'],
  ['【账号】a12345678【密码】384756'],
  ['「账号」a12345678 「密码」384756'],
  ['**账号**：a12345678 / **密码**：384756'],
  ['账　号：a12345678　密　码：384756'],
  ['帳號：a12345678密碼：384756'],
  ['账号:"a12345678",密码:"384756"'],
  ['昵称：甲账号：a12345678密码：384756网址：https://liaozhai.example'],
  ['account: a12345678, password: 384756'],
  ['Username: a12345678\nPassword: 384756'],
  ['login=a12345678 pwd=384756'],
  ['密码：384756\n用户名：a12345678'],
  ['密码：384756账号：a12345678。'],
  ['我的密码是384756，账号是a12345678'],
  ['【密码】384756【账号】a12345678'],
  ['密码:"384756",账号:"a12345678"'],
  ['**密码**：384756 / **账号**：a12345678'],
  ['口令 384756 手机号 a12345678，别忘了'],
  ['Password: 384756\r\nUsername: a12345678\r\n'],
])('credentials are found in %j', (text) => {
  expect(copiedCredentials(text)).toEqual({ login: 'a12345678', password: '384756' });
});

test.each([
  '忘了密码怎么办，我的账号是a12345678',
  '密码和账号',
  'a12345678',
  '密码',
  '深夜叩门的人',
  '用户名',
  'userxpass1',
  '账号密码1',
  'id: 7',
])('there are no credentials in %j', (text) => {
  expect(copiedCredentials(text)).toBeUndefined();
});

test.each([
  ['', true],
  [' \n\t\u3000', true],
  ['\u200b\u2060\ufeff\u00ad', true],
  ['\u3164\u115f\uffa0\u2800', true],
  ['\u202e\u2066', true],
  ['\ufe0f\u{e0041}', true],
  ['\ufff9\u{1d159}', true],
  ['\u0301\u20dd \u200b', true],
  ['\u0e49', true],
  ['\u{10fffd}\u{1fadd}', false],
  ['e\u0301', false],
  ['\ufffd', false],
  ['。', false],
  ['\u200b好', false],
  ['👩‍👩‍👧', false],
])('%j shows nothing: %s', (text, blank) => {
  expect(isBlank(text)).toBe(blank);
});

test.each([
  ['🇨🇳好', '🇨🇳'],
  ['🇨🇳🇯🇵', '🇨🇳'],
  ['👨‍👩‍👧好', '👨‍👩‍👧'],
  ['👍🏽好', '👍🏽'],
  ['❤️‍🔥好', '❤️‍🔥'],
  ['1️⃣好', '1️⃣'],
  ['🏴󠁧󠁢󠁥󠁮󠁧󠁿好', '🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
  ['e\u0301e', 'e\u0301'],
  ['月色', '月'],
  ['', ''],
])('the first character of %j is %j, and no cut goes through it', (text, first) => {
  expect(firstGrapheme(text)).toBe(first);
  const behind = `月色${text}好好`;
  for (let max = 4; max < 3 + codePoints(first); max += 1) expect(shorten(behind, max)).toBe('月色…');
});
