import {
  act,
  fakeEndOfList,
  onTestEnd,
  openRemote,
  type RecordedRequest,
  screen,
  within,
} from '@liaozhai/shared/testing';
import { expect, rs, test } from '@rstest/core';
import { pageDto, transactionDto } from '../fixtures';
import remote from '../remote';

const path = '/my/wallet/transactions';
const signedIn = { path, user: { balance: 1234 } };

test('bookings stand under their Shanghai day, signed, with what was left', async () => {
  const rows = [
    transactionDto({
      id: 't-3',
      type: 'check_in',
      amount: 10,
      balance_after: 1234,
      description: '签到第 1 天',
      created_at: '2025-11-03T16:30:00Z',
    }),
    transactionDto({
      id: 't-2',
      amount: -2,
      balance_after: 1224,
      description: '对话《聂小倩》',
      created_at: '2025-11-03T15:30:00Z',
    }),
  ];
  openRemote(remote, { 'GET /v1/transactions': pageDto(rows) }, signedIn);
  const later = await screen.findByRole('region', { name: '2025年11月4日' });
  expect(within(later).getByText('+10 点')).toBeTruthy();
  expect(within(later).getByText('余额 1,234 点')).toBeTruthy();
  expect(within(later).getByText('00:30')).toBeTruthy();
  const earlier = screen.getByRole('region', { name: '2025年11月3日' });
  expect(within(earlier).getByText('−2 点')).toBeTruthy();
  expect(screen.getByText('没有更多了')).toBeTruthy();
});

test('a booking without a readable date stands under no other booking’s day', async () => {
  const rows = [
    { ...transactionDto({ id: 't-3', description: '不知何时' }), created_at: 'gestern' },
    transactionDto({ id: 't-2', description: '三日', created_at: '2025-11-03T04:00:00Z' }),
    transactionDto({ id: 't-1', description: '也不知何时', created_at: null }),
  ];
  openRemote(remote, { 'GET /v1/transactions': pageDto(rows) }, signedIn);
  const day = await screen.findByRole('region', { name: '2025年11月3日' });
  expect(within(day).getAllByRole('listitem')).toHaveLength(1);
  expect(within(day).getByText('三日')).toBeTruthy();
  const undated = screen.getAllByRole('region', { name: '日期不明' });
  expect(undated.map((region) => within(region).getAllByRole('listitem').length)).toEqual([1, 1]);
});

test("what was booked today is yesterday's for who is still reading after midnight", async () => {
  const now = new Date('2026-11-21T15:59:00Z');
  rs.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now, shouldAdvanceTime: true });
  onTestEnd(() => rs.useRealTimers());
  const rows = [transactionDto({ created_at: '2026-11-21T15:30:00Z' })];
  openRemote(remote, { 'GET /v1/transactions': pageDto(rows) }, signedIn);
  expect(await screen.findByRole('region', { name: '今天' })).toBeTruthy();
  await act(() => rs.advanceTimersByTimeAsync(62_000));
  expect(screen.getByRole('region', { name: '昨天' })).toBeTruthy();
});

test('choosing a kind asks the server for that kind', async () => {
  const { user } = openRemote(
    remote,
    {
      'GET /v1/transactions': (request: { params?: { type?: string } }) =>
        pageDto(
          request.params?.type === 'refund'
            ? [transactionDto({ id: 't-9', type: 'refund', description: '退还：对话' })]
            : [transactionDto()],
        ),
    },
    signedIn,
  );
  await screen.findByText('《聂小倩》里的一条消息');
  await user.click(screen.getByRole('button', { name: '退还' }));
  expect(await screen.findByText('退还：对话')).toBeTruthy();
  expect(screen.queryByText('《聂小倩》里的一条消息')).toBeNull();
});

test('a booking that happens meanwhile appears on top with the new balance', async () => {
  let rows = [transactionDto()];
  const { live } = openRemote(remote, { 'GET /v1/transactions': () => pageDto(rows) }, signedIn);
  await screen.findByText('《聂小倩》里的一条消息');
  rows = [transactionDto({ id: 't-2', amount: -1, description: '续写《聂小倩》' }), ...rows];
  live.push('balance.updated', { balance: 1233 });
  expect(await screen.findByText('续写《聂小倩》')).toBeTruthy();
  expect(await screen.findByText('1,233')).toBeTruthy();
});

test('a booking that happens while the next page is on its way stays', async () => {
  const scrollToEnd = fakeEndOfList();
  let rows = [transactionDto()];
  let answer = (_: unknown) => {};
  const secondPage = new Promise((resolve) => {
    answer = resolve;
  });
  const { live } = openRemote(
    remote,
    {
      'GET /v1/transactions': ({ params }: RecordedRequest) =>
        params.cursor === 'p2' ? secondPage : pageDto(rows, 'p2'),
    },
    signedIn,
  );
  await screen.findByText('《聂小倩》里的一条消息');
  await scrollToEnd();
  rows = [transactionDto({ id: 't-2', amount: -1, description: '续写《聂小倩》' }), ...rows];
  live.push('balance.updated', { balance: 1233 });
  await screen.findByText('续写《聂小倩》');
  answer(pageDto([transactionDto({ id: 't-0', description: '更早的一条' })]));
  expect(await screen.findByText('更早的一条')).toBeTruthy();
  expect(screen.getByText('续写《聂小倩》')).toBeTruthy();
});

test('an empty ledger says how it fills', async () => {
  openRemote(remote, { 'GET /v1/transactions': pageDto([]) }, signedIn);
  expect(await screen.findByText('还没有明细，签到或聊天之后会记在这里')).toBeTruthy();
});

test('a ledger that does not come offers to try again', async () => {
  let answers = 0;
  const { user } = openRemote(
    remote,
    {
      'GET /v1/transactions': () => {
        answers += 1;
        return answers === 1 ? { status: 500, body: { message: '账房关门了' } } : pageDto([transactionDto()]);
      },
    },
    signedIn,
  );
  expect(await screen.findByText('账房关门了')).toBeTruthy();
  await user.click(screen.getByRole('button', { name: '重试' }));
  expect(await screen.findByText('《聂小倩》里的一条消息')).toBeTruthy();
});

test('what was bought shows its order, its price and how it was paid, and leads to the receipt', async () => {
  const bought = transactionDto({
    type: 'recharge',
    amount: 60,
    description: '充值 60 点',
    order: { id: '2026112212345678', price_cents: 600, method: '沙盒付款' },
  });
  openRemote(remote, { 'GET /v1/transactions': pageDto([bought]) }, signedIn);
  const receipt = await screen.findByRole('link', { name: '订单 2026112212345678 · ¥6.00 · 沙盒付款' });
  expect(receipt.getAttribute('href')).toBe('/my/wallet/orders/2026112212345678');
});
