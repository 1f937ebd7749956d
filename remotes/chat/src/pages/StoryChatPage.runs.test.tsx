import type { LatestDto } from '@liaozhai/shared/contract';
import { fireEvent, type Handlers, openRemote, screen, waitFor, within } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { conversationDto, latestDto, messageDto, messageEvent, pageDto } from '../fixtures';
import remote from '../remote';
import { LATEST, openChat, replyLine, SEND, userLine } from '../testing/chatting';

const LIST = 'GET /v1/conversations';
const capabilities = ['conversations.runs'] as const;
const first = conversationDto({ run: 1, shelved: false });
const second = conversationDto({
  id: 'c-2',
  run: 2,
  shelved: true,
  last_message: { id: 'n-2', role: 'assistant', excerpt: '门是关着的。' },
});
const closed = messageDto({ id: 'n-2', conversation_id: 'c-2', seq: 2, body: '门是关着的。' });

const inFirst = latestDto([userLine, replyLine]);
const inNone = latestDto([]);
const inSecond = latestDto([closed], { conversation_id: 'c-2' });

/** Opens a user's first of two runs. `put` receives a function that sets the server's current run. Returns the runs' sheet. */
async function openRuns(
  put: (setPresent: (latest: LatestDto) => void, shelved: boolean) => unknown,
  handlers: Handlers = {},
) {
  let present = inFirst;
  const setPresent = (latest: LatestDto) => {
    present = latest;
  };
  const answer = ({ body }: { body: unknown }) => put(setPresent, (body as { shelved: boolean }).shelved);
  const opened = openChat(
    {
      [LATEST]: () => present,
      [LIST]: pageDto([first, second]),
      [SEND]: () => new Promise(() => {}),
      'PUT /v1/conversations/c-1': answer,
      'PUT /v1/conversations/c-2': answer,
      ...handlers,
    },
    { capabilities },
  );
  await opened.user.click(await screen.findByRole('button', { name: '这段对话的更多操作' }));
  await opened.user.click(await screen.findByRole('button', { name: /几段对话/ }));
  const sheet = within(await screen.findByRole('dialog', { name: '这个故事的几段对话' }));
  return { ...opened, sheet, setPresent };
}

describe('几段对话', () => {
  test('stand side by side; a tap goes on with another', async () => {
    const { user, sheet } = await openRuns((setPresent) => {
      setPresent(inSecond);
      return { data: { ...second, shelved: false } };
    });
    expect((await sheet.findByText('第 1 段')).closest('button')).toBeNull();
    expect(sheet.getByText('正在聊')).toBeTruthy();
    await user.click(sheet.getByRole('button', { name: /第 2 段/ }));
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    expect(await screen.findByText('门是关着的。')).toBeTruthy();
    expect(await screen.findByText('回到第 2 段')).toBeTruthy();
  });

  test('have another beginning, which late words of the run before do not end', async () => {
    const { user, sheet, live } = await openRuns((setPresent) => {
      setPresent(inNone);
      return { data: { ...first, shelved: true } };
    });
    await user.click(sheet.getByRole('button', { name: '另开一段' }));
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    expect(screen.getByText('开篇')).toBeTruthy();
    expect(await screen.findByText('从头开始了，前一段留在「聊过」里')).toBeTruthy();
    live.push('message.completed', messageEvent({ ...replyLine, version: 3 }));
    live.push('message.created', messageEvent(messageDto({ id: 'k-1', conversation_id: 'c-3', body: '又来了' })));
    expect(await screen.findByText('又来了')).toBeTruthy();
    expect(screen.queryByText(replyLine.body ?? '')).toBeNull();
  });

  test('have another beginning, which a late answer to the run before does not end', async () => {
    let answer = (_: object) => {};
    const { user, sheet, requests } = await openRuns(
      (setPresent) => {
        setPresent(inNone);
        return { data: { ...first, shelved: true } };
      },
      { 'POST /v1/messages/continue': () => new Promise((resolve) => (answer = resolve)) },
    );
    fireEvent.click(screen.getByRole('button', { name: /^继续/, hidden: true }));
    await waitFor(() => expect(requests.some(({ url }) => url === '/v1/messages/continue')).toBe(true));
    await user.click(sheet.getByRole('button', { name: '另开一段' }));
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    answer({
      status: 202,
      body: { message: { ...replyLine, version: 3, revision: 2, status: 'pending' }, balance: 98 },
    });
    expect(await screen.findByText('每条 2 点 · 余额 98 点')).toBeTruthy();
    expect(screen.queryByText(replyLine.body ?? '')).toBeNull();
    expect(screen.getByText('开篇')).toBeTruthy();
  });

  test.each([
    ['that is listed', pageDto([first, second])],
    ['before the list has loaded', () => new Promise(() => {})],
  ])('have the run before back by one tap, %s', async (_, list) => {
    const { user, sheet } = await openRuns(
      (setPresent, shelved) => {
        setPresent(shelved ? inNone : inFirst);
        return { data: { ...first, shelved } };
      },
      { [LIST]: list },
    );
    await user.click(sheet.getByRole('button', { name: '另开一段' }));
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    await user.click(await screen.findByRole('button', { name: '回到前一段' }));
    expect(await screen.findByText('谁在门外？')).toBeTruthy();
  });

  test('keep their sheet open until the server has answered, so that no line is said in the wrong one', async () => {
    let answer: (body: unknown) => void = () => {};
    const { user, sheet } = await openRuns((setPresent) => {
      setPresent(inNone);
      return new Promise((resolve) => {
        answer = resolve;
      });
    });
    await user.click(sheet.getByRole('button', { name: '另开一段' }));
    await waitFor(() => expect((sheet.getByRole('button', { name: '关闭' }) as HTMLButtonElement).disabled).toBe(true));
    await user.keyboard('{Escape}');
    expect(screen.getByRole('dialog', { name: '这个故事的几段对话' })).toBeTruthy();
    answer({ data: { ...first, shelved: true } });
    await waitFor(() => expect(screen.queryByRole('dialog', { name: '这个故事的几段对话' })).toBeNull());
  });

  test('do not change back while a line of the new one is being sent', async () => {
    const { user, sheet, requests } = await openRuns((setPresent, shelved) => {
      setPresent(shelved ? inNone : inFirst);
      return { data: { ...first, shelved } };
    });
    await user.click(sheet.getByRole('button', { name: '另开一段' }));
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    await user.type(screen.getByRole('textbox'), '我又来了{Enter}');
    await screen.findByText('我又来了');
    await user.click(await screen.findByRole('button', { name: '回到前一段' }));
    expect(await screen.findByText('还有话没发出，等发出了再换一段。')).toBeTruthy();
    expect(requests.filter(({ method }) => method === 'PUT').map(({ body }) => body)).toEqual([{ shelved: true }]);
  });

  test('stay where they are when the server refuses, and say so', async () => {
    const { user, sheet } = await openRuns(() => ({ status: 503, body: { message: '服务正在重新启动，请稍候再试' } }));
    await user.click(sheet.getByRole('button', { name: '另开一段' }));
    expect(await screen.findByText('服务正在重新启动，请稍候再试')).toBeTruthy();
    expect(screen.getByText('谁在门外？')).toBeTruthy();
  });

  test('follow another device', async () => {
    const { live, setPresent } = await openRuns(() => ({}));
    setPresent(inSecond);
    live.push('conversation.updated', { conversation: { ...first, shelved: true } });
    live.push('conversation.updated', { conversation: { ...second, shelved: false } });
    await waitFor(() => expect(screen.queryByText('谁在门外？')).toBeNull());
    expect(await screen.findAllByText('门是关着的。')).toBeTruthy();
  });

  test('are not offered where the server has one for each story', async () => {
    const { user } = openChat({ [LATEST]: inFirst }, { capabilities: ['messages.search'] });
    await user.click(await screen.findByRole('button', { name: '这段对话的更多操作' }));
    await screen.findByRole('button', { name: '查找' });
    expect(screen.queryByRole('button', { name: /几段对话/ })).toBeNull();
  });
});

test('聊过 lists each run under its number, and two quick taps go on with it once', async () => {
  let answer: (body: unknown) => void = () => {};
  const answered = new Promise((resolve) => {
    answer = resolve;
  });
  const { user, requests } = openRemote(
    remote,
    {
      [LIST]: pageDto([first, second]),
      'PUT /v1/conversations/c-2': () => answered,
    },
    { path: '/conversations', user: { id: 'u-1' }, capabilities: [...capabilities] },
  );
  expect(await screen.findByRole('link', { name: /第 1 段/ })).toBeTruthy();
  await user.dblClick(await screen.findByRole('link', { name: /第 2 段/ }));
  answer({ data: { ...second, shelved: false } });
  await waitFor(() => expect(location.pathname + location.search).toBe('/story/s-1?chat=1'));
  expect(requests.filter(({ method }) => method === 'PUT').map(({ body }) => body)).toEqual([{ shelved: false }]);
});
