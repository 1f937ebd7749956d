import { describe, expect, test } from '@rstest/core';
import { ConfigError, readEnv } from './env.ts';

const mail = { MAIL_URL: 'smtp://mail.example' };

describe('a wrong setting', () => {
  test.each([
    ...[' ', '0x10', '1e3', '+8', 'NaN', '-1'].map((value) => ['DRAIN_SECONDS', value]),
    ['STORYTELLER_FAIL_RATE', ' '],
    ['AI_BASE_URL', ' '],
    ['AI_BASE_URL', 'model.example'],
    ...[
      'app.example',
      'https://a.example,wss://b.example',
      'https://me@a.example',
      'https://a.example?x',
      'https://a/x',
    ].map((value) => ['APP_ORIGIN', value]),
    ...['x', 'X <a@b.example', '<a@b.example> x'].map((value) => ['MAIL_FROM', value]),
  ])('%s=%s is refused by its name', (name = '', value = '') => {
    const read = () => readEnv({ ...mail, MAIL_FROM: 'a@b.example', [name]: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(new RegExp(`^${name}[.\\d]*: `));
  });
});

test.each([
  ['APP_ORIGIN', ' https://App.example/ , http://[::1]:3000,', ['https://app.example', 'http://[::1]:3000']],
  ['APP_ORIGIN', ' ', []],
  ['DRAIN_SECONDS', ' 8 ', 8],
  ['DRAIN_SECONDS', '', 8],
  ['MAIL_FROM', 'Liaozhai <a@b.example>', 'Liaozhai <a@b.example>'],
] as const)('%s=%j is read as %j', (name, value, expected) => {
  expect(readEnv({ ...mail, MAIL_FROM: 'a@b.example', [name]: value })[name]).toEqual(expected);
});
