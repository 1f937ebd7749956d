import * as v from 'valibot';

import {
  amount,
  color,
  count,
  day,
  figure,
  flag,
  flatPage,
  id,
  instant,
  isEmptyValue,
  label,
  lists,
  mark,
  optional,
  prose,
  rows,
  seconds,
  text,
  unreadRows,
  verbatim,
  word,
} from './decode.ts';
import { readersWords } from './refusals.ts';

// Shapes of the API's responses and socket events, in snake_case. Only essential fields (an id, the message of a reply) are
// required; a body without them does not come from the server (captive portal, truncated).

const problem = v.object(
  optional({
    code: text,
    message: v.pipe(
      text,
      v.transform((message) => readersWords(message) ?? ''),
    ),
  }),
);

/** One page of a list, normalised from each of Laravel's forms. */
export interface CursorPage<Item> {
  items: Item[];
  /** null at the end; begins with `?` if the server names the next page by a query */
  nextCursor: string | null;
}

const cursor = optional({
  ...{ next_cursor: text, next_page_url: text, next: text },
  ...{ current_page: count, page: count, last_page: count, total_pages: count },
});

/** Query of the next page for lists with page numbers. */
const nextPageQuery = (paginator: v.InferOutput<v.ObjectSchema<typeof cursor, undefined>> | null | undefined) => {
  const currentPage = paginator?.current_page ?? paginator?.page ?? 0;
  return (
    currentPage > 0 && currentPage < (paginator?.last_page ?? paginator?.total_pages ?? 0) && `?page=${currentPage + 1}`
  );
};

/** A body with its rows under `data`; a paginator under `data` is flattened. */
const page = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(v.unknown(), v.transform(flatPage), v.object(entries));

/**
 * Parses `{ data, meta: { next_cursor } }`, `{ data, next_cursor }` or a bare list; skips rows that cannot be read. Refuses a last
 * page with rows of which none can be read.
 */
export const cursorPageSchema = <Schema extends v.GenericSchema>(entry: Schema) =>
  v.pipe(
    v.union([
      v.pipe(
        page({ data: rows(entry), ...optional({ meta: v.object(cursor), links: v.object(cursor) }), ...cursor }),
        v.transform(
          ({ data, meta, links, ...top }): CursorPage<v.InferOutput<Schema>> => ({
            items: data,
            nextCursor:
              meta?.next_cursor ||
              top.next_cursor ||
              /\?[^#]+/.exec(links?.next || top.next_page_url || top.next || '')?.[0] ||
              nextPageQuery(meta) ||
              nextPageQuery(top) ||
              null,
          }),
        ),
      ),
      v.pipe(
        rows(entry),
        v.transform(
          (items: v.InferOutput<Schema>[]): CursorPage<v.InferOutput<Schema>> => ({ items, nextCursor: null }),
        ),
      ),
    ]),
    v.check(({ items, nextCursor }) => items !== unreadRows || nextCursor !== null),
  );

function withoutWrapper(body: unknown): unknown {
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined;
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? withoutWrapper(data) : body;
}

/** A single entity, bare or in `data`, which some servers put into an envelope with `data`. */
export const singleSchema = <Schema extends v.GenericSchema>(entity: Schema) =>
  v.pipe(v.unknown(), v.transform(withoutWrapper), entity);

/** Points from an invitation, still to be announced; `side` is `inviter` or `invitee`. */
const giftSchema = v.object({ id, points: amount, ...optional({ name: label, side: word }) });
export type GiftDto = v.InferOutput<typeof giftSchema>;

/** `POST /v1/invites/gifts/announced`: the gifts that no other page has announced. */
export const announcedSchema = page({ data: rows(giftSchema) });

/** `GET /v1/invites/{code}`; rewards in points. */
export const invitationSchema = v.object(
  optional({ name: label, avatar: text, rewards: v.object(optional({ inviter: amount, invitee: amount })) }),
);
export type InvitationDto = v.InferOutput<typeof invitationSchema>;

const minorRules = v.object({
  /** `22:00`, Shanghai time */
  from: label,
  to: label,
  minutes_a_day: count,
  extension_minutes: count,
});

/** A reason, or whether there is one: no, 0 and `none` are null. */
const reason = v.pipe(
  v.union([v.string(), v.number(), v.boolean()]),
  v.transform((raw) => (isEmptyValue(raw) ? null : String(raw).trim().toLowerCase())),
);

const minorEntries = optional({
  on: flag,
  /** `night`, `limit`, or null while use is allowed */
  blocked: reason,
  seconds_left: seconds,
  /** when use is allowed again */
  resumes_at: instant,
  /** from when the account's password can end the mode; null unless requested */
  reset_at: instant,
  rules: minorRules,
});
/** `GET /v1/user/minor` and the calls that change it: 未成年人模式. */
export const minorSchema = v.object(minorEntries);
export type MinorDto = v.InferOutput<typeof minorSchema>;

/** The user's state: null while the mode is off, which some servers state by `on`, or by an empty array. */
const minorStatus = v.pipe(
  v.unknown(),
  v.transform((raw) => (isEmptyValue(raw) ? null : raw)),
  v.nullable(minorSchema),
  v.transform((status) => (status?.on === false ? null : status)),
);

const userEntries = optional({
  name: label,
  username: text,
  avatar: text,
  balance: amount,
  invite_code: label,
  persona: prose,
  gender: word,
  email_verified_at: mark('email_verified_at'),
  checked_in_today: flag,
  check_in_streak: count,
  gifts: rows(giftSchema),
  /** when the account is erased; '' if the date cannot be read */
  deletion_at: mark('deletion_at'),
  /** unread answers of support */
  unread_answers: count,
  /** conversations with a reply that no device has shown */
  unread_conversations: count,
  minor: minorStatus,
  version: count,
});

export const userSchema = v.object({ id, ...userEntries });

/** Fields of the user in an event. */
export const userPatchSchema = v.object({ ...optional({ id }), ...userEntries });

/** `user.updated`: the user under `user`, or flat. */
export const userEventSchema = v.pipe(
  v.unknown(),
  v.transform((event) => (typeof event === 'object' && event !== null && 'user' in event ? event.user : event)),
  userPatchSchema,
);
export type UserDto = v.InferOutput<typeof userSchema>;

const typeEntries = optional({ type: word });
const userWrapper = v.object({ user: singleSchema(userSchema), ...typeEntries });

/** `POST /v1/login` and `POST /v1/register`: the user under `user` or bare, each optionally in `data`. */
export const signedInSchema = v.union([
  userWrapper,
  v.pipe(
    v.object({ data: userWrapper, ...typeEntries }),
    v.transform(({ data, type }) => ({ user: data.user, type: type ?? data.type })),
  ),
  v.pipe(
    v.object({ data: userSchema, ...typeEntries }),
    v.transform(({ data, type }) => ({ user: data, type })),
  ),
  v.pipe(
    userSchema,
    v.transform((user) => ({ user, type: undefined })),
  ),
]);

/** Date of the current terms and privacy policy. `POST /v1/register` sends it as `consent_version`, which the server stores. */
export const CONSENT_VERSION = '2026-11-22';

export const characterSchema = v.object({ id, ...optional({ name: label, avatar: text, intro: prose }) });
export type CharacterDto = v.InferOutput<typeof characterSchema>;

export const storySchema = v.object({
  id,
  ...optional({
    title: label,
    cover_url: text,
    /** placeholder colour until the cover has loaded */
    cover_color: color,
    summary: prose,
    author: v.object(optional({ id, name: label, avatar: text })),
    opening: prose,
    /** suggested first messages; the suggestion itself is free */
    opening_lines: rows(label),
    /** points */
    price_per_message: amount,
    conversation_id: id,
    /** whether the user saved it */
    is_favorite: flag,
    /** progress of the user's conversation; `endings` are the titles of the reached ones */
    progress: v.object(
      optional({ scene: count, scenes: count, title: label, endings: rows(label), endings_count: count }),
    ),
  }),
  ...lists({ tags: label, characters: characterSchema }),
});
export type StoryDto = v.InferOutput<typeof storySchema>;

/** Frameworks for language models name the roles `human` and `ai`. */
const role = v.pipe(
  word,
  v.transform((raw) => (raw === 'human' ? 'user' : raw === 'ai' ? 'assistant' : raw)),
);

export const messageEntries = optional({
  conversation_id: id,
  story_id: id,
  /** Position in the conversation, without gaps. */
  seq: count,
  /** The conversation's version at which the message last changed. */
  version: count,
  /** Grows with each continuation; deltas refer to one revision. */
  revision: count,
  client_id: text,
  role,
  body: verbatim,
  /** Length in code points of a body that was too long for an event. */
  body_length: count,
  status: word,
  error: problem,
  /** points */
  cost: amount,
  /** The variant of a reply that is shown, from 1, and how many there are. */
  variant: count,
  variants: count,
  created_at: instant,
  updated_at: instant,
});
export const messageSchema = v.object({ id, ...messageEntries });
export type MessageDto = v.InferOutput<typeof messageSchema>;

const latestPage = page({
  data: rows(messageSchema),
  ...optional({
    meta: v.object(
      optional({
        conversation_id: id,
        version: count,
        last_seq: count,
        has_more: flag,
        active_message_id: id,
        /** version up to which the user has seen the conversation, on any device */
        read_version: count,
      }),
    ),
  }),
});
/** `is_unread`: the response has rows, but none could be read. */
export type LatestDto = v.InferOutput<typeof latestPage> & { is_unread?: boolean };

/** `GET /v1/messages/latest` */
export const latestSchema = v.pipe(
  latestPage,
  v.transform((page): LatestDto => ({ ...page, is_unread: page.data === unreadRows })),
);

export const conversationSchema = v.object({
  id,
  ...optional({
    story: v.object(optional({ id, title: label, cover_url: text, cover_color: color })),
    last_message: v.object(optional({ id, role, excerpt: prose, created_at: instant })),
    last_seq: count,
    version: count,
    active_message_id: id,
    /** a reply has ended that no device of the user has shown */
    unread: flag,
    /** when the user pinned it */
    pinned_at: instant,
    /** number of this run of the story, from 1 */
    run: count,
    /** replaced by another run */
    shelved: flag,
    created_at: instant,
    updated_at: instant,
  }),
});
export type ConversationDto = v.InferOutput<typeof conversationSchema>;

/** `POST /v1/messages`, `POST /v1/messages/{id}/edit` */
export const sentSchema = v.object({
  message: messageSchema,
  ...optional({ reply: messageSchema, conversation: conversationSchema, balance: amount }),
});
export type SentDto = v.InferOutput<typeof sentSchema>;

/** `POST /v1/messages/continue` and the other actions on a reply */
export const continuedSchema = v.object({ message: messageSchema, ...optional({ balance: amount }) });
export type ContinuedDto = v.InferOutput<typeof continuedSchema>;

/** A suggested line, also as text alone. Nothing refers to its id. */
const suggestedLine = v.pipe(
  v.unknown(),
  v.transform((item) => (typeof item === 'string' ? { text: item } : item)),
  v.object({ text: prose }),
  v.transform(({ text }) => ({ id: text, text })),
);

export const suggestionSchema = v.object({
  id,
  ...optional({ conversation_id: id, base_version: count, status: word, error: problem, expires_at: instant }),
  ...lists({ items: suggestedLine }),
});
export type SuggestionDto = v.InferOutput<typeof suggestionSchema>;

const figures = { points: figure('points', 2), price_cents: figure('price_cents', 0) };

/** `GET /v1/orders/{id}` and `POST /v1/orders` */
export const orderSchema = v.object({
  id,
  ...optional({
    client_id: text,
    package_id: id,
    ...figures,
    status: word,
    method: label,
    checkout_url: text,
    created_at: instant,
    expires_at: instant,
    paid_at: instant,
  }),
});
export type OrderDto = v.InferOutput<typeof orderSchema>;

/** `GET /v1/orders`: orders, the newest first; packages at the server's prices */
export const ordersSchema = page({
  ...lists({ data: orderSchema }),
  ...optional({
    meta: v.object({
      // a package without its figures cannot be bought
      ...lists({ packages: v.object({ id, ...figures, ...optional({ label }) }) }),
      ...optional({ method: label }),
    }),
  }),
});
export type OrdersDto = v.InferOutput<typeof ordersSchema>;

/** `GET /v1/support/tickets` */
export const ticketSchema = v.object({
  id,
  ...optional({
    kind: word,
    body: prose,
    answer: prose,
    answered_at: instant,
    is_unread: flag,
    created_at: instant,
  }),
});
export type TicketDto = v.InferOutput<typeof ticketSchema>;

export const transactionSchema = v.object({
  id,
  ...optional({
    type: word,
    /** signed points */
    amount,
    balance_after: amount,
    description: label,
    created_at: instant,
    /** payment for bought points */
    order: v.object({ id, ...optional({ price_cents: amount, method: label }) }),
  }),
});
export type TransactionDto = v.InferOutput<typeof transactionSchema>;

/** `POST /broadcasting/auth` */
export const channelAuthSchema = v.object({ auth: v.string(), channel_data: v.optional(v.string()) });

/** `POST /v1/check-in` */
export const checkInSchema = v.object(
  optional({
    /** Shanghai day, `2026-11-21` */
    date: day,
    streak: count,
    /** points */
    awarded: amount,
    already_checked_in: flag,
    balance: amount,
  }),
);
export type CheckInDto = v.InferOutput<typeof checkInSchema>;

/** `GET /v1/user/email` */
export const accountEmailSchema = v.object(
  optional({
    email: label,
    verified_at: mark('verified_at'),
    /** requested; becomes the address once the mail's link is opened */
    pending: v.object({ email: label, ...optional({ sent_at: instant }) }),
  }),
);
export type AccountEmailDto = v.InferOutput<typeof accountEmailSchema>;

/** `POST /v1/user/deletion` */
export const deletionSchema = v.object(optional({ deletion_at: mark('deletion_at') }));
export type DeletionDto = v.InferOutput<typeof deletionSchema>;

/** Entry of `GET /v1/user/sessions` */
export const userSessionSchema = v.object({
  id,
  ...optional({ user_agent: text, last_used_at: instant, is_current: flag }),
});
export type UserSessionDto = v.InferOutput<typeof userSessionSchema>;

/** `PUT /v1/user/password` */
export interface PasswordChangeDto {
  current_password: string;
  password: string;
  password_confirmation: string;
}

/** `GET /v1/wechat/signature?url`: allows the page at that URL to use WeChat's JS-SDK. */
export const wechatSignatureSchema = v.pipe(
  v.object({ data: v.object({ app_id: id, timestamp: count, nonce_str: id, signature: id }) }),
  v.transform(({ data }) => ({
    appId: data.app_id,
    timestamp: data.timestamp,
    nonceStr: data.nonce_str,
    signature: data.signature,
  })),
);

const channelEntry = v.nullable(v.object({ set: v.string() }));

/**
 * Fields of `channels/<name>.json` that an open page reads. As lenient as possible, since a page may outlive the release system
 * that served it. Separate from `channelFields`, whose checks would enlarge every page.
 */
export const liveChannelSchema = v.object({
  channel: v.string(),
  seq: v.number(),
  stable: channelEntry,
  candidate: channelEntry,
  moreCandidates: v.optional(v.array(v.object({ set: v.string() }))),
  /** Builds that must not run. */
  killed: v.array(v.string()),
  expires: v.string(),
});

export type LiveChannel = v.InferOutput<typeof liveChannelSchema>;
