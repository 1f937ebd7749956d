import { act, onTestEnd, openRemote, type RecordedRequest, screen } from '@liaozhai/shared/testing';
import { expect, rs, test } from '@rstest/core';
import { orderDto } from '../fixtures';
import remote from '../remote';

const path = '/my/wallet/orders/2026112212345678';
const call = 'GET /v1/orders/2026112212345678';
const me = { id: 'u-1', name: '宁采臣', username: 'a1', balance: 100 };
const signedIn = { path, user: me, capabilities: ['orders'] as const };
const paid = { status: 'credited', checkout_url: null, paid_at: '2026-11-22T04:05:00.000000Z' };
const looks = (requests: RecordedRequest[]) => requests.filter(({ url }) => url.startsWith('/v1/orders/')).length;

test('an unpaid order leads to its checkout until its time is over', async () => {
  const now = Date.parse('2026-11-22T04:00:00Z');
  rs.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now, shouldAdvanceTime: true });
  onTestEnd(() => rs.useRealTimers());
  const order = orderDto({ expires_at: '2026-11-22T04:30:00Z' });
  openRemote(remote, { [call]: { data: order }, 'GET /v1/user': { data: me } }, signedIn);
  expect(await screen.findByRole('heading', { name: '等待付款' })).toBeTruthy();
  expect(screen.getByRole('link', { name: '去付款' }).getAttribute('href')).toBe('https://pay.example/checkout/1');
  expect(screen.getByText('请在 11月22日 12:30 前付款')).toBeTruthy();
  expect(screen.getByRole('link', { name: '换个档位' }).getAttribute('href')).toBe('/my/wallet/recharge');
  await act(() => rs.advanceTimersByTimeAsync(30 * 60_000));
  expect(screen.getByText('付款时间已过')).toBeTruthy();
  expect(screen.queryByRole('link', { name: '去付款' })).toBeNull();
  expect(screen.getByRole('link', { name: '换个档位' })).toBeTruthy();
});

test('an order that never reached its provider ends with its time', async () => {
  const order = orderDto({ status: 'created', checkout_url: null, expires_at: '2026-11-22T04:30:00Z' });
  openRemote(remote, { [call]: { data: order }, 'GET /v1/user': { data: me } }, signedIn);
  expect(await screen.findByRole('heading', { name: '订单已过期' })).toBeTruthy();
  expect(screen.queryByRole('button', { name: '再试一次' })).toBeNull();
  expect(screen.getByRole('link', { name: '重新充值' })).toBeTruthy();
});

test('a payment after the time was over arrives by the socket, with the receipt and the new balance', async () => {
  let order = orderDto({ status: 'expired', checkout_url: null });
  let balance = 100;
  const { live } = openRemote(
    remote,
    { [call]: () => ({ data: order }), 'GET /v1/user': () => ({ data: { ...me, balance } }) },
    signedIn,
  );
  await screen.findByRole('heading', { name: '订单已过期' });
  order = orderDto(paid);
  balance = 160;
  live.push('order.updated', { order });
  expect(await screen.findByRole('heading', { name: '充值成功' })).toBeTruthy();
  expect(await screen.findByText('160')).toBeTruthy();
  expect(screen.getByText('2026112212345678')).toBeTruthy();
  expect(screen.getByText('¥6.00')).toBeTruthy();
  expect(screen.getByText('沙盒付款')).toBeTruthy();
  expect(screen.queryByRole('link', { name: '去付款' })).toBeNull();
});

test('without a socket it looks with growing pauses, and no more once it is settled', async () => {
  rs.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestEnd(() => rs.useRealTimers());
  let order = orderDto();
  const { live, requests } = openRemote(
    remote,
    { [call]: () => ({ data: order }), 'GET /v1/user': { data: me } },
    signedIn,
  );
  live.drop();
  await screen.findByRole('heading', { name: '等待付款' });
  const before = looks(requests);
  await act(() => rs.advanceTimersByTimeAsync(70_000));
  const while70s = looks(requests) - before;
  expect(while70s).toBeGreaterThanOrEqual(5);
  expect(while70s).toBeLessThanOrEqual(10);
  order = orderDto(paid);
  await act(() => rs.advanceTimersByTimeAsync(31_000));
  expect(await screen.findByRole('heading', { name: '充值成功' })).toBeTruthy();
  const settled = looks(requests);
  await act(() => rs.advanceTimersByTimeAsync(120_000));
  expect(looks(requests)).toBe(settled);
});

test('an order whose provider could not be reached is tried again under its own key', async () => {
  const { user, requests } = openRemote(
    remote,
    {
      [call]: { data: orderDto({ status: 'created', checkout_url: null }) },
      'POST /v1/orders': { data: orderDto() },
      'GET /v1/user': { data: me },
    },
    signedIn,
  );
  await user.click(await screen.findByRole('button', { name: '再试一次' }));
  expect(await screen.findByRole('heading', { name: '等待付款' })).toBeTruthy();
  const placed = requests.find(({ method }) => method === 'POST');
  expect(placed?.body).toEqual({ package_id: 'p60', client_id: 'key-1' });
});

test.each([
  ['failed', '付款没有成功', '重新充值'],
  ['expired', '订单已过期', '联系客服'],
])('%s says what became of the money and what can be done', async (status, heading, way) => {
  openRemote(
    remote,
    { [call]: { data: orderDto({ status, checkout_url: null }) }, 'GET /v1/user': { data: me } },
    signedIn,
  );
  expect(await screen.findByRole('heading', { name: heading })).toBeTruthy();
  expect(screen.getByText(/没有扣款/)).toBeTruthy();
  expect(screen.getByRole('link', { name: way })).toBeTruthy();
});

test.each(['unpaid', 'CANCELLED', 'success', null, 3])(
  'a status that is not known says nothing of money: %j',
  async (status) => {
    const order = { ...orderDto(), status };
    openRemote(remote, { [call]: { data: order }, 'GET /v1/user': { data: me } }, signedIn);
    expect(await screen.findByRole('heading', { name: '还没有付款结果' })).toBeTruthy();
    expect(screen.queryByText(/已付款|没有扣款|成功/)).toBeNull();
    expect(screen.queryByRole('link', { name: '去付款' })).toBeNull();
    expect(screen.getByRole('link', { name: '联系客服' })).toBeTruthy();
  },
);

test('an address that is no web page is no place to pay', async () => {
  const order = orderDto({ checkout_url: 'javascript:alert(1)' });
  openRemote(remote, { [call]: { data: order }, 'GET /v1/user': { data: me } }, signedIn);
  await screen.findByRole('heading', { name: '等待付款' });
  expect(screen.queryByRole('link', { name: '去付款' })).toBeNull();
});

test.each([
  ['that is not found', 404, { message: '没有找到这笔订单' }],
  ['of a server without payments', 404, { code: 'route_missing', message: '没有这个接口' }],
])('an order %s leads on', async (_, status, body) => {
  openRemote(remote, { [call]: { status, body } }, signedIn);
  expect(await screen.findByText('没有找到这笔订单')).toBeTruthy();
  expect(screen.getByRole('link', { name: '去充值' }).getAttribute('href')).toBe('/my/wallet/recharge');
  expect(screen.getByRole('link', { name: '看消费明细' }).getAttribute('href')).toBe('/my/wallet/transactions');
});
