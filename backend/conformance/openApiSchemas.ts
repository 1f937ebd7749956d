import { CAPABILITIES, type Capability } from '@liaozhai/shared/contract';
import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';
import {
  CheckIn,
  Conversation,
  LatestMeta,
  Message,
  Minor,
  Order,
  Session,
  Story,
  Suggestion,
  Ticket,
  Transaction,
  text,
  time,
  User,
  whole,
} from './entities.ts';

export type Json = Record<string, unknown>;

export const id = v.pipe(text, v.minLength(1));
export const clientId = v.pipe(text, v.uuid());

export const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: v.GenericSchema): Json => {
  const { $schema: _, ...plain } = toJsonSchema(schema, { target: 'draft-2020-12', errorMode: 'ignore' });
  return plain;
};
export const object = (properties: Record<string, Json>): Json => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});
export const list = (items: Json): Json => ({ type: 'array', items });
export const orNull = (schema: Json): Json => ({ anyOf: [schema, { type: 'null' }] });

export const data = (entity: Json): Json => object({ data: entity });
/** A cursor page, as Laravel's `cursorPaginate()->toResourceCollection()` returns it. */
export const page = (entity: Json): Json =>
  object({ data: list(entity), meta: object({ next_cursor: orNull({ type: 'string' }) }) });

export const story = ref('Story');
export const message = ref('Message');
export const conversation = ref('Conversation');
const balance: Json = { type: 'integer' };
export const sent = object({ message, reply: message, conversation, balance });
export const continued = object({ message, balance });
export const signedIn = object({ user: ref('User'), type: { type: 'string', enum: ['username', 'email'] } });
export const capabilities: Json = {
  ...object({ data: list({ type: 'string', enum: [...CAPABILITIES] }) }),
  properties: { data: list({ type: 'string', enum: [...CAPABILITIES] }), rules: ref('Rules') },
};
export const place = json(v.object({ id, conversation_id: id, seq: whole, created_at: time }));

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

export const parts: Record<string, v.GenericSchema> = {
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
  Minor: Minor.agreed,
  Rules,
  AccountEmail: v.object({
    email: v.nullable(text),
    verified_at: v.nullable(time),
    pending: v.nullable(v.object({ email: text, sent_at: time })),
  }),
  Session: Session.agreed,
  Refusal: v.object({ message: text, code: v.optional(text) }),
  Conflict: v.object({ message: text, code: text, price: v.optional(whole), rules: v.optional(Rules) }),
  InvalidFields: v.object({ message: text, errors: v.record(text, v.array(text)) }),
};

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

export const cursor = { cursor: v.optional(text) };
export const keyed = { client_id: clientId };
/** `price`: the price shown to the reader, with `messages.price`. */
export const paid = { ...keyed, price: v.optional(v.pipe(whole, v.minValue(0))) };
