import * as v from 'valibot';

// What the API answers and sends over the socket, snake_case and all. A Laravel of one's own may add fields, write ids
// as numbers and leave out or mistype what is optional: such a field reads as missing. Only what an entity is nothing
// without (its id, a message in an answer) is required, and an answer that lacks it is none of ours: a captive portal's
// page, a body cut short.

const id = v.union([v.pipe(v.string(), v.minLength(1)), v.number()]);
/** The value, or undefined where it is missing or of another type. */
const lenient = <Schema extends v.GenericSchema>(schema: Schema) => v.fallback(v.nullish(schema), undefined);
const optionalId = lenient(id);
const optionalText = lenient(v.string());
const optionalNumber = lenient(v.number());
const optionalBoolean = lenient(v.boolean());
/** `#rrggbb`, the colour a picture is painted on */
const optionalColor = lenient(v.pipe(v.string(), v.regex(/^#[\da-f]{6}$/i)));
const problem = lenient(v.object({ code: optionalText, message: optionalText }));
const soundEntries =
  <Schema extends v.GenericSchema>(entry: Schema) =>
  (entries: unknown[]): v.InferOutput<Schema>[] =>
    entries.flatMap((value) => {
      const parsed = v.safeParse(entry, value);
      return parsed.success ? [parsed.output] : [];
    });
/** Every entry that is one; what is no list reads as empty. */
const list = <Schema extends v.GenericSchema>(entry: Schema) =>
  v.fallback(v.pipe(v.nullish(v.array(v.unknown()), []), v.transform(soundEntries(entry))), []);

/** One page of a list, in whichever of Laravel's forms it came. */
export interface CursorPage<Item> {
  items: Item[];
  /** null at the end */
  nextCursor: string | null;
}

/** `{ data, meta: { next_cursor } }`, `{ data, next_cursor }` or a bare list; an entry that is none is left out. */
export const cursorPageSchema = <Schema extends v.GenericSchema>(entry: Schema) =>
  v.pipe(
    v.union([
      v.object({
        data: v.array(v.unknown()),
        meta: lenient(v.object({ next_cursor: optionalText })),
        next_cursor: optionalText,
      }),
      v.pipe(
        v.array(v.unknown()),
        v.transform((data) => ({ data, meta: undefined, next_cursor: undefined })),
      ),
    ]),
    v.transform(
      ({ data, meta, next_cursor }): CursorPage<v.InferOutput<Schema>> => ({
        items: soundEntries(entry)(data),
        nextCursor: meta?.next_cursor || next_cursor || null,
      }),
    ),
  );

function withoutWrapper(body: unknown): unknown {
  const data = typeof body === 'object' && body !== null && 'data' in body ? body.data : undefined;
  return typeof data === 'object' && data !== null && !Array.isArray(data) ? data : body;
}

/** A single entity, bare or wrapped in `data`. */
export const singleSchema = <Schema extends v.GenericSchema>(entity: Schema) =>
  v.pipe(v.unknown(), v.transform(withoutWrapper), entity);

export type Id = v.InferOutput<typeof id>;

const gift = v.object({ id, points: v.number(), name: optionalText, side: optionalText });

/** Points that came by an invitation and are still to be announced; `side` is `inviter` or `invitee`. */
export const giftsSchema = list(gift);
export type GiftDto = v.InferOutput<typeof gift>;

/** `POST /v1/invites/gifts/announced`: those that this page is to announce, since no other has. */
export const announcedSchema = v.object({ data: giftsSchema });

/** `GET /v1/invites/{code}`; rewards in points. */
export const invitationSchema = v.object({
  name: v.string(),
  avatar: optionalText,
  rewards: lenient(v.object({ inviter: optionalNumber, invitee: optionalNumber })),
});
export type InvitationDto = v.InferOutput<typeof invitationSchema>;

const minorRules = v.object({
  /** `22:00`, Shanghai */
  from: v.string(),
  to: v.string(),
  minutes_a_day: v.number(),
  extension_minutes: v.number(),
});

const minorStatus = v.object({
  /** `night`, `limit`, or null while it may be used */
  blocked: optionalText,
  seconds_left: optionalNumber,
  /** from when on it may be used again */
  resumes_at: optionalText,
  /** from when on the account's password ends the mode; null unless asked for */
  reset_at: optionalText,
  rules: lenient(minorRules),
});
export type MinorStatusDto = v.InferOutput<typeof minorStatus>;

/** `GET /v1/user/minor` and whatever changes it: 未成年人模式. */
export const minorSchema = v.object({
  on: v.boolean(),
  ...minorStatus.entries,
  rules: minorRules,
});
export type MinorDto = v.InferOutput<typeof minorSchema>;

export const userSchema = v.object({
  id,
  name: optionalText,
  username: optionalText,
  avatar: optionalText,
  balance: optionalNumber,
  invite_code: optionalText,
  persona: optionalText,
  gender: optionalText,
  email_verified_at: optionalText,
  checked_in_today: optionalBoolean,
  check_in_streak: optionalNumber,
  gifts: lenient(v.array(v.unknown())),
  /** when the account is erased, unless that is taken back */
  deletion_at: optionalText,
  /** answers of support that were not looked at */
  unread_answers: optionalNumber,
  /** conversations with a reply that was seen on no device */
  unread_conversations: optionalNumber,
  /** there while 未成年人模式 is on */
  minor: lenient(minorStatus),
  version: optionalNumber,
});
export type UserDto = v.InferOutput<typeof userSchema>;

const withType = { type: optionalText };
const underUser = v.object({ user: singleSchema(userSchema), ...withType });

/** `POST /v1/login` and `POST /v1/register`: the user under `user` or bare, either of them wrapped in `data` or not. */
export const signedInSchema = v.union([
  underUser,
  v.pipe(
    v.object({ data: underUser, ...withType }),
    v.transform(({ data, type }) => ({ user: data.user, type: type ?? data.type })),
  ),
  v.pipe(
    v.object({ data: userSchema, ...withType }),
    v.transform(({ data, type }) => ({ user: data, type })),
  ),
  v.pipe(
    userSchema,
    v.transform((user) => ({ user, type: undefined })),
  ),
]);

/**
 * The day of the terms and the privacy policy as they stand. `POST /v1/register` names it as `consent_version`, where the
 * server keeps it.
 */
export const CONSENT_VERSION = '2026-11-22';

export const characterSchema = v.object({ id, name: v.string(), avatar: optionalText, intro: optionalText });
export type CharacterDto = v.InferOutput<typeof characterSchema>;

export const storySchema = v.object({
  id,
  title: v.string(),
  cover_url: optionalText,
  /** holds the cover's place until it is there */
  cover_color: optionalColor,
  summary: optionalText,
  tags: list(v.string()),
  author: lenient(v.object({ id: optionalId, name: optionalText, avatar: optionalText })),
  opening: optionalText,
  characters: list(characterSchema),
  /** points */
  price_per_message: optionalNumber,
  conversation_id: optionalId,
});
export type StoryDto = v.InferOutput<typeof storySchema>;

export const messageSchema = v.object({
  id,
  conversation_id: optionalId,
  story_id: optionalId,
  /** Orders the conversation, without gaps. */
  seq: optionalNumber,
  /** The conversation's version at which the message last changed. */
  version: optionalNumber,
  /** Grows with each continuation; deltas belong to one revision. */
  revision: optionalNumber,
  client_id: optionalText,
  role: optionalText,
  body: optionalText,
  /** Code points of a body that was too long for an event. */
  body_length: optionalNumber,
  status: optionalText,
  error: problem,
  /** points */
  cost: optionalNumber,
  /** Which of its texts, from 1, a reply shows, and how many it has. */
  variant: optionalNumber,
  variants: optionalNumber,
  created_at: optionalText,
  updated_at: optionalText,
});
export type MessageDto = v.InferOutput<typeof messageSchema>;

/** `GET /v1/messages/latest` */
export const latestSchema = v.object({
  data: v.array(messageSchema),
  meta: lenient(
    v.object({
      conversation_id: optionalId,
      version: optionalNumber,
      last_seq: optionalNumber,
      has_more: optionalBoolean,
      active_message_id: optionalId,
      /** up to which version the reader has seen the conversation, on any device */
      read_version: optionalNumber,
    }),
  ),
});
export type LatestDto = v.InferOutput<typeof latestSchema>;

export const conversationSchema = v.object({
  id,
  story: lenient(v.object({ id, title: optionalText, cover_url: optionalText, cover_color: optionalColor })),
  last_message: lenient(v.object({ id, role: optionalText, excerpt: optionalText, created_at: optionalText })),
  last_seq: optionalNumber,
  version: optionalNumber,
  active_message_id: optionalId,
  /** a reply has ended that was seen on none of the reader's devices */
  unread: optionalBoolean,
  /** when the reader put it first */
  pinned_at: optionalText,
  created_at: optionalText,
  updated_at: optionalText,
});
export type ConversationDto = v.InferOutput<typeof conversationSchema>;

/** `POST /v1/messages`, `POST /v1/messages/{id}/edit` */
export const sentSchema = v.object({
  message: messageSchema,
  reply: lenient(messageSchema),
  conversation: lenient(conversationSchema),
  balance: optionalNumber,
});
export type SentDto = v.InferOutput<typeof sentSchema>;

/** `POST /v1/messages/continue`, and what else is done about a reply */
export const continuedSchema = v.object({ message: messageSchema, balance: optionalNumber });
export type ContinuedDto = v.InferOutput<typeof continuedSchema>;

export const suggestionSchema = v.object({
  id,
  conversation_id: optionalId,
  base_version: optionalNumber,
  status: optionalText,
  items: list(v.object({ id, text: v.string() })),
  error: problem,
  expires_at: optionalText,
});
export type SuggestionDto = v.InferOutput<typeof suggestionSchema>;

/** `GET /v1/orders/{id}`, and what `POST /v1/orders` answers */
export const orderSchema = v.object({
  id,
  client_id: optionalText,
  package_id: optionalId,
  points: v.number(),
  price_cents: v.number(),
  status: optionalText,
  method: optionalText,
  checkout_url: optionalText,
  created_at: optionalText,
  expires_at: optionalText,
  paid_at: optionalText,
});
export type OrderDto = v.InferOutput<typeof orderSchema>;

/** `GET /v1/orders`: the newest first, and what can be bought at the server's own prices */
export const ordersSchema = v.object({
  data: list(orderSchema),
  meta: lenient(
    v.object({
      packages: list(v.object({ id: v.string(), points: v.number(), price_cents: v.number(), label: optionalText })),
      method: optionalText,
    }),
  ),
});
export type OrdersDto = v.InferOutput<typeof ordersSchema>;

/** `GET /v1/support/tickets` */
export const ticketSchema = v.object({
  id,
  kind: optionalText,
  body: v.string(),
  answer: optionalText,
  answered_at: optionalText,
  is_unread: optionalBoolean,
  created_at: optionalText,
});
export type TicketDto = v.InferOutput<typeof ticketSchema>;

export const transactionSchema = v.object({
  id,
  type: v.fallback(v.string(), ''),
  /** signed points */
  amount: v.number(),
  balance_after: optionalNumber,
  description: optionalText,
  created_at: v.string(),
  /** what was paid for points that were bought */
  order: lenient(v.object({ id, price_cents: v.number(), method: optionalText })),
});
export type TransactionDto = v.InferOutput<typeof transactionSchema>;

/** `POST /broadcasting/auth` */
export const channelAuthSchema = v.object({ auth: v.string(), channel_data: optionalText });

/** `POST /v1/check-in` */
export const checkInSchema = v.object({
  /** Shanghai day, `2026-11-21` */
  date: v.string(),
  streak: v.number(),
  /** points */
  awarded: v.number(),
  already_checked_in: optionalBoolean,
  balance: v.number(),
});
export type CheckInDto = v.InferOutput<typeof checkInSchema>;

/** `GET /v1/user/email` */
export const accountEmailSchema = v.object({
  email: optionalText,
  verified_at: optionalText,
  /** asked for; the mail's link confirms it */
  pending: lenient(v.object({ email: v.string(), sent_at: optionalText })),
});
export type AccountEmailDto = v.InferOutput<typeof accountEmailSchema>;

/** `POST /v1/user/deletion` */
export const deletionSchema = v.object({ deletion_at: optionalText });
export type DeletionDto = v.InferOutput<typeof deletionSchema>;

/** One of `GET /v1/user/sessions` */
export const userSessionSchema = v.object({
  id,
  user_agent: optionalText,
  last_used_at: optionalText,
  is_current: optionalBoolean,
});
export type UserSessionDto = v.InferOutput<typeof userSessionSchema>;

/** `PUT /v1/user/password` */
export interface PasswordChangeDto {
  current_password: string;
  password: string;
  password_confirmation: string;
}

/** Events of the user's channel; the message stands in an envelope, or flat. */
export const messageEventSchema = v.object({
  ...v.partial(messageSchema).entries,
  message: lenient(messageSchema),
  /** All messages after it are gone. */
  last_seq: optionalNumber,
  truncated: optionalBoolean,
});
export type MessageEventDto = v.InferOutput<typeof messageEventSchema>;

/** `message.delta`; `offset` in code points. */
export const deltaEventSchema = v.object({
  message_id: id,
  conversation_id: id,
  revision: v.number(),
  offset: v.number(),
  text: v.string(),
});
export type DeltaEventDto = v.InferOutput<typeof deltaEventSchema>;

/** `conversation.deleted`, `conversation.restarted`, `suggestion.ready` */
export const idEventSchema = v.object({ id, conversation_id: optionalId, version: optionalNumber });
export type IdEventDto = v.InferOutput<typeof idEventSchema>;

/** `conversation.updated`: read or put first, by whichever device. */
export const conversationEventSchema = v.object({ conversation: conversationSchema });

/** Names of the events, as `broadcastAs` gives them. */
export const eventNames = [
  'message.created',
  'message.delta',
  'message.completed',
  'message.failed',
  'suggestion.ready',
  'conversation.updated',
  'conversation.deleted',
  'conversation.restarted',
  'balance.updated',
  'user.updated',
  'order.updated',
  'ticket.answered',
  /** a session of the user has ended; pages ask whether it was theirs */
  'session.ended',
] as const;

/** For events whose payload nobody reads. */
export const anyPayload = v.unknown();

/** `value` as `schema` reads it; undefined where it is of another shape. */
export function readAs<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> | undefined {
  const parsed = v.safeParse(schema, value);
  return parsed.success ? parsed.output : undefined;
}

/**
 * What a server may have beyond the specification. It announces what it has by `GET /v1/capabilities`; pages show
 * nothing of the rest, so that a server with the specification's calls alone is never asked for others.
 */
export const CAPABILITIES = [
  /** `GET /v1/stories?q&tag&sort` */
  'stories.search',
  /** a conversation says whether it has something new, and can be marked as read */
  'conversations.unread',
  'conversations.search',
  'conversations.pin',
  'conversations.restart',
  /** words and days within a conversation */
  'messages.search',
  'messages.cancel',
  'messages.regenerate',
  'messages.edit',
  'messages.report',
  'password.reset',
  /** keeps to which version of the terms an account agreed, and when */
  'account.consent',
  'account.email',
  'account.devices',
  'account.delete',
  'account.minor',
  /** who stands behind an invite code, and what both get */
  'invites',
  'support.tickets',
  'orders',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

const isKnown = (name: unknown): name is Capability => CAPABILITIES.some((known) => known === name);

/** `{ data: [...] }`; names of a newer server are left out. */
export const capabilitiesSchema = v.pipe(
  v.object({ data: v.array(v.unknown()) }),
  v.transform(({ data }) => data.filter(isKnown)),
);

const live = v.nullable(v.object({ set: v.string() }));

/**
 * What an open page reads of `channels/<name>.json`: no more than it needs and no stricter, since a page may outlive the
 * release system that served it. Apart from `channelFields`, whose checks would weigh on every page.
 */
export const liveChannelSchema = v.object({
  channel: v.string(),
  seq: v.number(),
  stable: live,
  candidate: live,
  moreCandidates: v.optional(v.array(v.object({ set: v.string() }))),
  /** Builds that must not run anywhere. */
  killed: v.array(v.string()),
  expires: v.string(),
});

export type LiveChannel = v.InferOutput<typeof liveChannelSchema>;
