import { afterEach, beforeEach, expect, rs, test } from '@rstest/core';
import { act, memberDto, renderHook } from '../testing';
import { Provider, session, store } from '.';
import { toast, useToasts } from './toasts';

beforeEach(() => {
  rs.useFakeTimers();
});
afterEach(() => {
  rs.useRealTimers();
});

const open = () => renderHook(useToasts, { wrapper: ({ children }) => <Provider store={store}>{children}</Provider> });
const after = (milliseconds: number) => act(() => void rs.advanceTimersByTime(milliseconds));

test('are seen for 3 s, one at a time; the others wait their turn', () => {
  const { result } = open();
  act(() => {
    for (const text of ['一', '二']) toast(text);
  });
  const texts = () => result.current.map(({ text }) => text);
  expect(texts()).toEqual(['一']);
  after(3000);
  expect(texts()).toEqual(['二']);
  after(2999);
  expect(texts()).toEqual(['二']);
  after(1);
  expect(texts()).toEqual([]);
});

test('one whose offer ends shows ahead of the others', () => {
  const { result } = open();
  const undo = { label: '撤销', run: () => {} };
  act(() => {
    for (const text of ['一', '二']) toast(text, { durationMs: 8000 });
    toast('已删除', { action: undo, isFirst: true });
  });
  expect(result.current.map(({ text }) => text)).toEqual(['已删除']);
  after(6000);
  expect(result.current.map(({ text }) => text)).toEqual(['一']);
});

test('the same thing is not said twice at once, but again', () => {
  const { result } = open();
  act(() => void toast('已复制', { kind: 'success' }));
  after(2000);
  act(() => void toast('已复制', { kind: 'success' }));
  after(2000);
  expect(result.current.map(({ text }) => text)).toEqual(['已复制']);
});

test('an action runs once and takes its toast away', () => {
  const { result } = open();
  let undone = 0;
  const run = () => {
    undone += 1;
  };
  act(() => void toast('已删除', { action: { label: '撤销', run }, durationMs: 6000 }));
  act(() => result.current[0]?.action?.run());
  expect(undone).toBe(1);
  expect(result.current).toEqual([]);
});

test('can be taken back by whoever raised it', () => {
  const { result } = open();
  let takeBack = () => {};
  act(() => {
    takeBack = toast('正在连接');
  });
  act(() => takeBack());
  expect(result.current).toEqual([]);
});

test('what is said to one user is gone when another signs in; the rest stays', () => {
  const { result } = open();
  act(() => session.userReceived(memberDto()));
  act(() => {
    toast('这个账号将于明天注销', { action: { label: '撤销', run: () => {} }, isPersonal: true });
    toast('已复制');
  });
  act(() => session.userReceived({ ...memberDto(), balance: 1 }));
  expect(result.current).toHaveLength(1);
  act(() => session.userReceived({ ...memberDto(), id: 'another' }));
  expect(result.current.map(({ text }) => text)).toEqual(['已复制']);
});
