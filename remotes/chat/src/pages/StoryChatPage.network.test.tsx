import { api, outboxStore, store } from '@liaozhai/shared/runtime';
import { act, offline, onTestEnd, type RecordedRequest, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { latestDto, messageDto } from '../fixtures';
import { bodyOf, LATEST, openChat, replyLine, SEND, sends, sentDto, userLine, write } from '../testing/chatting';

describe('once the network is back', () => {
  test('a line that never got through is sent automatically', async () => {
    let isUp = false;
    const { user, requests } = openChat({
      [SEND]: (request: RecordedRequest) => {
        if (!isUp) throw offline();
        return sentDto(request);
      },
    });
    await write(user, '谁在门外？');
    await screen.findByRole('button', { name: '点按重试' });
    isUp = true;
    window.dispatchEvent(new Event('online'));
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(sends(requests)).toHaveLength(3);
  });

  test('a message that only lost its connection is sent once more automatically', async () => {
    let isLost = true;
    const { user, requests } = openChat({
      [SEND]: (request: RecordedRequest) => {
        if (!isLost) return sentDto(request);
        isLost = false;
        throw offline();
      },
    });
    await write(user, '谁在门外？');
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(sends(requests)).toHaveLength(2);
    expect(new Set(sends(requests).map((request) => bodyOf(request).client_id)).size).toBe(1);
  });

  test('a message that fails just as the network returns is sent automatically', async () => {
    let isUp = false;
    const { user, requests } = openChat({
      [SEND]: (request: RecordedRequest) => {
        if (isUp) return sentDto(request);
        // the connection is lost at the same moment
        isUp = true;
        window.dispatchEvent(new Event('online'));
        throw offline();
      },
    });
    await write(user, '谁在门外？');
    expect(await screen.findByText('排队中')).toBeTruthy();
    expect(sends(requests)).toHaveLength(2);
  });

  test('a line that timed out is looked for, and still only offered where the server does not have it', async () => {
    let looks = 0;
    const { user, requests } = openChat({
      [LATEST]: () => {
        looks += 1;
        return latestDto([]);
      },
      [SEND]: { status: 408, body: {} },
    });
    await write(user, '谁在门外？');
    await screen.findByRole('button', { name: '点按重试' });
    const before = looks;
    window.dispatchEvent(new Event('online'));
    await waitFor(() => expect(looks).toBeGreaterThan(before));
    await outboxStore.all();
    expect(screen.getByRole('button', { name: '点按重试' })).toBeTruthy();
    expect(sends(requests)).toHaveLength(1);
  });

  test('a line that timed out and had arrived after all stands in the chat', async () => {
    let latest = latestDto([]);
    const { user, requests } = openChat({ [LATEST]: () => latest, [SEND]: { status: 408, body: {} } });
    await write(user, '谁在门外？');
    await screen.findByRole('button', { name: '点按重试' });
    const [request] = sends(requests);
    const arrived = messageDto({ role: 'user', body: '谁在门外？', client_id: request && bodyOf(request).client_id });
    latest = latestDto([arrived]);
    window.dispatchEvent(new Event('online'));
    await waitFor(() => expect(screen.queryByRole('button', { name: '点按重试' })).toBeNull());
    expect(screen.getAllByText('谁在门外？')).toHaveLength(1);
    await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
    expect(sends(requests)).toHaveLength(1);
  });
});

test("the device's copy is shown while the first page times out, and then what has been said since", async () => {
  const { unmount } = openChat({ [LATEST]: latestDto([userLine]) });
  await screen.findByText('谁在门外？');
  unmount();
  store.dispatch(api.util.resetApiState());
  rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestEnd(() => rs.useRealTimers());
  let isSlow = true;
  openChat({ [LATEST]: () => (isSlow ? { status: 408, body: {} } : latestDto([userLine, replyLine])) });
  await act(() => rs.advanceTimersByTimeAsync(1000));
  expect(screen.getByText('谁在门外？')).toBeTruthy();
  isSlow = false;
  await act(() => rs.advanceTimersByTimeAsync(5000));
  expect(screen.getByText(replyLine.body ?? '')).toBeTruthy();
});

describe("on the device's copy, while the first page is on its way", () => {
  const orders = ['POST /v1/messages/continue', 'POST /v1/messages/suggestion'];
  const ordered = (requests: RecordedRequest[]) =>
    requests.filter(({ method, url }) => orders.includes(`${method} ${url}`)).length;
  const openCopy = async () => {
    let come: (answer: unknown) => void = () => {};
    const latest = new Promise((resolve) => {
      come = resolve;
    });
    const { unmount } = openChat({ [LATEST]: latestDto([userLine, replyLine]) });
    await screen.findByText(replyLine.body ?? '');
    unmount();
    store.dispatch(api.util.resetApiState());
    const reply = { ...replyLine, status: 'pending' as const, revision: 2, version: 5 };
    const suggestion = { id: 's1', status: 'ready' as const, items: [{ id: 'i1', text: '我来借火' }] };
    const opened = openChat({
      [LATEST]: () => latest,
      'POST /v1/messages/continue': { status: 202, body: { message: reply, balance: 98 } },
      'POST /v1/messages/suggestion': { status: 202, body: { data: suggestion } },
    });
    return { ...opened, come };
  };

  test.each([/^继续/, /^灵感/])('%s is ordered once the page is there to show it', async (name) => {
    const { user, requests, come } = await openCopy();
    await user.click(await screen.findByRole('button', { name }));
    expect(ordered(requests)).toBe(0);
    come(latestDto([userLine, replyLine]));
    await waitFor(() => expect(ordered(requests)).toBe(1));
  });

  test('灵感 shows its place from the tap on', async () => {
    const { user } = await openCopy();
    await user.click(await screen.findByRole('button', { name: /^灵感/ }));
    expect(await screen.findByText('正在寻找灵感')).toBeTruthy();
  });

  test.each([/^继续/, /^灵感/])('%s costs nothing and says so where the page fails', async (name) => {
    const { user, requests, come } = await openCopy();
    await user.click(await screen.findByRole('button', { name }));
    come({ status: 403, body: {} });
    expect(await screen.findByText('没有权限这样做')).toBeTruthy();
    expect(ordered(requests)).toBe(0);
  });

  test('继续 orders nothing where the reply has gone on elsewhere', async () => {
    const { user, requests, come } = await openCopy();
    await user.click(await screen.findByRole('button', { name: /^继续/ }));
    come(latestDto([userLine, { ...replyLine, body: '天亮了。', revision: 2, version: 5 }]));
    await screen.findByText('天亮了。');
    await waitFor(() =>
      expect(screen.getByRole('button', { name: /^继续/ }).getAttribute('aria-disabled')).toBe('false'),
    );
    expect(ordered(requests)).toBe(0);
  });
});

test.each([
  ['a defect of the server', { status: 500, body: { message: '服务器开小差了，请稍后再试' } }, 1],
  ['too few points', { status: 402, body: { code: 'insufficient_balance', required: 2, balance: 1 } }, 0],
  ['a refusal of its words', { status: 422, body: { errors: { body: ['内容过长'] } } }, 0],
])(
  'a line that fails for %s has a code for support only where there is something to look up',
  async (_, answer, codes) => {
    const { user, requests } = openChat({ [SEND]: answer });
    await write(user, '谁在门外？');
    const alert = await screen.findByRole('alert');
    const shown = [...alert.querySelectorAll('code')].map(({ textContent }) => textContent);
    expect(shown).toEqual(codes ? [sends(requests)[0]?.headers['x-request-id']?.slice(0, 8)] : []);
  },
);

test.each([
  ['is no new chat', () => true, true],
  ['is no new chat either where it is the only one', () => true, false],
  ['is not the beginning', ({ params }: RecordedRequest) => params.before !== undefined, true],
] as const)('a page of messages of which none can be read %s, and 重试 brings it', async (_, isUnread, hasMore) => {
  // without heights, no older page would be fetched
  const height = rs.spyOn(HTMLElement.prototype, 'clientHeight', 'get').mockReturnValue(600);
  onTestEnd(() => height.mockRestore());
  let isBad = true;
  const { user } = openChat({
    [LATEST]: (request: RecordedRequest) => {
      const page = request.params.before === undefined ? [{ ...replyLine, seq: 5 }] : [{ ...userLine, seq: 4 }];
      const rows = isBad && isUnread(request) ? [{ body: '谁' }] : page;
      return latestDto(rows as typeof page, {
        has_more: request.params.before === undefined ? hasMore || !isBad : isBad,
      });
    },
  });
  const retry = await screen.findByRole('button', { name: '重试' });
  expect(screen.queryByText('“公子，可否借一盏灯？”她问。')).toBeNull();
  isBad = false;
  await user.click(retry);
  expect(await screen.findByText(replyLine.body ?? '')).toBeTruthy();
  expect(await screen.findByText(userLine.body ?? '')).toBeTruthy();
});
