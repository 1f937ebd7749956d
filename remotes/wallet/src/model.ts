import type { CursorPage, OrderDto, OrdersDto, TransactionDto } from '@liaozhai/shared/contract';
import { formatPoints, inSentence, parseUrl, rowsOf } from '@liaozhai/shared/format';
import type { HostConfig } from '@liaozhai/shared/runtime';

/** Kinds to filter by: those that every server supports. */
export const transactionKinds = [
  'message',
  'continue',
  'suggestion',
  'recharge',
  'check_in',
  'invite',
  'refund',
] as const;

const KINDS = [...transactionKinds, 'gift'] as const;

export type TransactionKind = (typeof KINDS)[number];

/** Payment details of bought points. */
const toReceipt = ({ id, price_cents, method }: NonNullable<TransactionDto['order']>) => ({
  orderId: id,
  priceCents: price_cents ?? undefined,
  method: inSentence(method ?? ''),
});

export type Receipt = ReturnType<typeof toReceipt>;

export const toTransaction = (dto: TransactionDto) => ({
  id: dto.id,
  /** `other` for a kind that this build does not know. */
  kind: KINDS.find((kind) => kind === dto.type) ?? ('other' as const),
  /** Signed points. */
  amount: dto.amount ?? undefined,
  balanceAfter: dto.balance_after ?? undefined,
  description: dto.description ?? '',
  createdAt: dto.created_at ?? undefined,
  receipt: dto.order ? toReceipt(dto.order) : undefined,
});

export type Transaction = ReturnType<typeof toTransaction>;

export type TransactionPage = CursorPage<Transaction>;

export const toTransactionPage = ({ items, nextCursor }: CursorPage<TransactionDto>): TransactionPage => ({
  items: items.map(toTransaction),
  nextCursor,
});

/** Price with two decimals: 600 → "6.00"; a dash if the server does not send it readably. */
export const yuan = (cents = Number.NaN): string => (Number.isNaN(cents) ? '—' : (cents / 100).toFixed(2));

/** The provider's page; undefined if the configured address is not http(s). A path is resolved against `pageUrl`. */
export function checkoutAddress(configured: string, pageUrl: string): URL | undefined {
  const address = parseUrl(configured, pageUrl);
  return address?.protocol === 'https:' || address?.protocol === 'http:' ? address : undefined;
}

type Purchase = Record<'packageId' | 'userId' | 'returnUrl', string>;

/** Address of the provider's page, with `package`, `user` and `return` in its query. `returnUrl` is absolute. */
export function checkoutLink(address: URL, { packageId, userId, returnUrl }: Purchase): string {
  const link = new URL(address);
  link.searchParams.set('package', packageId);
  link.searchParams.set('user', userId);
  link.searchParams.set('return', returnUrl);
  return link.href;
}

const STATUSES = ['created', 'pending', 'paid', 'credited', 'expired', 'failed'] as const;

export const toOrder = (dto: OrderDto) => ({
  id: dto.id,
  /** Key with which it was placed; undefined if the server does not send it. */
  clientId: dto.client_id ?? undefined,
  packageId: dto.package_id ?? '',
  /** undefined if the server does not state them, NaN if it does so unreadably; `priceCents` alike */
  points: dto.points ?? undefined,
  priceCents: dto.price_cents ?? undefined,
  /** `unknown` for a status that this build does not know: the page keeps waiting. */
  status: STATUSES.find((status) => status === dto.status) ?? ('unknown' as const),
  /** Payment method or provider, as shown to the user. */
  method: inSentence(dto.method ?? ''),
  checkoutUrl: dto.checkout_url ?? undefined,
  createdAt: dto.created_at ?? undefined,
  expiresAt: dto.expires_at ?? undefined,
  paidAt: dto.paid_at ?? undefined,
});

export type Order = ReturnType<typeof toOrder>;

/** `60 点`; empty if the server does not state them readably. */
export const orderPoints = ({ points = Number.NaN }: Order): string =>
  Number.isNaN(points) ? '' : formatPoints(points);

/** Offers of points for money, the first of each id: an order names its package by the id. */
export const onSale = (offers: Offer[]): Offer[] =>
  rowsOf([{ items: offers.filter(({ points, priceCents }) => points >= 1 && priceCents >= 1) }]);

export const toOrders = ({ data, meta }: OrdersDto) => ({
  /** Newest first. */
  orders: rowsOf([{ items: data.map(toOrder) }]),
  /** Packages that the server sells; empty if it does not send them. */
  offers: onSale(
    (meta?.packages ?? []).map(({ id, points, price_cents, label }) => ({
      id,
      points,
      priceCents: price_cents,
      label: label ? inSentence(label) : undefined,
    })),
  ),
  /** Payment method or provider, as shown to the user. */
  method: inSentence(meta?.method ?? ''),
});

export type Orders = ReturnType<typeof toOrders>;
export type Offer = HostConfig['rechargePackages'][number];

/** Whether the server still waits for its payment. */
const isOpen = ({ status }: Order): boolean => status === 'created' || status === 'pending';

/** Whether its time is over at `now`, which the server may not have stated yet. */
export const isOver = ({ expiresAt }: Order, now: number): boolean => Date.parse(expiresAt ?? '') <= now;

/** Whether it can be paid at `now`. */
export const isPayable = (order: Order, now: number): boolean => isOpen(order) && !isOver(order, now);

/** Whether nothing more is to be paid for it. */
export const isSettled = (order: Order): boolean => !isOpen(order) && order.status !== 'unknown';

/** Whether its outcome is still unknown. */
export const isWaiting = (order: Order): boolean => isOpen(order) || ['paid', 'unknown'].includes(order.status);
