import { expect, onTestFinished, test } from '@rstest/core';
import { RateLimit } from './RateLimit.ts';

test('a key has so many attempts a minute, and learns the seconds until the next', () => {
  const at = { now: 0 };
  const limit = new RateLimit({ now: () => at.now });
  expect([limit.take('a', 2), limit.take('a', 2), limit.take('b', 2)]).toEqual([0, 0, 0]);
  at.now = 20_000;
  expect(limit.take('a', 2)).toBe(40);
  at.now = 60_001;
  expect(limit.take('a', 2)).toBe(0);
});

test.each([-3_600_000, -1, 1, 3_600_000])('a device clock that jumps by %d ms changes no wait', (jump) => {
  const clock = Date.now;
  onTestFinished(() => {
    Date.now = clock;
  });
  const limit = new RateLimit();
  limit.take('a', 1);
  Date.now = () => clock() + jump;
  const wait = limit.take('a', 1);
  expect(wait).toBeGreaterThan(50);
  expect(wait).toBeLessThanOrEqual(60);
});

test('any number of keys fills no memory, and the most recently used stay', () => {
  const limit = new RateLimit({ mostKeys: 3 });
  for (const key of ['a', 'b', 'c']) limit.take(key, 1);
  limit.take('a', 1);
  limit.take('d', 1);
  expect([limit.take('a', 1) > 0, limit.take('b', 1)]).toEqual([true, 0]);
});
