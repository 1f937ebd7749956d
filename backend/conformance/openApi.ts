// `pnpm openapi`: writes backend/openapi.json, the contract in its strict form, from the schemas that conformance checks.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CAPABILITIES, type Capability } from '@liaozhai/shared/contract';
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import { type Call, calls } from './calls.ts';
import {
  CheckIn,
  Conversation,
  LatestMeta,
  Message,
  Order,
  Story,
  Suggestion,
  Ticket,
  Transaction,
  User,
} from './entities.ts';

type Json = Record<string, unknown>;

const text = v.string();
const id = v.pipe(text, v.minLength(1));
const whole = v.pipe(v.number(), v.integer());
const flag = v.boolean();
const time = v.pipe(text, v.isoTimestamp());
const clientId = v.pipe(text, v.uuid());

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: v.GenericSchema): Json => {
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
/** A cursor page; Laravel's `cursorPaginate()->toResourceCollection()` answers so. */
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

const Rules = v.partial(
  v.object({
    sign_up_gift: whole,
    story_prices: v.record(text, whole),
    continue_price: whole,
    suggestion_price: whole,
    check_in_rewards: v.array(whole),
    invite_reward: v.object({ inviter: whole, invitee: whole }),
  }),
);

const parts: Record<string, v.GenericSchema> = {
  ...Object.fromEntries(
    [User, Story, Message, Conversation, LatestMeta, Suggestion, Transaction, Order, Ticket, CheckIn].map(
      ({ name, agreed }) => [name === 'meta' ? 'LatestMeta' : name, agreed],
    ),
  ),
  Invitation: v.object({
    name: text,
    avatar: v.nullable(text),
    rewards: v.object({ inviter: whole, invitee: whole }),
  }),
  Minor: v.object({
    on: flag,
    blocked: v.nullable(v.picklist(['night', 'limit'])),
    seconds_left: v.nullable(whole),
    resumes_at: v.nullable(time),
    reset_at: v.nullable(time),
    rules: v.object({ from: text, to: text, minutes_a_day: whole, extension_minutes: whole }),
  }),
  Rules,
  AccountEmail: v.object({
    email: v.nullable(text),
    verified_at: v.nullable(time),
    pending: v.nullable(v.object({ email: text, sent_at: time })),
  }),
  Session: v.object({
    id,
    user_agent: v.nullable(text),
    created_at: time,
    last_used_at: time,
    is_current: flag,
  }),
  Refusal: v.object({ message: text, code: v.optional(text) }),
  Conflict: v.object({ message: text, code: text, price: v.optional(whole), rules: v.optional(Rules) }),
  InvalidFields: v.object({ message: text, errors: v.record(text, v.array(text)) }),
};

interface Operation {
  says: string;
  /** the success and its body */
  answer: [status: number, body?: Json];
  query?: Record<string, v.GenericSchema>;
  body?: v.GenericSchema;
  /** what announces it; the specification has the rest */
  capability?: Capability;
  isPublic?: true;
  /** costs points */
  isPaid?: true;
}

const cursor = { cursor: v.optional(text) };
const keyed = { client_id: clientId };
/** `price`: what the reader was shown, with `messages.price`. */
const paid = { ...keyed, price: v.optional(v.pipe(whole, v.minValue(0))) };

/** The HTTP calls, under their names in `calls`. */
const operations: Partial<Record<Call, Operation>> = {
  'GET /v1/stories': {
    says: 'Lists stories, 20 a page. `q`, `tag` and `sort` come with `stories.search`.',
    query: { ...cursor, q: v.optional(text), tag: v.optional(text), sort: v.optional(v.picklist(['new', 'hot'])) },
    answer: [200, page(story)],
    isPublic: true,
  },
  'GET /v1/stories/{id}': { says: 'Returns a story.', answer: [200, data(story)], isPublic: true },
  'PUT /v1/stories/{id}/favorite': {
    says: 'Saves a story for the reader, or no longer.',
    body: v.object({ favorite: flag }),
    answer: [200, data(json(v.object({ id, is_favorite: flag })))],
    capability: 'stories.favorites',
  },
  'GET /v1/favorites': {
    says: 'Lists the stories that the reader saved, the last saved first.',
    query: cursor,
    answer: [200, page(story)],
    capability: 'stories.favorites',
  },
  'POST /v1/messages': {
    says: 'Sends a message; the reply follows over the socket. Names a story or a conversation.',
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
    says: 'Returns a conversation’s last messages, those changed after a version, or those before a seq.',
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
    says: 'Orders suggestions for the reader’s next line.',
    body: v.object({ conversation_id: id, count: v.optional(whole), ...paid }),
    answer: [202, data(ref('Suggestion'))],
    isPaid: true,
  },
  'GET /v1/messages/suggestion/{id}': {
    says: 'Returns an order of suggestions.',
    answer: [200, data(ref('Suggestion'))],
  },
  'POST /v1/messages/continue': {
    says: 'Continues the last reply.',
    body: v.object({ conversation_id: id, message_id: v.optional(id), ...paid }),
    answer: [202, continued],
    isPaid: true,
  },
  'POST /v1/messages/{id}/cancel': {
    says: 'Stops a reply that is being written.',
    body: v.object({ revision: v.optional(whole) }),
    answer: [200, continued],
    capability: 'messages.cancel',
  },
  'POST /v1/messages/{id}/regenerate': {
    says: 'Writes the last reply again, as a further variant.',
    body: v.object(paid),
    answer: [202, continued],
    capability: 'messages.regenerate',
    isPaid: true,
  },
  'POST /v1/messages/{id}/variant': {
    says: 'Shows another variant of the last reply.',
    body: v.object({ variant: whole }),
    answer: [200, continued],
    capability: 'messages.regenerate',
  },
  'POST /v1/messages/{id}/edit': {
    says: 'Replaces one of the reader’s lines and all that follows it.',
    body: v.object({ body: text, revision: v.optional(whole), last_seq: v.optional(whole), ...paid }),
    answer: [201, sent],
    capability: 'messages.edit',
    isPaid: true,
  },
  'GET /v1/messages/search': {
    says: 'Finds words in a conversation.',
    query: { conversation_id: id, q: text },
    answer: [200, object({ data: list(place), meta: object({ total: { type: 'integer' } }) })],
    capability: 'messages.search',
  },
  'GET /v1/messages/days': {
    says: 'Returns the first message of each day.',
    query: { conversation_id: id },
    answer: [200, data(list(place))],
    capability: 'messages.search',
  },
  'POST /v1/messages/{id}/report': {
    says: 'Reports a reply.',
    body: v.object({
      reason: v.picklist(['sexual', 'violent', 'illegal', 'minors', 'rights', 'other']),
      words: v.optional(v.pipe(text, v.maxLength(500))),
    }),
    answer: [201, data(json(v.object({ id, message_id: id, reason: text, created_at: time })))],
    capability: 'messages.report',
  },
  'GET /v1/conversations': {
    says: 'Lists the reader’s conversations, the last used first. `q` comes with `conversations.search`, `story_id` with `conversations.runs`.',
    query: { ...cursor, q: v.optional(text), story_id: v.optional(id) },
    answer: [200, page(conversation)],
  },
  'PUT /v1/conversations/{id}': {
    says: 'Marks a conversation as read, pins or shelves it, or takes that back.',
    body: v.object({ read_version: v.optional(whole), pinned: v.optional(flag), shelved: v.optional(flag) }),
    answer: [200, data(conversation)],
    capability: 'conversations.unread',
  },
  'DELETE /v1/conversations/{id}': { says: 'Deletes a conversation.', answer: [204] },
  'POST /v1/conversations/{id}/restart': {
    says: 'Deletes all messages; the conversation keeps its id.',
    body: v.object({ client_id: v.optional(clientId) }),
    answer: [200, data(conversation)],
    capability: 'conversations.restart',
  },
  'GET /v1/user': { says: 'Returns the signed-in user.', answer: [200, data(ref('User'))] },
  'PUT /v1/user': {
    says: 'Changes the named fields of the profile.',
    body: v.object({
      name: v.optional(text),
      gender: v.optional(v.nullable(text)),
      avatar: v.optional(v.nullable(text)),
      persona: v.optional(v.nullable(v.pipe(text, v.maxLength(1_000)))),
    }),
    answer: [200, data(ref('User'))],
  },
  'PUT /v1/user/password': {
    says: 'Changes the password and ends the other sessions.',
    body: v.object({ current_password: text, password: text, password_confirmation: text }),
    answer: [204],
  },
  'GET /v1/user/email': {
    says: 'Returns the account’s address.',
    answer: [200, data(ref('AccountEmail'))],
    capability: 'account.email',
  },
  'PUT /v1/user/email': {
    says: 'Requests an address; a link in a mail confirms it.',
    body: v.object({ email: text, current_password: text }),
    answer: [202, data(ref('AccountEmail'))],
    capability: 'account.email',
  },
  'POST /v1/user/email/resend': { says: 'Sends that mail again.', answer: [202], capability: 'account.email' },
  'GET /v1/user/sessions': {
    says: 'Lists the account’s sessions.',
    answer: [200, data(list(ref('Session')))],
    capability: 'account.devices',
  },
  'DELETE /v1/user/sessions/{id}': { says: 'Ends a session.', answer: [204], capability: 'account.devices' },
  'DELETE /v1/user/sessions': { says: 'Ends all other sessions.', answer: [204], capability: 'account.devices' },
  'POST /v1/user/deletion': {
    says: 'Requests the end of the account.',
    body: v.object({ current_password: text }),
    answer: [200, data(json(v.object({ deletion_at: time })))],
    capability: 'account.delete',
  },
  'DELETE /v1/user/deletion': { says: 'Withdraws that request.', answer: [204], capability: 'account.delete' },
  'GET /v1/user/minor': {
    says: 'Returns the state of 未成年人模式.',
    answer: [200, data(ref('Minor'))],
    capability: 'account.minor',
  },
  'PUT /v1/user/minor': {
    says: 'Turns the mode on.',
    body: v.object({ pin: v.pipe(text, v.regex(/^\d{4}$/)) }),
    answer: [200, data(ref('Minor'))],
    capability: 'account.minor',
  },
  'POST /v1/user/minor/use': { says: 'Counts use.', answer: [200, data(ref('Minor'))], capability: 'account.minor' },
  'POST /v1/user/minor/unlock': {
    says: 'Gives more time, or turns the mode off.',
    body: v.object({ pin: text, off: v.optional(flag) }),
    answer: [200, data(ref('Minor'))],
    capability: 'account.minor',
  },
  'POST /v1/user/minor/reset': {
    says: 'Ends the mode without its PIN, a day later.',
    body: v.object({ password: text }),
    answer: [200, data(ref('Minor'))],
    capability: 'account.minor',
  },
  'POST /v1/register': {
    says: 'Creates an account and signs it in.',
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
    says: 'Signs in.',
    body: v.object({ login: text, password: text }),
    answer: [200, object({ user: ref('User') })],
    isPublic: true,
  },
  'POST /v1/logout': { says: 'Ends the session.', answer: [204] },
  'GET /v1/email/verify/{id}/{hash}': {
    says: 'Confirms an address by the link of a mail.',
    query: { expires: text, signature: text },
    answer: [200],
    isPublic: true,
  },
  'POST /v1/email/verification-notification/resend': { says: 'Sends the confirmation again.', answer: [202] },
  'POST /v1/forgot-password': {
    says: 'Sends a link for a new password. Known and unknown addresses get the same answer.',
    body: v.object({ email: text }),
    answer: [200],
    capability: 'password.reset',
    isPublic: true,
  },
  'POST /v1/reset-password': {
    says: 'Sets a new password and signs in.',
    body: v.object({ token: text, email: text, password: text, password_confirmation: text }),
    answer: [200, object({ user: ref('User') })],
    capability: 'password.reset',
    isPublic: true,
  },
  'GET /v1/invites/{code}': {
    says: 'Returns who invites and what both get.',
    answer: [200, data(ref('Invitation'))],
    capability: 'invites',
    isPublic: true,
  },
  'POST /v1/invites/gifts/announced': {
    says: 'Removes gifts from the user and returns those that it removed.',
    body: v.object({ ids: v.array(id) }),
    answer: [
      200,
      data(list(json(v.object({ id, points: whole, name: text, side: v.picklist(['inviter', 'invitee']) })))),
    ],
    capability: 'invites',
  },
  'POST /v1/check-in': { says: 'Checks in, once a day.', answer: [200, data(ref('CheckIn'))] },
  'GET /v1/transactions': {
    says: 'Lists what came and went.',
    query: { ...cursor, type: v.optional(text) },
    answer: [200, page(ref('Transaction'))],
  },
  'GET /v1/orders': {
    says: 'Lists orders and what can be bought.',
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
    says: 'Opens an order.',
    body: v.object({ package_id: id, ...keyed }),
    answer: [201, data(ref('Order'))],
    capability: 'orders',
  },
  'GET /v1/orders/{id}': { says: 'Returns an order.', answer: [200, data(ref('Order'))], capability: 'orders' },
  'GET /v1/support/tickets': {
    says: 'Lists the reader’s tickets.',
    query: cursor,
    answer: [200, page(ref('Ticket'))],
    capability: 'support.tickets',
  },
  'POST /v1/support/tickets': {
    says: 'Writes to support.',
    body: v.object({ kind: text, body: text, contact: v.optional(text), diagnostics: v.optional(text), ...keyed }),
    answer: [201, data(ref('Ticket'))],
    capability: 'support.tickets',
  },
  'POST /v1/support/tickets/{id}/read': {
    says: 'Marks an answer as read.',
    answer: [204],
    capability: 'support.tickets',
  },
  'GET /sanctum/csrf-cookie': { says: 'Sets the cookie XSRF-TOKEN.', answer: [204], isPublic: true },
  'POST /broadcasting/auth': {
    says: 'Signs a private channel for a socket.',
    body: v.object({ socket_id: text, channel_name: text }),
    answer: [200, json(v.object({ auth: text, channel_data: v.optional(text) }))],
  },
  'GET /media/avatars.json': {
    says: 'Lists portraits to choose from.',
    answer: [200, data(list(json(text)))],
    isPublic: true,
  },
  'GET /v1/wechat/signature': {
    says: 'Signs the address of a page, without its fragment, for WeChat’s JS-SDK. 422 for another site’s.',
    query: { url: text },
    answer: [200, data(json(v.object({ app_id: text, timestamp: whole, nonce_str: text, signature: text })))],
    capability: 'wechat.share',
    isPublic: true,
  },
  'GET /v1/capabilities': {
    says: 'Names what the server has beyond the specification, and what readers pay and are given.',
    answer: [200, capabilities],
    isPublic: true,
  },
};

const refusal = (description: string, schema = 'Refusal'): Json => ({
  description,
  content: { 'application/json': { schema: ref(schema) } },
});

function operationOf(method: string, path: string, operation: Operation): Json {
  const { says, answer, query = {}, body, capability, isPublic, isPaid } = operation;
  const [status, answered] = answer;
  const segments = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  return {
    summary: says,
    ...(capability && { 'x-capability': capability }),
    tags: [path.split('/').find((part) => !['', 'api', 'v1'].includes(part))],
    security: isPublic ? [] : [{ session: [], ...(method !== 'GET' && { token: [] }) }],
    parameters: [
      ...segments.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
      ...Object.entries(query).map(([name, schema]) => ({
        name,
        in: 'query',
        required: schema.type !== 'optional',
        schema: json(schema),
      })),
    ],
    ...(body && { requestBody: { required: true, content: { 'application/json': { schema: json(body) } } } }),
    responses: {
      [status]: {
        description: answered ? 'Done' : 'Done, without a body',
        ...(answered && { content: { 'application/json': { schema: answered } } }),
      },
      ...(!isPublic && { 401: refusal('Not signed in') }),
      ...(segments.length > 0 && { 404: refusal('Missing, or somebody else’s') }),
      ...(isPaid && { 409: refusal('Conflict; `price_changed` where it costs more than `price`', 'Conflict') }),
      ...(method !== 'GET' && { 419: refusal('The CSRF token is missing or old') }),
      ...(body && { 422: refusal('Fields that cannot be accepted', 'InvalidFields') }),
      429: {
        ...refusal('Too many requests'),
        headers: { 'Retry-After': { description: 'Seconds', schema: { type: 'integer' } } },
      },
    },
  };
}

/** OpenAPI 3.1 of the contract. Servers send this form; the page also reads the looser ones that docs/api.md lists. */
export function openApi(): Json {
  const paths: Record<string, Json> = {};
  for (const [call, operation] of Object.entries(operations)) {
    const [method = '', named = ''] = call.split(' ');
    const path = /^\/(v1|media)\//.test(named) ? `/api${named}` : named;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(method, path, operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Liaozhai API',
      version: '1.0.0',
      description: 'Calls with `x-capability` are optional: a server announces them by `GET /api/v1/capabilities`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(parts).map(([name, schema]) => [name, json(schema)])),
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'laravel_session', description: 'Sanctum’s session cookie' },
        token: { type: 'apiKey', in: 'header', name: 'X-XSRF-TOKEN', description: 'The decoded cookie XSRF-TOKEN' },
      },
    },
  };
}

/** Calls that are no calls of a page, or stand under another name here. */
const leftOut: Call[] = [
  'GET /v1/conversations?q',
  'POST /v1/payments/webhook/{provider}',
  'POST /broadcasting/user-auth',
  'WS /app/{key}',
  'every call',
];

/** Calls of the contract that the document lacks. */
export const undocumented = (): string[] =>
  (Object.keys(calls) as Call[]).filter((call) => !(call in operations) && !leftOut.includes(call));

export const openApiText = (): string => `${JSON.stringify(openApi(), null, 2)}\n`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(import.meta.dirname, '../openapi.json'), openApiText());
}
