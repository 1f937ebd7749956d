import { expect, test } from '@rstest/core';
import type { Capability } from '../contract';
import { act, fakeApi, onTestEnd, renderHook } from '../testing';
import { capabilities, hostConfig, useCapability } from './hostConfig';

const name: Capability = 'stories.search';

function serverThat(answer: () => unknown) {
  onTestEnd(fakeApi({ 'GET /v1/capabilities': answer }).restore);
  return renderHook(() => useCapability(name));
}

test('announced features are shown, and unknown names are ignored', async () => {
  const { result } = serverThat(() => ({ data: [name, 'time.travel', 7] }));
  expect(result.current).toBe(false);
  await act(capabilities.learn);
  expect(result.current).toBe(true);
  expect(localStorage.getItem('liaozhai-capabilities')).toBe(JSON.stringify([name]));
});

test('announced prices replace the site’s', async () => {
  let rules: unknown = { continue_price: 7, story_prices: { long: 9 } };
  serverThat(() => ({ data: [], rules }));
  await act(capabilities.learn);
  expect(hostConfig().rules).toEqual({ continuePrice: 7, storyPrices: { long: 9 } });
  rules = 'free';
  await act(capabilities.learn);
  expect(hostConfig().rules).toEqual({ continuePrice: 7, storyPrices: { long: 9 } });
});

test('a server without the call removes known features', async () => {
  capabilities.set([name]);
  const { result } = serverThat(() => ({ status: 404, body: { code: 'route_missing' } }));
  expect(result.current).toBe(true);
  await act(capabilities.learn);
  expect(result.current).toBe(false);
});

test('a failing server removes no known feature', async () => {
  capabilities.set([name]);
  const { result } = serverThat(() => ({ status: 500, body: {} }));
  await act(capabilities.learn);
  expect(result.current).toBe(true);
});
