import type { OrderDto, TransactionDto } from '@liaozhai/shared/contract';

export const transactionDto = (patch: Partial<TransactionDto> = {}): TransactionDto => ({
  id: 't-1',
  type: 'message',
  amount: -2,
  balance_after: 98,
  description: '《聂小倩》里的一条消息',
  created_at: '2026-11-20T04:00:00.000000Z',
  ...patch,
});

/** A cursor page in the format of Laravel's API resources. */
export const pageDto = (data: TransactionDto[], nextCursor: string | null = null) => ({
  data,
  links: { next: null },
  meta: { next_cursor: nextCursor },
});

export const orderDto = (patch: Partial<OrderDto> = {}): OrderDto => ({
  id: '2026112212345678',
  client_id: 'key-1',
  package_id: 'p60',
  points: 60,
  price_cents: 600,
  status: 'pending',
  method: '沙盒付款',
  checkout_url: 'https://pay.example/checkout/1',
  created_at: '2026-11-22T04:00:00.000000Z',
  expires_at: '2096-11-22T04:30:00.000000Z',
  paid_at: null,
  ...patch,
});

export const ordersDto = (orders: OrderDto[] = []) => ({
  data: orders,
  meta: {
    next_cursor: null,
    packages: [
      { id: 'p60', points: 60, price_cents: 600, label: null },
      { id: 'p320', points: 320, price_cents: 3000, label: '含赠 20 点' },
    ],
    method: '沙盒付款',
  },
});
