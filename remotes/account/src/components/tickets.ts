import type { CursorPage, TicketDto } from '@liaozhai/shared/contract';
import { formatNumber, UNREADABLE } from '@liaozhai/shared/format';
import {
  api,
  cursorPageSchema,
  endpoints,
  infiniteCursorOptions,
  readAs,
  session,
  singleSchema,
  ticketSchema,
} from '@liaozhai/shared/runtime';
import { parseRecord } from '../model';

// Tickets for support. Separate from the remote's api, model and texts, since no other page needs them.

/** Maximum length of a ticket's text, in code points. */
export const TICKET_CHARACTERS = 1000;

export const ticketKinds = ['points', 'story', 'account', 'other'] as const;

export type TicketKind = (typeof ticketKinds)[number];

/** Unsent ticket, stored on the device until the server has accepted it. */
export interface TicketDraft {
  kind: TicketKind;
  body: string;
  contact: string;
  /** Id and idempotency key of the ticket. */
  clientId: string;
  /** The words that were last sent under this key. */
  sentWords?: string | undefined;
}

export const wordsOf = ({ kind, body, contact }: TicketDraft): string => JSON.stringify([kind, body, contact]);

/** Parses a stored draft; undefined if missing or invalid. */
export function readTicketDraft(json: string): TicketDraft | undefined {
  const { kind, body, contact, clientId, sentWords } = parseRecord(json);
  if (typeof body !== 'string' || typeof contact !== 'string' || typeof clientId !== 'string') return undefined;
  return { kind: kindOf(kind), body, contact, clientId, ...(typeof sentWords === 'string' && { sentWords }) };
}

const kindOf = (name: unknown): TicketKind => ticketKinds.find((kind) => kind === name) ?? 'other';

const toTicket = (dto: TicketDto) => ({
  id: dto.id,
  kind: kindOf(dto.kind),
  body: dto.body || UNREADABLE,
  /** undefined until support has answered. */
  answer: dto.answer || undefined,
  answeredAt: dto.answered_at ?? undefined,
  /** The answer has not been opened yet. */
  isUnread: dto.is_unread ?? false,
  createdAt: dto.created_at ?? undefined,
});

export type Ticket = ReturnType<typeof toTicket>;

export type TicketPage = CursorPage<Ticket>;

const toTicketPage = ({ items, nextCursor }: CursorPage<TicketDto>): TicketPage => ({
  items: items.map(toTicket),
  nextCursor,
});

const ticketPageSchema = cursorPageSchema(ticketSchema);

const ticketApi = api.injectEndpoints({
  overrideExisting: true,
  endpoints: (build) => ({
    accountGetTickets: build.infiniteQuery<TicketPage, void, string | null>({
      infiniteQueryOptions: infiniteCursorOptions,
      query: ({ pageParam }) => ({
        url: endpoints.tickets,
        params: pageParam === null ? {} : { cursor: pageParam },
        schema: ticketPageSchema,
      }),
      transformResponse: toTicketPage,
    }),
    accountSendTicket: build.mutation<Ticket | null, TicketDraft & { diagnostics: string }>({
      query: ({ kind, body, contact, clientId, diagnostics }) => ({
        url: endpoints.tickets,
        method: 'POST',
        body: { kind, body, contact, diagnostics, client_id: clientId },
        idempotencyKey: clientId,
      }),
      transformResponse(response) {
        const dto = readAs(singleSchema(ticketSchema), response);
        return dto ? toTicket(dto) : null;
      },
      async onQueryStarted(_draft, { dispatch, queryFulfilled }) {
        const result = await queryFulfilled.catch(() => null);
        if (!result) return;
        const { data } = result;
        // some servers confirm the ticket without sending it
        if (!data) {
          const refetchOptions = { subscribe: false, forceRefetch: true };
          void dispatch(ticketApi.endpoints.accountGetTickets.initiate(undefined, refetchOptions));
          return;
        }
        dispatch(
          ticketApi.util.updateQueryData('accountGetTickets', undefined, ({ pages }) => {
            const isKnown = pages.some(({ items }) => items.some(({ id }) => id === data.id));
            if (!isKnown) pages[0]?.items.unshift(data);
          }),
        );
      },
    }),
    accountReadTicket: build.mutation<void, string>({
      query: (id) => ({ url: endpoints.ticketRead(id), method: 'POST', body: {} }),
      async onQueryStarted(id, { dispatch, queryFulfilled }) {
        const patch = dispatch(
          ticketApi.util.updateQueryData('accountGetTickets', undefined, ({ pages }) => {
            for (const { items } of pages) for (const item of items) if (item.id === id) item.isUnread = false;
          }),
        );
        // the user counts the new answers; if the server did not store it, this one is new again
        await queryFulfilled.then(session.refresh, patch.undo);
      },
    }),
  }),
});

export const { useAccountGetTicketsInfiniteQuery, useAccountSendTicketMutation, useAccountReadTicketMutation } =
  ticketApi;

export const ticketTexts = {
  write: '写反馈',
  kind: '类别',
  kinds: { points: '点数充值', story: '故事对话', account: '登录资料', other: '其他' },
  body: '说说遇到了什么',
  bodyPlaceholder: '例如：昨天充值的 60 点没有到账。',
  bodyTooLong: (most: number) => `最多 ${formatNumber(most)} 个字`,
  ticketContact: '联系方式（选填）',
  ticketContactHint: '邮箱或微信。不留也能在这里看到回复。',
  attach: '附上诊断信息',
  attachHint: '页面版本、用户编号、网络和浏览器，能更快查清问题；不含密码和聊天内容。',
  send: '发送',
  sent: '已收到，回复会出现在「我的反馈」',
  offlineDraft: '当前没有网络。写好的内容留在这台设备上，联网后再发送。',
  unreachableDraft: '连不上服务。写好的内容留在这台设备上，恢复后再发送。',
  draftKept: '没发送的内容会留在这台设备上。',
  mine: '我的反馈',
  loadingMine: '正在加载反馈',
  older: '更早的反馈',
  open: '待回复',
  answered: '已回复',
  newAnswer: '新回复',
  newAnswers: (count: number) => `有 ${formatNumber(count)} 条新回复`,
  answer: '回复',
  ticketNumber: (id: string) => `编号 ${id}`,
} as const;
