import { noteServerTime } from '@liaozhai/shared/contract';
import { expect, rs, test } from '@rstest/core';
import { formatEndTime } from './Shell';

test('the end of a preview names its day where that is not today', () => {
  rs.useFakeTimers({ now: new Date(2026, 10, 22, 22, 36), toFake: ['Date'] });
  expect(formatEndTime(new Date(2026, 10, 22, 23, 5))).toBe('23:05');
  expect(formatEndTime(new Date(2026, 10, 25, 22, 36))).toBe('11月25日 22:36');
  // the device's clock is a day ahead
  noteServerTime({ date: new Date(2026, 10, 21, 22, 36).toUTCString() }, Date.now());
  expect(formatEndTime(new Date(2026, 10, 22, 23, 5))).toBe('11月22日 23:05');
  rs.useRealTimers();
});
