import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, test } from '@rstest/core';

test.each([
  // an empty host would be every address of the machine
  ['CONSOLE_HOST', ''],
  ['CONSOLE_PORT', ' '],
  ['CONSOLE_PORT', '0x10'],
  ['CONSOLE_ORIGIN', ''],
  ['CONSOLE_ORIGIN', 'console.example'],
  ['CONSOLE_ORIGIN', 'https://console.example/path'],
  ['CONSOLE_SESSION_HOURS', 'NaN'],
  ['METRICS_PORT', ''],
  ['RELEASES_CHANNEL', ''],
  ['RELEASES_STORE', ''],
  ['RELEASES_SITE', ' '],
  ['RELEASES_CHANNEL', 'a b'],
  ['RELEASES_SMOKE', ''],
])('%s=%j ends the start with the setting’s name, and status 2', async (name, value) => {
  const env = { ...process.env, RELEASES_STORE: 'file:/dev/null', [name]: value };
  const child = spawn(process.execPath, ['host/server/run.mjs', 'releases/console/server/main.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [lines, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect([status, lines]).toEqual([2, expect.stringMatching(new RegExp(`^${name}: .*\\nCorrect these`))]);
});
