import { CAPABILITIES, type Capability } from '@liaozhai/shared/contract';
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import type { Call } from './calls.ts';
import { flag, text, time, whole } from './entities.ts';

export type Json = Record<string, unknown>;

const id = v.pipe(text, v.minLength(1));
const clientId = v.pipe(text, v.uuid());

export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: v.GenericSchema): Json => {
  const { $schema: _, ...plain } = toJsonSchema(schema, { target: 'draft-2020-12', errorMode: 'ignore' });
  return plain;
};
const object = (properties: Record<string, Json>): Json => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});
const list = (items: Json): Json => ({ type: 'array', items });
const orNull = (schema: Json): Json => ({ anyOf: [schema, { type: 'null' }] });

const data = (entity: Json): Json => object({ data: entity });
/** A cursor page, as Laravel's `cursorPaginate()->toResourceCollection()` returns it. */
const page = (entity: Json): Json =>
  object({ data: list(entity), meta: object({ next_cursor: orNull({ type: 'string' }) }) });

const story = ref('Story');
const message = ref('Message');
const conversation = ref('Conversation');
const balance: Json = { type: 'integer' };
const sent = object({ message, reply: message, conversation, balance });
const continued = object({ message, balance });
const signedIn = object({ user: ref('User'), type: { type: 'string', enum: ['username', 'email'] } });
const capabilities: Json = {
  ...object({ data: list({ type: 'string', enum: [...CAPABILITIES] }) }),
  properties: { data: list({ type: 'string', enum: [...CAPABILITIES] }), rules: ref('Rules') },
};
const place = json(v.object({ id, conversation_id: id, seq: whole, created_at: time }));

export interface Operation {
  summary: string;
  answer: [status: number, body?: Json];
  query?: Record<string, v.GenericSchema>;
  body?: v.ObjectSchema<v.ObjectEntries, undefined>;
  /** capability that announces the call; absent if it is part of the specification */
  capability?: Capability;
  isPublic?: true;
  /** costs points */
  isPaid?: true;
}

const cursor = { cursor: v.optional(text) };
const keyed = { client_id: clientId };
/** `price`: the price shown to the reader, with `messages.price`. */
const paid = { ...keyed, price: v.optional(v.pipe(whole, v.minValue(0))) };

export const operations: Partial<Record<Call, Operation>> = {
  'GET /v1/stories': {
    summary: 'Lists stories, 20 a page. `q`, `tag` and `sort` come with `stories.search`.',
    query: { ...cursor, q: v.optional(text), tag: v.optional(text), sort: v.optional(v.picklist(['new', 'hot'])) },
    answer: [200, page(story)],
    isPublic: true,
  },
  'GET /v1/stories/{id}': { summary: 'Returns a story.', answer: [200, data(story)], isPublic: true },
  'PUT /v1/stories/{id}/favorite': {
    summary: 'Saves a story for the reader, or no longer.',
    body: v.object({ favorite: flag }),
    answer: [200, data(json(v.object({ id, is_favorite: flag })))],
    capability: 'stories.favorites',
  },
  'GET /v1/favorites': {
    summary: 'Lists the stories that the reader saved, the last saved first.',
    query: cursor,
    answer: [200, page(story)],
    capability: 'stories.favorites',
  },
  'POST /v1/messages': {
    summary: 'Sends a message; the reply follows over the socket. Names a story or a conversation.',
    body: v.object({
      story_id: v.optional(id),
      conversation_id: v.optional(id),
      body: v.pipe(text, v.minLength(1), v.maxLength(2_000)),
      suggestion_id: v.optional(id),
      ...paid,
    }),
    answer: [201, sent],
    isPaid: true,
  },
  'GET /v1/messages/latest': {
    summary: 'Returns a conversation’s last messages, those changed after a version, or those before a seq.',
    query: {
      conversation_id: v.optional(id),
      story_id: v.optional(id),
      after: v.optional(whole),
      before: v.optional(whole),
      limit: v.optional(whole),
    },
    answer: [200, object({ data: list(message), meta: ref('LatestMeta') })],
  },
  'POST /v1/messages/suggestion': {
    summary: 'Orders suggestions for the reader’s next line.',
    body: v.object({ conversation_id: id, count: v.optional(whole), ...paid }),
    answer: [202, data(ref('Suggestion'))],
    isPaid: true,
  },
  'GET /v1/messages/suggestion/{id}': {
    summary: 'Returns an order of suggestions.',
    answer: [200, data(ref('Suggestion'))],
  },
  'POST /v1/messages/continue': {
    summary: 'Continues the last reply.',
    body: v.object({ conversation_id: id, message_id: v.optional(id), ...paid }),
    answer: [202, continued],
    isPaid: true,
  },
  'POST /v1/messages/{id}/cancel': {
    summary: 'Stops a reply that is being written.',
    body: v.object({ revision: v.optional(whole) }),
    answer: [200, continued],
    capability: 'messages.cancel',
  },
  'POST /v1/messages/{id}/regenerate': {
    summary: 'Writes the last reply again, as a further variant.',
    body: v.object(paid),
    answer: [202, continued],
    capability: 'messages.regenerate',
    isPaid: true,
  },
  'POST /v1/messages/{id}/variant': {
    summary: 'Shows another variant of the last reply.',
    body: v.object({ variant: whole }),
    answer: [200, continued],
    capability: 'messages.regenerate',
  },
  'POST /v1/messages/{id}/edit': {
    summary: 'Replaces one of the reader’s lines and all that follows it.',
    body: v.object({ body: text, revision: v.optional(whole), last_seq: v.optional(whole), ...paid }),
    answer: [201, sent],
    capability: 'messages.edit',
    isPaid: true,
  },
  'GET /v1/messages/search': {
    summary: 'Finds words in a conversation.',
    query: { conversation_id: id, q: text },
    answer: [200, object({ data: list(place), meta: object({ total: { type: 'integer' } }) })],
    capability: 'messages.search',
  },
  'GET /v1/messages/days': {
    summary: 'Returns the first message of each day.',
    query: { conversation_id: id },
    answer: [200, data(list(place))],
    capability: 'messages.search',
  },
  'POST /v1/messages/{id}/report': {
    summary: 'Reports a reply.',
    body: v.object({
      reason: v.picklist(['sexual', 'violent', 'illegal', 'minors', 'rights', 'other']),
      words: v.optional(v.pipe(text, v.maxLength(500))),
    }),
    answer: [201, data(json(v.object({ id, message_id: id, reason: text, created_at: time })))],
    capability: 'messages.report',
  },
  'GET /v1/conversations': {
    summary:
      'Lists the reader’s conversations, the last used first. `q` comes with `conversations.search`, `story_id` with `conversations.runs`.',
    query: { ...cursor, q: v.optional(text), story_id: v.optional(id) },
    answer: [200, page(conversation)],
  },
  'PUT /v1/conversations/{id}': {
    summary: 'Marks a conversation as read, pins or shelves it, or takes that back.',
    body: v.object({ read_version: v.optional(whole), pinned: v.optional(flag), shelved: v.optional(flag) }),
    answer: [200, data(conversation)],
    capability: 'conversations.unread',
  },
  'DELETE /v1/conversations/{id}': { summary: 'Deletes a conversation.', answer: [204] },
  'POST /v1/conversations/{id}/restart': {
    summary: 'Deletes all messages; the conversation keeps its id.',
    body: v.object({ client_id: v.optional(clientId) }),
    answer: [200, data(conversation)],
    capability: 'conversations.restart',
  },
  'GET /v1/user': { summary: 'Returns the signed-in user.', answer: [200, data(ref('User'))] },
  'PUT /v1/user': {
    summary: 'Changes the named fields of the profile.',
    body: v.object({
      name: v.optional(text),
      gender: v.optional(v.nullable(text)),
      avatar: v.optional(v.nullable(text)),
      persona: v.optional(v.nullable(v.pipe(text, v.maxLength(1_000)))),
    }),
    answer: [200, data(ref('User'))],
  },
  'PUT /v1/user/password': {
    summary: 'Changes the password and ends the other sessions.',
    body: v.object({ current_password: text, password: text, password_confirmation: text }),
    answer: [204],
  },
  'GET /v1/user/email': {
    summary: 'Returns the account’s address.',
    answer: [200, data(ref('AccountEmail'))],
    capability: 'account.email',
  },
  'PUT /v1/user/email': {
    summary: 'Requests an address; a link in a mail confirms it.',
    body: v.object({ email: text, current_password: text }),
    answer: [202, data(ref('AccountEmail'))],
    capability: 'account.email',
  },
  'POST /v1/user/email/resend': { summary: 'Sends that mail again.', answer: [202], capability: 'account.email' },
  'GET /v1/user/sessions': {
    summary: 'Lists the account’s sessions.',
    answer: [200, data(list(ref('Session')))],
    capability: 'account.devices',
  },
  'DELETE /v1/user/sessions/{id}': { summary: 'Ends a session.', answer: [204], capability: 'account.devices' },
  'DELETE /v1/user/sessions': { summary: 'Ends all other sessions.', answer: [204], capability: 'account.devices' },
  'POST /v1/user/deletion': {
    summary: 'Requests the end of the account.',
    body: v.object({ current_password: text }),
    answer: [200, data(json(v.object({ deletion_at: time })))],
    capability: 'account.delete',
  },
  'DELETE /v1/user/deletion': { summary: 'Withdraws that request.', answer: [204], capability: 'account.delete' },
  'GET /v1/user/minor': {
    summary: 'Returns the state of 未成年人模式.',
    answer: [200, data(ref('Minor'))],
    capability: 'account.minor',
  },
  'PUT /v1/user/minor': {
    summary: 'Turns the mode on.',
    body: v.object({ pin: v.pipe(text, v.regex(/^\d{4}$/)) }),
    answer: [200, data(ref('Minor'))],
    capability: 'account.minor',
  },
  'POST /v1/user/minor/use': { summary: 'Counts use.', answer: [200, data(ref('Minor'))], capability: 'account.minor' },
  'POST /v1/user/minor/unlock': {
    summary: 'Gives more time, or turns the mode off.',
    body: v.object({ pin: text, off: v.optional(flag) }),
    answer: [200, data(ref('Minor'))],
    capability: 'account.minor',
  },
  'POST /v1/user/minor/reset': {
    summary: 'Ends the mode without its PIN, a day later.',
    body: v.object({ password: text }),
    answer: [200, data(ref('Minor'))],
    capability: 'account.minor',
  },
  'POST /v1/register': {
    summary: 'Creates an account and signs it in.',
    body: v.object({
      login: text,
      password: v.pipe(text, v.minLength(6)),
      name: text,
      gender: v.optional(text),
      invite_code: v.optional(text),
      consent_version: v.optional(v.pipe(text, v.isoDate())),
    }),
    answer: [201, signedIn],
    isPublic: true,
  },
  'POST /v1/login': {
    summary: 'Signs in.',
    body: v.object({ login: text, password: text }),
    answer: [200, object({ user: ref('User') })],
    isPublic: true,
  },
  'POST /v1/logout': { summary: 'Ends the session.', answer: [204] },
  'GET /v1/email/verify/{id}/{hash}': {
    summary: 'Confirms an address by the link of a mail.',
    query: { expires: text, signature: text },
    answer: [200],
    isPublic: true,
  },
  'POST /v1/email/verification-notification/resend': { summary: 'Sends the confirmation again.', answer: [202] },
  'POST /v1/forgot-password': {
    summary: 'Sends a link for a new password. Known and unknown addresses get the same answer.',
    body: v.object({ email: text }),
    answer: [200],
    capability: 'password.reset',
    isPublic: true,
  },
  'POST /v1/reset-password': {
    summary: 'Sets a new password and signs in.',
    body: v.object({ token: text, email: text, password: text, password_confirmation: text }),
    answer: [200, object({ user: ref('User') })],
    capability: 'password.reset',
    isPublic: true,
  },
  'GET /v1/invites/{code}': {
    summary: 'Returns who invites and what both get.',
    answer: [200, data(ref('Invitation'))],
    capability: 'invites',
    isPublic: true,
  },
  'POST /v1/invites/gifts/announced': {
    summary: 'Removes gifts from the user and returns those that it removed.',
    body: v.object({ ids: v.array(id) }),
    answer: [
      200,
      data(list(json(v.object({ id, points: whole, name: text, side: v.picklist(['inviter', 'invitee']) })))),
    ],
    capability: 'invites',
  },
  'POST /v1/check-in': { summary: 'Checks in, once a day.', answer: [200, data(ref('CheckIn'))] },
  'GET /v1/transactions': {
    summary: 'Lists what came and went.',
    query: { ...cursor, type: v.optional(text) },
    answer: [200, page(ref('Transaction'))],
  },
  'GET /v1/orders': {
    summary: 'Lists orders and what can be bought.',
    query: cursor,
    answer: [
      200,
      object({
        data: list(ref('Order')),
        meta: object({
          next_cursor: orNull({ type: 'string' }),
          method: { type: 'string' },
          packages: list(json(v.object({ id, points: whole, price_cents: whole, label: v.optional(text) }))),
        }),
      }),
    ],
    capability: 'orders',
  },
  'POST /v1/orders': {
    summary: 'Opens an order.',
    body: v.object({ package_id: id, ...keyed }),
    answer: [201, data(ref('Order'))],
    capability: 'orders',
  },
  'GET /v1/orders/{id}': { summary: 'Returns an order.', answer: [200, data(ref('Order'))], capability: 'orders' },
  'GET /v1/support/tickets': {
    summary: 'Lists the reader’s tickets.',
    query: cursor,
    answer: [200, page(ref('Ticket'))],
    capability: 'support.tickets',
  },
  'POST /v1/support/tickets': {
    summary: 'Writes to support.',
    body: v.object({ kind: text, body: text, contact: v.optional(text), diagnostics: v.optional(text), ...keyed }),
    answer: [201, data(ref('Ticket'))],
    capability: 'support.tickets',
  },
  'POST /v1/support/tickets/{id}/read': {
    summary: 'Marks an answer as read.',
    answer: [204],
    capability: 'support.tickets',
  },
  'GET /sanctum/csrf-cookie': { summary: 'Sets the cookie XSRF-TOKEN.', answer: [204], isPublic: true },
  'POST /broadcasting/auth': {
    summary: 'Signs a private channel for a socket.',
    body: v.object({ socket_id: text, channel_name: text }),
    answer: [200, json(v.object({ auth: text, channel_data: v.optional(text) }))],
  },
  'GET /media/avatars.json': {
    summary: 'Lists portraits to choose from.',
    answer: [200, data(list(json(text)))],
    isPublic: true,
  },
  'GET /v1/wechat/signature': {
    summary: 'Signs the address of a page, without its fragment, for WeChat’s JS-SDK. 422 for another site’s.',
    query: { url: text },
    answer: [200, data(json(v.object({ app_id: text, timestamp: whole, nonce_str: text, signature: text })))],
    capability: 'wechat.share',
    isPublic: true,
  },
  'GET /v1/capabilities': {
    summary: 'Names what the server has beyond the specification, and what readers pay and are given.',
    answer: [200, capabilities],
    isPublic: true,
  },
};
