import type { CursorPage, TransactionDto } from '@liaozhai/shared/contract';
import { parseUrl } from '@liaozhai/shared/format';

const KINDS = ['message', 'continue', 'suggestion', 'recharge', 'check_in', 'invite', 'refund'] as const;

export type TransactionKind = (typeof KINDS)[number];

/** What the list can be narrowed to: the kinds the server knows by the same names. */
export const transactionKinds: readonly TransactionKind[] = KINDS;

export interface Transaction {
  id: string;
  /** a kind this build does not know yet reads as `other` */
  kind: TransactionKind | 'other';
  /** signed points */
  amount: number;
  balanceAfter: number | undefined;
  description: string;
  createdAt: string;
}

export type TransactionPage = CursorPage<Transaction>;

export const toTransaction = (dto: TransactionDto): Transaction => ({
  id: String(dto.id),
  kind: KINDS.find((kind) => kind === dto.type) ?? 'other',
  amount: dto.amount,
  balanceAfter: dto.balance_after ?? undefined,
  description: dto.description ?? '',
  createdAt: dto.created_at,
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

/** The ledger with what was booked since; if more was booked than one page tells, it starts anew from there. */
export function withNewest(shown: TransactionPage[], newest: TransactionPage): TransactionPage[] {
  const known = new Set(transactionsOf(shown).map((row) => row.id));
  const unseen = newest.items.filter((row) => !known.has(row.id));
  if (unseen.length === newest.items.length) return unseen.length === 0 ? shown : [newest];
  return shown.map((page, index) => (index === 0 ? { ...page, items: [...unseen, ...page.items] } : page));
}

/** Price with two decimals: 600 → "6.00". */
export const yuan = (cents: number): string => (cents / 100).toFixed(2);

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
