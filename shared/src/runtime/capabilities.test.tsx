import { expect, test } from '@rstest/core';
import type { Capability } from '../contract';
import { act, fakeApi, onTestEnd, renderHook } from '../testing';
import { capabilities, hostConfig, useCapability } from './hostConfig';

const name: Capability = 'stories.search';

function serverThat(answer: () => unknown) {
  onTestEnd(fakeApi({ 'GET /v1/capabilities': answer }).restore);
  return renderHook(() => useCapability(name));
}

test('what the server announces is shown, and names of a newer server are left out', async () => {
  const { result } = serverThat(() => ({ data: [name, 'time.travel', 7] }));
  expect(result.current).toBe(false);
  await act(capabilities.learn);
  expect(result.current).toBe(true);
  expect(localStorage.getItem('liaozhai-capabilities')).toBe(JSON.stringify([name]));
});

test('its prices take the place of the site’s, a server without keeps those', async () => {
  let rules: unknown = { continue_price: 7, story_prices: { long: 9 } };
  serverThat(() => ({ data: [], rules }));
  await act(capabilities.learn);
  expect(hostConfig().rules).toEqual({ continuePrice: 7, storyPrices: { long: 9 } });
  rules = 'free';
  await act(capabilities.learn);
  expect(hostConfig().rules).toEqual({ continuePrice: 7, storyPrices: { long: 9 } });
});

test('a server that lacks the call takes back what was known', async () => {
  capabilities.set([name]);
  const { result } = serverThat(() => ({ status: 404, body: { code: 'route_missing' } }));
  expect(result.current).toBe(true);
  await act(capabilities.learn);
  expect(result.current).toBe(false);
});

test('a server that fails takes nothing back', async () => {
  capabilities.set([name]);
  const { result } = serverThat(() => ({ status: 500, body: {} }));
  await act(capabilities.learn);
  expect(result.current).toBe(true);
});
