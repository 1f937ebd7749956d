import { outboxStore, session } from '@liaozhai/shared/runtime';
import { memberDto, offline, onTestEnd, type RecordedRequest, screen, waitFor } from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { bodyOf, openChat, SEND, sends, sentDto, write } from '../testing/chatting';

const firstLine = '谁在门外？';
const secondLine = '后来呢？';
const said = (requests: RecordedRequest[]) => sends(requests).map((request) => bodyOf(request).body);

describe('a line that another tab withdraws during its request', () => {
  /** The request of the first line ends when the test says so. */
  async function withdrawDuringRequest() {
    let end = (_: { response?: object; failure?: unknown }) => {};
    const ending = new Promise<unknown>((resolve, reject) => {
      end = ({ response, failure }) => (failure ? reject(failure) : resolve(response));
    });
    const opened = openChat({
      [SEND]: (request: RecordedRequest) => (bodyOf(request).body === firstLine ? ending : sentDto(request)),
    });
    await write(opened.user, firstLine);
    await waitFor(() => expect(said(opened.requests)).toEqual([firstLine]));
    for (const { clientId } of await outboxStore.all()) await outboxStore.remove(clientId);
    await write(opened.user, secondLine);
    return { ...opened, end };
  }

  test('is not sent again after its connection was lost', async () => {
    const { requests, end } = await withdrawDuringRequest();
    end({ failure: offline() });
    await waitFor(() => expect(said(requests)).toHaveLength(2));
    expect(said(requests)).toEqual([firstLine, secondLine]);
    expect(await screen.findByText('每条 2 点 · 余额 98 点')).toBeTruthy();
  });

  test.each([403, 422, 500])('does not come back as a failed one after refusal %i', async (status) => {
    const { requests, end } = await withdrawDuringRequest();
    end({ response: { status, body: {} } });
    await waitFor(() => expect(said(requests)).toEqual([firstLine, secondLine]));
    await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
    expect(screen.queryByText(firstLine)).toBeNull();
    expect(screen.queryByRole('alert')).toBeNull();
  });
});

test('a line cannot be withdrawn while another tab sends it, but once that tab was killed without a network', async () => {
  let kill = () => {};
  const killed = new Promise<void>((resolve) => {
    kill = resolve;
  });
  const request = async (_name: string, _options: LockOptions, work: () => unknown) => killed.then(work);
  Object.defineProperty(navigator, 'locks', { configurable: true, value: { request } });
  onTestEnd(() => Reflect.deleteProperty(navigator, 'locks'));
  session.userReceived(memberDto());
  const line = { storyId: 's-1', conversationId: null, clientId: 'client-1', body: firstLine };
  await outboxStore.put({ ...line, createdAt: 1, state: 'sending' });
  const { user, requests } = openChat();
  expect(await screen.findByText('发送中')).toBeTruthy();
  await user.click(await screen.findByRole('button', { name: /^我的消息，更多操作/ }));
  expect(await screen.findByRole('button', { name: '复制' })).toBeTruthy();
  for (const name of ['删除这条', '放回输入框']) expect(screen.queryByRole('button', { name })).toBeNull();
  const network = rs.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
  onTestEnd(() => network.mockRestore());
  window.dispatchEvent(new Event('offline'));
  kill();
  await user.click(await screen.findByRole('button', { name: '删除这条' }));
  await waitFor(async () => expect(await outboxStore.all()).toEqual([]));
  expect(sends(requests)).toEqual([]);
});
