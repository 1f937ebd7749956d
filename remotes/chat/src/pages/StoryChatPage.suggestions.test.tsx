import { offlineCache, store } from '@liaozhai/shared/runtime';
import { onTestEnd, type RecordedRequest, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { latestDto } from '../fixtures';
import { asked, LATEST, openChat, told } from './chatting';

const pending = { id: 'i-1', conversation_id: 'c-1', status: 'pending', items: [] };

/** The page as a site serves it that takes 5 points for suggestions. */
function priceIdeas() {
  const config = document.createElement('script');
  config.type = 'application/json';
  config.id = 'liaozhai-config';
  config.textContent = JSON.stringify({ rules: { suggestionPrice: 5 } });
  document.body.append(config);
  onTestEnd(() => config.remove());
}

test('ideas take their price at once, and give it back where none came', async () => {
  priceIdeas();
  let isOver = false;
  const { user } = openChat({
    [LATEST]: latestDto([asked, told]),
    'POST /v1/messages/suggestion': { status: 202, body: { data: pending } },
    'GET /v1/messages/suggestion/i-1': () => ({ data: { ...pending, status: isOver ? 'failed' : 'pending' } }),
  });
  await user.click(await screen.findByRole('button', { name: /灵感/ }));
  expect(await screen.findByText('每条 2 点 · 余额 95 点')).toBeTruthy();
  isOver = true;
  expect(await screen.findByText('每条 2 点 · 余额 100 点')).toBeTruthy();
});

describe('ideas are paid for once', () => {
  const ASK = 'POST /v1/messages/suggestion';
  const READ = 'GET /v1/messages/suggestion/i-1';
  const ready = { ...pending, status: 'ready', items: [{ id: 'i-1-1', text: '请她进来' }] };
  const handlers = { [LATEST]: latestDto([asked, told]), [ASK]: { status: 202, body: { data: pending } } };
  const chip = () => screen.findByRole('button', { name: /灵感/ });
  const keys = (requests: RecordedRequest[]) =>
    requests.filter(({ method, url }) => `${method} ${url}` === ASK).map(({ headers }) => headers['idempotency-key']);
  /** What another tab keeps on the device of suggestions for the last line. */
  const otherTabKeeps = (suggestions: object) =>
    offlineCache.write('chat.ideas.1.s-1', { baseKey: 'm-2:2', clientId: '', items: [], ...suggestions });

  test('though they take longer than one waits, and are asked for again', async () => {
    rs.useFakeTimers({ toFake: ['Date'] });
    onTestEnd(() => rs.useRealTimers());
    let isReady = false;
    const { user, requests } = openChat({ ...handlers, [READ]: () => ({ data: isReady ? ready : pending }) });
    await user.click(await chip());
    await screen.findByText('正在寻找灵感');
    await waitFor(() => expect(requests.some(({ url }) => url === '/v1/messages/suggestion/i-1')).toBe(true));
    rs.setSystemTime(Date.now() + 61_000);
    await waitFor(() => expect(store.getState().toasts.map(({ text }) => text)).toContain('灵感没有来，请再试一次'));
    isReady = true;
    await user.click(await chip());
    expect(await screen.findByRole('button', { name: '填入：请她进来' })).toBeTruthy();
    const [first, second, ...others] = keys(requests);
    expect(second).toBe(first);
    expect(others).toEqual([]);
  });

  test('though another tab has bought them since', async () => {
    const { user, requests } = openChat(handlers);
    await chip();
    await otherTabKeeps({ status: 'ready', items: ready.items });
    await user.click(await chip());
    expect(await screen.findByRole('button', { name: '填入：请她进来' })).toBeTruthy();
    expect(keys(requests)).toEqual([]);
  });

  test('though another tab still waits for them', async () => {
    const { user, requests } = openChat({ ...handlers, [READ]: { data: ready } });
    await chip();
    await otherTabKeeps({ status: 'pending', clientId: 'client-of-the-other' });
    await user.click(await chip());
    expect(await screen.findByRole('button', { name: '填入：请她进来' })).toBeTruthy();
    expect(keys(requests)).toEqual(['client-of-the-other']);
  });
});
