import { expect, test } from '@rstest/core';
import { openRemote, renderHook, screen, waitFor } from '../testing';
import { defineRemote, Link, useLeaveGuard } from '.';
import { isLeaveGuarded, mayLeave } from './leaveGuard';

const answers: boolean[] = [];
const ask = async () => answers.shift() ?? false;

function Form() {
  useLeaveGuard(true, ask);
  return <Link to="/else">离开</Link>;
}

const remote = defineRemote({
  name: 'guarded',
  routes: [
    { name: 'form', path: '/form', title: '表单', page: async () => ({ default: Form }) },
    { name: 'else', path: '/else', title: '别处', page: async () => ({ default: () => <p>到了</p> }) },
  ],
});

test('a link away asks first: no keeps the page, yes leaves it', async () => {
  const { user } = openRemote(remote, {});
  answers.push(false, true);
  await user.click(await screen.findByRole('link', { name: '离开' }));
  expect(location.pathname).toBe('/form');
  await user.click(screen.getByRole('link', { name: '离开' }));
  expect(await screen.findByText('到了')).toBeTruthy();
  // an effect removes the guard, possibly after the next page has rendered
  await waitFor(() => expect(isLeaveGuarded()).toBe(false));
});

test('all parts with unsaved work ask until one refuses', async () => {
  const asked: string[] = [];
  const guard = (name: string, answer: boolean) => () => {
    asked.push(name);
    return Promise.resolve(answer);
  };
  renderHook(() => useLeaveGuard(true, guard('a', true)));
  renderHook(() => useLeaveGuard(true, guard('b', false)));
  renderHook(() => useLeaveGuard(true, guard('c', true)));
  expect(await mayLeave()).toBe(false);
  expect(asked).toEqual(['a', 'b']);
});

const isKept = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));

test('unloading is blocked while work is unsaved, and only then', () => {
  const first = renderHook(({ dirty }) => useLeaveGuard(dirty, ask), { initialProps: { dirty: true } });
  const second = renderHook(({ dirty }) => useLeaveGuard(dirty, ask), { initialProps: { dirty: true } });
  expect(isKept()).toBe(true);
  first.rerender({ dirty: false });
  expect(isKept()).toBe(true);
  second.rerender({ dirty: false });
  expect(isKept()).toBe(false);
});
