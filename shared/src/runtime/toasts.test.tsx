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

test('toasts show for 3 s, one at a time', () => {
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

test('a toast with an undo action shows first', () => {
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

test('a text is not queued twice, but can show again later', () => {
  const { result } = open();
  act(() => void toast('已复制', { kind: 'success' }));
  after(2000);
  act(() => void toast('已复制', { kind: 'success' }));
  after(2000);
  expect(result.current.map(({ text }) => text)).toEqual(['已复制']);
});

test('an action runs once and removes its toast', () => {
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

test('a toast can be removed by its caller', () => {
  const { result } = open();
  let takeBack = () => {};
  act(() => {
    takeBack = toast('正在连接');
  });
  act(() => takeBack());
  expect(result.current).toEqual([]);
});

test('personal toasts disappear when another user signs in; others remain', () => {
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
