import { drafts, problemNoted, store } from '@liaozhai/shared/runtime';
import {
  act,
  type Handlers,
  offline,
  onTestEnd,
  openRemote,
  type RecordedRequest,
  screen,
  waitFor,
  within,
} from '@liaozhai/shared/testing';
import { describe, expect, rs, test } from '@rstest/core';
import { ticketDto, userDto } from '../fixtures';
import remote from '../remote';
import { texts } from '../texts';

const me = { 'GET /v1/user': { data: userDto() } };
const signedIn = { path: '/my/support', user: userDto() };
const open = () => openRemote(remote, me, signedIn);

test('a question opens to its answer', async () => {
  const { user } = open();
  const question = await screen.findByText('怎样修改密码？');
  await user.click(question);
  expect(question.closest('details')?.open).toBe(true);
});

test('without a configured contact the page says so', async () => {
  open();
  expect(await screen.findByText(texts.support.noContact)).toBeTruthy();
});

test('the diagnostics are folded, name the account and what failed last, and can be copied whole', async () => {
  for (const id of ['problem-1', 'problem-2', 'problem-1']) problemNoted(id);
  const { user } = open();
  const details = await screen.findByText(texts.support.details);
  expect(details.closest('details')?.open).toBe(false);
  await user.click(details);
  await user.click(screen.getByRole('button', { name: texts.support.copyDiagnostics }));
  const copied = await navigator.clipboard.readText();
  expect(copied).toContain(`${texts.support.userId}：u-1`);
  expect(copied).toContain(`${texts.support.problems}：problem-1、problem-2`);
  expect(copied).toContain(`${texts.support.browser}：${navigator.userAgent}`);
});

describe('where the server keeps tickets', () => {
  const pageOf = (...data: unknown[]) => ({ data, meta: { next_cursor: null } });
  const openTickets = (handlers: Handlers = {}) =>
    openRemote(
      remote,
      { ...me, 'GET /v1/support/tickets': pageOf(), ...handlers },
      { ...signedIn, capabilities: ['support.tickets'] },
    );
  const sentOf = (requests: RecordedRequest[]) =>
    requests.flatMap(({ method, body }) => (method === 'POST' ? [body as Record<string, string>] : []));
  const told = () => store.getState().toasts.map(({ text }) => text);
  const words = () => screen.findByRole('textbox', { name: '说说遇到了什么' });

  test('a ticket goes with its kind, its words and the diagnostics, and stands in the list', async () => {
    const { user, requests } = openTickets({ 'POST /v1/support/tickets': { data: ticketDto() } });
    await user.type(await words(), '充值没有到账');
    await user.type(screen.getByRole('textbox', { name: '联系方式（选填）' }), 'ning@example.org');
    await user.click(screen.getByRole('button', { name: '发送' }));
    const mine = await screen.findByRole('region', { name: '我的反馈' });
    expect(within(mine).getByText('待回复')).toBeTruthy();
    expect(told()).toEqual(['已收到，回复会出现在「我的反馈」']);
    const [sent] = sentOf(requests);
    expect(sent).toMatchObject({ kind: 'points', body: '充值没有到账', contact: 'ning@example.org' });
    expect(sent?.diagnostics).toContain(`${texts.support.userId}：u-1`);
    expect(((await words()) as HTMLTextAreaElement).value).toBe('');
  });

  test.each([{ status: 201 }, { status: 204 }, {}, { message: '已收到' }])(
    'a ticket that is only confirmed is sent, and fetched: %j',
    async (confirmation) => {
      let kept: object[] = [];
      const { user, requests } = openTickets({
        'GET /v1/support/tickets': () => pageOf(...kept),
        'POST /v1/support/tickets': () => {
          kept = [ticketDto({ body: '六十点没有到账' })];
          return confirmation;
        },
      });
      await user.type(await words(), '六十点没有到账');
      await user.click(screen.getByRole('button', { name: '发送' }));
      expect((await screen.findAllByText('六十点没有到账', { selector: 'details *' })).length).toBeGreaterThan(0);
      expect(told()).toEqual(['已收到，回复会出现在「我的反馈」']);
      expect((await words()).textContent).toBe('');
      expect(sentOf(requests)).toHaveLength(1);
    },
  );

  test('the diagnostics can be left out', async () => {
    const { user, requests } = openTickets({ 'POST /v1/support/tickets': { data: ticketDto() } });
    await user.type(await words(), '看不到故事');
    await user.click(screen.getByRole('button', { name: '故事对话' }));
    await user.click(screen.getByRole('switch', { name: '附上诊断信息' }));
    await user.click(screen.getByRole('button', { name: '发送' }));
    await waitFor(() =>
      expect(sentOf(requests)).toMatchObject([{ kind: 'story', body: '看不到故事', diagnostics: '' }]),
    );
  });

  test('without words nothing is sent, and the field says so', async () => {
    const { user, requests } = openTickets();
    await words();
    await user.click(screen.getByRole('button', { name: '发送' }));
    expect((await screen.findByRole('alert')).textContent).toContain('说说遇到了什么');
    expect(sentOf(requests)).toEqual([]);
  });

  test('what could not be sent is kept over a reload, and goes as the same ticket', async () => {
    let isLost = true;
    const handlers = {
      'POST /v1/support/tickets': () => {
        if (isLost) throw offline();
        return { data: ticketDto() };
      },
    };
    const first = openTickets(handlers);
    await first.user.type(await words(), '充值没有到账');
    await first.user.click(screen.getByRole('button', { name: '发送' }));
    await waitFor(() => expect(sentOf(first.requests)).toHaveLength(1));
    const [lost] = sentOf(first.requests);
    drafts.flush();
    first.unmount();
    isLost = false;
    const second = openTickets(handlers);
    expect(((await words()) as HTMLTextAreaElement).value).toBe('充值没有到账');
    await second.user.click(screen.getByRole('button', { name: '发送' }));
    await waitFor(() => expect(sentOf(second.requests).at(-1)?.client_id).toBe(lost?.client_id));
    await waitFor(() => expect(drafts.read('form:support')).toBe(''));
  });

  test('words that were changed after a lost answer go as a ticket of their own', async () => {
    let isLost = true;
    const { user, requests } = openTickets({
      'POST /v1/support/tickets': () => {
        if (isLost) throw offline();
        return { data: ticketDto() };
      },
    });
    await user.type(await words(), '没有到账');
    await user.click(screen.getByRole('button', { name: '发送' }));
    await waitFor(() => expect(sentOf(requests)).toHaveLength(1));
    isLost = false;
    await user.type(await words(), '，订单 77');
    await user.click(screen.getByRole('button', { name: '发送' }));
    await waitFor(() => expect(sentOf(requests)).toHaveLength(2));
    const [lost, sent] = sentOf(requests);
    expect(sent?.body).toBe('没有到账，订单 77');
    expect(sent?.client_id).not.toBe(lost?.client_id);
  });

  test('words that are written while a ticket is sent stay, and go as another one', async () => {
    let answer = (_ticket: object) => {};
    const { user, requests } = openTickets({
      'POST /v1/support/tickets': () => new Promise<object>((resolve) => (answer = resolve)),
    });
    await user.type(await words(), '没有到账');
    await user.click(screen.getByRole('button', { name: '发送' }));
    await waitFor(() => expect(sentOf(requests)).toHaveLength(1));
    await user.type(await words(), '，订单 77');
    await act(async () => answer({ data: ticketDto() }));
    await waitFor(() => expect(told()).toHaveLength(1));
    expect(((await words()) as HTMLTextAreaElement).value).toBe('没有到账，订单 77');
    await user.click(screen.getByRole('button', { name: '发送' }));
    await waitFor(() => expect(sentOf(requests)).toHaveLength(2));
    const [first, second] = sentOf(requests);
    expect(second?.client_id).not.toBe(first?.client_id);
  });

  test('offline it says that the words are kept, and cannot be sent', async () => {
    openTickets();
    await words();
    rs.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    onTestEnd(() => rs.restoreAllMocks());
    act(() => void window.dispatchEvent(new Event('offline')));
    expect(await screen.findByText(/写好的内容留在这台设备上/)).toBeTruthy();
    expect((screen.getByRole('button', { name: '发送' }) as HTMLButtonElement).disabled).toBe(true);
  });

  test('an answer comes by its event, is marked as new, and counts as read once it is opened', async () => {
    let ticket = ticketDto();
    const { user, live, requests } = openTickets({
      'GET /v1/support/tickets': () => pageOf(ticket),
      'POST /v1/support/tickets/20261122000001/read': { status: 204 },
    });
    await screen.findByText('待回复');
    ticket = ticketDto({ answer: '已经补到账', answered_at: '2026-11-22T05:00:00Z', is_unread: true });
    live.push('ticket.answered', { id: ticket.id });
    expect(await screen.findByText('新回复')).toBeTruthy();
    expect(screen.getByRole('button', { name: '有 1 条新回复' })).toBeTruthy();
    const mine = screen.getByRole('region', { name: '我的反馈' });
    await user.click(within(mine).getByText('新回复'));
    expect(await within(mine).findByText('已回复')).toBeTruthy();
    expect(within(mine).getByText('已经补到账')).toBeTruthy();
    await waitFor(() => expect(requests.some(({ url }) => url.endsWith('/read'))).toBe(true));
    expect(screen.queryByRole('button', { name: '有 1 条新回复' })).toBeNull();
    // a server without events would leave the count on 我的
    await waitFor(() => expect(requests.at(-1)).toMatchObject({ method: 'GET', url: '/v1/user' }));
  });

  test('a ticket that has moved on to the next page stands there once', async () => {
    const moved = ticketDto({ id: 't-2', body: '看不到故事' });
    const { user } = openTickets({
      'GET /v1/support/tickets': ({ params }: RecordedRequest) =>
        params.cursor ? { data: [moved] } : { data: [ticketDto(), moved], meta: { next_cursor: 'older' } },
    });
    const older = await screen.findByRole('button', { name: '更早的反馈' });
    const listed = screen.getAllByText('看不到故事').length;
    await user.click(older);
    await waitFor(() => expect(screen.queryByRole('button', { name: '更早的反馈' })).toBeNull());
    expect(screen.getAllByText('看不到故事')).toHaveLength(listed);
  });

  test('older tickets come on demand', async () => {
    const { user } = openTickets({
      'GET /v1/support/tickets': ({ params }: RecordedRequest) =>
        params.cursor === 'p2'
          ? pageOf(ticketDto({ id: 'old', body: '很久以前的一条' }))
          : { data: [ticketDto()], meta: { next_cursor: 'p2' } },
    });
    await user.click(await screen.findByRole('button', { name: '更早的反馈' }));
    expect((await screen.findAllByText('很久以前的一条')).length).toBeGreaterThan(0);
    expect(screen.queryByRole('button', { name: '更早的反馈' })).toBeNull();
  });
});
