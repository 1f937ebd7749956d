import { oddBodies, oddRows, openRemote, programmersWords, screen } from '@liaozhai/shared/testing';
import { expect, test } from '@rstest/core';
import { orderDto, ordersDto, transactionDto } from './fixtures';
import remote from './remote';

const user = { id: 'u-1', balance: 100 };
const good = { ...transactionDto(), order: { id: 'o-1', price_cents: 600, method: '沙盒' } };

test('消费明细 stands whatever a row has in a field, and shows every row', async () => {
  const rows = [...oddRows(good), ...oddBodies(good).map((row, at) => ({ ...row, id: `whole-${at}` })), good];
  openRemote(remote, { 'GET /v1/transactions': { data: rows, meta: {} } }, { path: '/my/wallet/transactions', user });
  expect((await screen.findAllByRole('listitem')).length).toBe(rows.length);
  expect(programmersWords()).toEqual([]);
});

test('充值 stands whatever an order has in a field', async () => {
  const { data, meta } = ordersDto();
  const odd = oddRows({ ...orderDto() }).filter((_, at) => at % 5 === 0);
  const orders = [...data, ...odd];
  const handlers = { 'GET /v1/orders': { data: orders, meta } };
  openRemote(remote, handlers, { path: '/my/wallet/recharge', user, capabilities: ['orders'] });
  expect((await screen.findAllByText('60 点')).length).toBeGreaterThan(1);
  expect(programmersWords()).toEqual([]);
});

test.each(oddBodies({ ...orderDto() }, ['id']).concat(oddBodies({ ...orderDto() }, ['id', 'status'])))(
  'an order stands: %j',
  async (order) => {
    const path = '/my/wallet/orders/o-1';
    openRemote(remote, { 'GET /v1/orders/o-1': { data: order } }, { path, user, capabilities: ['orders'] });
    expect(await screen.findByText('订单号')).toBeTruthy();
    expect(programmersWords()).toEqual([]);
  },
);
