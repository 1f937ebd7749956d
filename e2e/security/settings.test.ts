import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@rstest/core';
import { forgetSettings } from '../settings.mjs';

const root = join(import.meta.dirname, '../..');

/** Names of the settings in a file's schema. */
const settingsIn = (file: string) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(/^ +([A-Z][A-Z0-9_]+): /gm)].map(([, name = '']) => name);

test.each([
  'host/server/env.ts',
  'backend/src/env.ts',
  'shared/telemetry/src/metrics.ts',
  'releases/console/server/main.ts',
])('no setting of %s that a shell has exported reaches a test', (file) => {
  const names = settingsIn(file);
  expect(names.length).toBeGreaterThan(2);
  const environment = Object.fromEntries([...names, 'NODE_ENV'].map((name) => [name, 'x']));
  forgetSettings(environment);
  expect(environment).toEqual({});
});

test('what tests find and distinguish elements by stays', () => {
  const environment = {
    PATH: 'x',
    HOME: 'x',
    HOSTNAME: 'x',
    CI: 'x',
    CHROMIUM_PATH: 'x',
    E2E_PORT: 'x',
    NODE_OPTIONS: 'x',
  };
  const before = { ...environment };
  forgetSettings(environment);
  expect(environment).toEqual(before);
});
