import { describe, expect, rs, test } from '@rstest/core';
import { act, render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { onTestEnd } from '../testing';
import { EmptyState, type Query, QueryView } from './QueryView';

const noRefetch = () => undefined;

const view = (query: Partial<Query<string[]>>) => (
  <QueryView
    query={{ refetch: noRefetch, ...query }}
    isEmpty={(list) => list.length === 0}
    empty={<EmptyState text="还没有聊过" action={<button type="button">去发现</button>} />}
  >
    {(list) => <p>{list.join('、')}</p>}
  </QueryView>
);

test('without data a loading state shows', () => {
  render(view({ isFetching: true }));
  expect(screen.getByRole('status').textContent).toContain('正在加载');
});

test('a failure shows in place with a retry', async () => {
  let retries = 0;
  render(view({ error: { kind: 'offline' }, refetch: () => (retries += 1) }));
  expect(screen.getByRole('alert').textContent).toContain('连不上服务');
  await userEvent.click(screen.getByRole('button', { name: '重试' }));
  expect(retries).toBe(1);
});

test('a server failure shows a code for the logs, and a press copies the complete id', async () => {
  const user = userEvent.setup();
  const requestId = '3f9c1a7b-0000-4000-8000-000000000000';
  const { rerender } = render(view({ error: { kind: 'server', status: 500, requestId } }));
  expect(screen.getByRole('alert').textContent).toContain('问题编号 3f9c1a7b');
  await user.click(screen.getByRole('button', { name: '复制' }));
  expect(await navigator.clipboard.readText()).toBe(requestId);
  expect(await screen.findByRole('button', { name: '已复制' })).toBeTruthy();
  rerender(view({ error: { kind: 'tooOften', retryAfterSeconds: 9 } }));
  expect(screen.queryByText(/问题编号/)).toBeNull();
});

test.each([
  ['of the whole list', {}],
  ['behind a copy', { data: ['画皮'] }],
])('a failure %s is retried when the network is back', (_where, known) => {
  let retries = 0;
  const { rerender } = render(view({ ...known, error: { kind: 'offline' }, refetch: () => (retries += 1) }));
  window.dispatchEvent(new Event('online'));
  expect(retries).toBe(1);
  rerender(view({ data: ['画皮'], refetch: () => (retries += 1) }));
  window.dispatchEvent(new Event('online'));
  expect(retries).toBe(1);
});

test('an empty list is not shown as empty after a failed refresh', () => {
  render(view({ data: [], error: { kind: 'offline' } }));
  expect(screen.getByRole('alert').textContent).toContain('连不上服务');
  expect(screen.queryByText('还没有聊过')).toBeNull();
});

test('a first failure fills the screen with a drawing, a failed refresh is only a row', () => {
  const { container, rerender } = render(view({ error: { kind: 'offline' } }));
  expect(container.querySelector('svg')).not.toBeNull();
  rerender(view({ data: ['画皮'], error: { kind: 'offline' } }));
  expect(container.querySelector('svg')).toBeNull();
});

test('a running retry looks like loading', () => {
  render(view({ error: { kind: 'offline' }, isFetching: true }));
  expect(screen.queryByRole('alert')).toBeNull();
  expect(screen.getByRole('status')).toBeTruthy();
});

test('an empty list suggests an action', () => {
  render(view({ data: [] }));
  expect(screen.getByText('还没有聊过')).toBeTruthy();
  expect(screen.getByRole('button', { name: '去发现' })).toBeTruthy();
});

test('data shows, also during a refresh', () => {
  render(view({ data: ['画皮', '促织'], isFetching: true }));
  expect(screen.getByText('画皮、促织')).toBeTruthy();
});

test('a failed refresh keeps the data and shows the failure', () => {
  render(view({ data: ['画皮'], error: { kind: 'timeout' } }));
  expect(screen.getByText('画皮')).toBeTruthy();
  expect(screen.getByRole('alert').textContent).toContain('等得太久了');
});

test('data of the former argument does not show for the new one', () => {
  render(view({ data: ['画皮'], currentData: undefined, isFetching: true }));
  expect(screen.queryByText('画皮')).toBeNull();
});

test('an error can have its own page', () => {
  render(
    <QueryView
      query={{ error: { kind: 'notFound' }, refetch: noRefetch }}
      renderError={() => <p>这个故事不在这里了</p>}
    >
      {() => null}
    </QueryView>,
  );
  expect(screen.getByText('这个故事不在这里了')).toBeTruthy();
});

describe('a temporary failure', () => {
  const failing = (kind: string) => {
    let retries = 0;
    const query = { error: { kind }, refetch: () => (retries += 1) };
    const { rerender } = render(view(query));
    const answer = (error?: { kind: string }) => {
      rerender(view({ ...query, isFetching: true }));
      rerender(view(error ? { ...query, error } : { data: ['画皮'], refetch: query.refetch }));
    };
    return { retries: () => retries, answer };
  };

  test('is retried with growing pauses until it succeeds', async () => {
    rs.useFakeTimers();
    onTestEnd(() => rs.useRealTimers());
    const { retries, answer } = failing('server');
    const seen: number[] = [];
    for (const seconds of [3, 4, 2, 12, 24, 60]) {
      const before = retries();
      await act(() => rs.advanceTimersByTimeAsync(seconds * 1000));
      if (retries() > before) answer({ kind: 'tooOften' });
      seen.push(retries());
    }
    expect(seen).toEqual([1, 1, 2, 3, 4, 5]);
    answer();
    await act(() => rs.advanceTimersByTimeAsync(600_000));
    expect(retries()).toBe(5);
    expect(screen.getByText('画皮')).toBeTruthy();
  });

  test('is not retried in a hidden page', async () => {
    rs.useFakeTimers();
    onTestEnd(() => rs.useRealTimers());
    const sight = rs.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden');
    onTestEnd(() => sight.mockRestore());
    const { retries } = failing('server');
    await act(() => rs.advanceTimersByTimeAsync(600_000));
    expect(retries()).toBe(0);
    sight.mockReturnValue('visible');
    document.dispatchEvent(new Event('visibilitychange'));
    expect(retries()).toBe(1);
  });

  test('is distinct from a permanent refusal, which is not retried', async () => {
    rs.useFakeTimers();
    onTestEnd(() => rs.useRealTimers());
    const { retries } = failing('forbidden');
    await act(() => rs.advanceTimersByTimeAsync(600_000));
    expect(retries()).toBe(0);
  });
});
