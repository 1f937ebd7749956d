import type { TransactionDto } from '@liaozhai/shared/contract';

export const transactionDto = (patch: Partial<TransactionDto> = {}): TransactionDto => ({
  id: 't-1',
  type: 'message',
  amount: -2,
  balance_after: 98,
  description: '《聂小倩》里的一条消息',
  created_at: '2026-11-20T04:00:00.000000Z',
  ...patch,
});

/** A cursor page as Laravel's API resources write it. */
export const pageDto = (data: TransactionDto[], nextCursor: string | null = null) => ({
  data,
  links: { next: null },
  meta: { next_cursor: nextCursor },
});
