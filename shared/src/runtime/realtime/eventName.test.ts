import { expect, test } from '@rstest/core';
import { toEventName } from './realtime';

test('an event has one name for all ways of broadcasting', () => {
  expect(toEventName('.message.created')).toBe('message.created');
  expect(toEventName('MessageCreated')).toBe('message.created');
  expect(toEventName('App\\Events\\MessageCreated')).toBe('message.created');
  expect(toEventName('.App\\Events\\MessageCreated')).toBe('message.created');
});
