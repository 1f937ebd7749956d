import { expect, test } from '@rstest/core';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { onTestEnd } from '../testing';
import { InfiniteList, scrollerOf } from './InfiniteList';

const nothing = () => undefined;

test('the foot shows loading, a failure with a retry, or the end', async () => {
  let asked = 0;
  const { rerender } = render(
    <InfiniteList hasMore loading onMore={nothing}>
      画皮
    </InfiniteList>,
  );
  expect(screen.getByRole('img', { name: '正在加载更多' })).toBeTruthy();
  rerender(
    <InfiniteList hasMore loading={false} error={{ kind: 'timeout' }} onMore={() => (asked += 1)}>
      画皮
    </InfiniteList>,
  );
  await userEvent.click(screen.getByRole('button', { name: '重试' }));
  expect(asked).toBe(1);
  rerender(
    <InfiniteList hasMore={false} loading={false} onMore={nothing}>
      画皮
    </InfiniteList>,
  );
  expect(screen.getByText('到底了')).toBeTruthy();
  expect(screen.queryByRole('alert')).toBeNull();
});

test('observes its end again after a page without a loading render', () => {
  const observed: Element[] = [];
  class CountingIntersection {
    observe = (element: Element) => void observed.push(element);
    disconnect = nothing;
  }
  const former = globalThis.IntersectionObserver;
  globalThis.IntersectionObserver = CountingIntersection as never;
  onTestEnd(() => {
    globalThis.IntersectionObserver = former;
  });
  const list = (pages: string) => (
    <InfiniteList hasMore loading={false} onMore={nothing}>
      {pages}
    </InfiniteList>
  );
  const { rerender } = render(list('画皮'));
  rerender(list('画皮、促织'));
  expect(observed.length).toBe(2);
});

test('the scrolling box is the nearest one that scrolls, else the window', () => {
  render(
    <div data-testid="box" style={{ overflowY: 'auto' }}>
      <div>
        <p>里面</p>
      </div>
    </div>,
  );
  expect(scrollerOf(screen.getByText('里面'))).toBe(screen.getByTestId('box'));
  expect(scrollerOf(screen.getByTestId('box'))).toBeNull();
});
