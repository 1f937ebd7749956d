import { expect, test } from '@rstest/core';
import { wrongSettings } from './env.ts';

const needed = { DATA_DIR: '.data' };

for (const [name, value] of [
  ['BACKEND_URL', 'localhost:8000'],
  ['BACKEND_URL', 'http://127.0.0.1:8000/api'],
  ['BACKEND_URL', 'http://127.0.0.1:8000/?debug'],
  ['BACKEND_URL', 'http://me:secret@127.0.0.1:8000'],
  ['REVERB_URL', 'ws://127.0.0.1:8080'],
  ['REVERB_URL', 'http://127.0.0.1:8080/app'],
  ['REVERB_URL', 'http://me:secret@127.0.0.1:8080'],
  ['REVERB_URL', '127.0.0.1:8080'],
  ['REVERB_APP_KEY', 'key/../x'],
  ['SECURITY_CONTACT', 'security@app.example'],
  ['SENTRY_DSN', 'https://sentry.example/42'],
  ['SENTRY_DSN', 'https://key@sentry.example'],
  ['SENTRY_DSN', 'https://key@sentry.example/42?environment=x'],
  ['SENTRY_DSN', 'ftp://key@sentry.example/42'],
  ['SENTRY_DSN', ''],
  ['SECURITY_EXPIRES', '2027-06-30'],
  ...['', ' ', '0x10', '1e3', '+8', '8 s', '1.5', 'NaN', '-1'].flatMap((value) =>
    (['PORT', 'DRAIN_SECONDS', 'METRICS_PORT', 'BACKEND_METRICS_PORT'] as const).map((name) => [name, value] as const),
  ),
  ['VITALS_SAMPLE', ' '],
  ['VITALS_SAMPLE', '0x1'],
  ['VITALS_SAMPLE', '.5'],
] as const)
  test(`${name}=${value} is refused in one line with the expected form`, () => {
    expect(wrongSettings({ ...needed, [name]: value })).toEqual([
      expect.stringMatching(new RegExp(`^${name}=".*must be .*Correct or unset it\\.$`)),
    ]);
  });

test('blanks around a number are not part of it', () => {
  expect(wrongSettings({ ...needed, PORT: ' 3000 ', VITALS_SAMPLE: '0.05\n' })).toEqual([]);
});

test('the required settings are sufficient', () => {
  expect(wrongSettings(needed)).toEqual([]);
});
