import { afterEach, expect, rs, test } from '@rstest/core';
import { PAGE_ELEMENTS } from '../contract';

const EXTENSION = '__REDUX_DEVTOOLS_EXTENSION_COMPOSE__';

afterEach(() => {
  Reflect.deleteProperty(globalThis, EXTENSION);
  document.body.replaceChildren();
});

/** Whether a page with these settings shows its store to Redux DevTools. */
async function offersItself(config: string): Promise<boolean> {
  const offered = rs.fn(() => (create: unknown) => create);
  Reflect.set(globalThis, EXTENSION, offered);
  const element = Object.assign(document.createElement('script'), { type: 'application/json', textContent: config });
  element.id = PAGE_ELEMENTS.config;
  document.body.append(element);
  rs.resetModules();
  await import('./store');
  return offered.mock.calls.length > 0;
}

test.each([
  ['{"devTools":true}', true],
  ['{"devTools":false}', false],
  ['{"devTools":"yes"}', false],
  ['{}', false],
  ['', false],
])('Redux DevTools get the store only where the site says so: %s', async (config, isOffered) => {
  expect(await offersItself(config)).toBe(isOffered);
});
