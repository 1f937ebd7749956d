import type { CursorPage, OrderDto, OrdersDto, TransactionDto } from '@liaozhai/shared/contract';
import { inSentence, parseUrl } from '@liaozhai/shared/format';

/** What the list can be narrowed to: the kinds that every server knows by the same names. */
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

export interface Transaction {
  id: string;
  /** a kind this build does not know yet reads as `other` */
  kind: TransactionKind | 'other';
  /** signed points */
  amount: number | undefined;
  balanceAfter: number | undefined;
  description: string;
  createdAt: string | undefined;
  /** what was paid for it, where it was bought */
  receipt?: Receipt;
}

export interface Receipt {
  orderId: string;
  priceCents: number | undefined;
  method: string;
}

export type TransactionPage = CursorPage<Transaction>;

export const toTransaction = (dto: TransactionDto): Transaction => ({
  id: dto.id,
  kind: KINDS.find((kind) => kind === dto.type) ?? 'other',
  amount: dto.amount ?? undefined,
  balanceAfter: dto.balance_after ?? undefined,
  description: dto.description ?? '',
  createdAt: dto.created_at ?? undefined,
  ...(dto.order && {
    receipt: {
      orderId: dto.order.id,
      priceCents: dto.order.price_cents ?? undefined,
      method: inSentence(dto.order.method ?? ''),
    },
  }),
});

export const toTransactionPage = ({ items, nextCursor }: CursorPage<TransactionDto>): TransactionPage => ({
  items: items.map(toTransaction),
  nextCursor,
});

/** Rows of all pages in order, each once. */
export function transactionsOf(pages: TransactionPage[]): Transaction[] {
  const byId = new Map<string, Transaction>();
  for (const page of pages) for (const row of page.items) if (!byId.has(row.id)) byId.set(row.id, row);
  return [...byId.values()];
}

/** The ledger with later bookings; if more was booked than one page holds, it starts over from there. */
export function withNewest(shown: TransactionPage[], newest: TransactionPage): TransactionPage[] {
  const shownIds = new Set(transactionsOf(shown).map((row) => row.id));
  const unseen = newest.items.filter((row) => !shownIds.has(row.id));
  if (unseen.length === newest.items.length) return unseen.length === 0 ? shown : [newest];
  return shown.map((page, index) => (index === 0 ? { ...page, items: [...unseen, ...page.items] } : page));
}

/** Price with two decimals: 600 → "6.00"; what the server does not tell is a dash. */
export const yuan = (cents: number | undefined): string => (cents === undefined ? '—' : (cents / 100).toFixed(2));

/** The provider's page, or undefined when the configured address is no web address. A path belongs to `pageUrl`'s origin. */
export function checkoutAddress(configured: string, pageUrl: string): URL | undefined {
  const address = parseUrl(configured, pageUrl);
  return address?.protocol === 'https:' || address?.protocol === 'http:' ? address : undefined;
}

interface Purchase {
  packageId: string;
  userId: string;
  /** the page to come back to, as a whole address */
  returnUrl: string;
}

/** Where paying begins: the provider's page, told `package`, `user` and `return` in its query. */
export function checkoutLink(address: URL, { packageId, userId, returnUrl }: Purchase): string {
  const link = new URL(address);
  link.searchParams.set('package', packageId);
  link.searchParams.set('user', userId);
  link.searchParams.set('return', returnUrl);
  return link.href;
}

const STATUSES = ['created', 'pending', 'paid', 'credited', 'expired', 'failed'] as const;

export type OrderStatus = (typeof STATUSES)[number];

export interface Order {
  id: string;
  /** the key it was placed with; undefined where the server does not tell */
  clientId: string | undefined;
  packageId: string;
  points: number | undefined;
  priceCents: number | undefined;
  /** one that this build does not know yet is waited for like `paid` */
  status: OrderStatus;
  /** who takes the money */
  method: string;
  checkoutUrl: string | undefined;
  createdAt: string | undefined;
  expiresAt: string | undefined;
  paidAt: string | undefined;
}

export const toOrder = (dto: OrderDto): Order => ({
  id: dto.id,
  clientId: dto.client_id ?? undefined,
  packageId: dto.package_id ?? '',
  points: dto.points ?? undefined,
  priceCents: dto.price_cents ?? undefined,
  status: STATUSES.find((status) => status === dto.status) ?? 'paid',
  method: inSentence(dto.method ?? ''),
  checkoutUrl: dto.checkout_url ?? undefined,
  createdAt: dto.created_at ?? undefined,
  expiresAt: dto.expires_at ?? undefined,
  paidAt: dto.paid_at ?? undefined,
});

export interface Offer {
  id: string;
  points: number;
  priceCents: number;
  label?: string | undefined;
}

export interface Orders {
  /** newest first */
  orders: Order[];
  /** what the server sells; empty where it does not say */
  offers: Offer[];
  /** who takes the money */
  method: string;
}

export const toOrders = ({ data, meta }: OrdersDto): Orders => ({
  orders: data.map(toOrder),
  offers: (meta?.packages ?? []).map(({ id, points, price_cents, label }) => ({
    id,
    points,
    priceCents: price_cents,
    label: label ?? undefined,
  })),
  method: inSentence(meta?.method ?? ''),
});

/** Can still be paid. */
export const isOpen = ({ status }: Order): boolean => status === 'created' || status === 'pending';

/** What becomes of it is not settled yet. */
export const isWaiting = (order: Order): boolean => isOpen(order) || order.status === 'paid';
