import { oddBodies, oddRows, openRemote, programmersWords, refuseToDraw, screen } from '@liaozhai/shared/testing';
import { describe, expect, test } from '@rstest/core';
import { orderDto, ordersDto, transactionDto } from './fixtures';
import remote from './remote';

const user = { id: 'u-1', balance: 100 };
const good = { ...transactionDto(), order: { id: 'o-1', price_cents: 600, method: '沙盒' } };

test('消费明细 stands with any value in a field of a row, and shows every row', async () => {
  const rows = [...oddRows(good), ...oddBodies(good).map((row, at) => ({ ...row, id: `whole-${at}` })), good];
  openRemote(remote, { 'GET /v1/transactions': { data: rows, meta: {} } }, { path: '/my/wallet/transactions', user });
  expect((await screen.findAllByRole('listitem')).length).toBe(rows.length);
  expect(programmersWords()).toEqual([]);
});

test('充值 stands with any value in a field of an order', async () => {
  const { data, meta } = ordersDto();
  const odd = oddRows({ ...orderDto() }).filter((_, at) => at % 5 === 0);
  const orders = [...data, ...odd];
  const handlers = { 'GET /v1/orders': { data: orders, meta } };
  openRemote(remote, handlers, { path: '/my/wallet/recharge', user, capabilities: ['orders'] });
  expect((await screen.findAllByText('60 点')).length).toBeGreaterThan(1);
  expect(programmersWords()).toEqual([]);
});

test.each(oddBodies({ ...orderDto() }, ['id']).concat(oddBodies({ ...orderDto() }, ['id', 'status'])))(
  'an order stands: $created_at, $status',
  async (order) => {
    const path = '/my/wallet/orders/o-1';
    openRemote(remote, { 'GET /v1/orders/o-1': { data: order } }, { path, user, capabilities: ['orders'] });
    expect(await screen.findByText('订单号')).toBeTruthy();
    expect(programmersWords()).toEqual([]);
  },
);

describe('a row that throws leaves a line in its place, and the others stay', () => {
  const lost = () => screen.getAllByText('这一条暂时显示不出来').length;

  test('in 消费明细', async () => {
    refuseToDraw('《崂山道士》');
    const rows = ['《画皮》', '《崂山道士》', '《婴宁》'].map((description, at) =>
      transactionDto({ id: `t-${at}`, description }),
    );
    openRemote(remote, { 'GET /v1/transactions': { data: rows, meta: {} } }, { path: '/my/wallet/transactions', user });
    expect(await screen.findByText('《婴宁》')).toBeTruthy();
    expect(screen.getByText('《画皮》')).toBeTruthy();
    expect(lost()).toBe(1);
  });

  test('among orders and packages', async () => {
    refuseToDraw('77 点');
    const { data, meta } = ordersDto(
      [60, 77].map((points) => orderDto({ id: `o-${points}`, points, expires_at: '2099-01-01T00:00:00Z' })),
    );
    const packages = [...meta.packages, { id: 'p77', points: 77, price_cents: 700, label: null }];
    const handlers = { 'GET /v1/orders': { data, meta: { ...meta, packages } } };
    openRemote(remote, handlers, { path: '/my/wallet/recharge', user, capabilities: ['orders'] });
    expect(await screen.findByText('320 点')).toBeTruthy();
    expect(lost()).toBe(2);
    expect(screen.getAllByRole('radio')).toHaveLength(2);
  });
});
