import {
  checkInSchema,
  conversationSchema,
  messageSchema,
  minorSchema,
  orderSchema,
  storySchema,
  suggestionSchema,
  ticketSchema,
  transactionSchema,
  userSchema,
} from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { Deviation, shown } from './check.ts';

/** An entity of the API, as the page reads it and as the contract describes it. */
export class Entity {
  readonly agreed: v.GenericSchema;

  /**
   * @param read the page's tolerant schema, which ignores missing and mistyped fields
   * @param fields every field of the contract
   */
  constructor(
    readonly name: string,
    readonly read: v.GenericSchema,
    fields: v.ObjectEntries,
  ) {
    this.agreed = v.looseObject(fields);
  }

  /** Throws `Deviation` unless the page can read the values. */
  expectReadable(...values: unknown[]): void {
    for (const value of values) {
      const [issue] = v.safeParse(this.read, value).issues ?? [];
      if (issue) throw new Deviation(describe(this.name, issue));
    }
  }

  /** Throws `Deviation` unless the values have every field of the contract, with its type. */
  expectAgreed(...values: unknown[]): void {
    for (const value of values) {
      const issues = v.safeParse(this.agreed, value).issues ?? [];
      if (issues.length > 0) throw new Deviation(issues.map((issue) => describe(this.name, issue)).join('; '));
    }
  }
}

const id = v.union([v.pipe(v.string(), v.minLength(1)), v.number()]);
export const text = v.string();
export const whole = v.pipe(v.number(), v.integer());
export const flag = v.boolean();
export const time = v.pipe(v.string(), v.isoTimestamp('no ISO time with a zone'));
const orNull = <Schema extends v.GenericSchema>(schema: Schema) => v.nullable(schema);
const problem = orNull(v.looseObject({ code: text, message: text }));
const person = { id, name: text, avatar: orNull(text) };

export const User = new Entity('User', userSchema, {
  id,
  name: text,
  username: text,
  avatar: orNull(text),
  gender: orNull(text),
  balance: whole,
  invite_code: orNull(text),
  persona: orNull(text),
  email_verified_at: orNull(time),
  checked_in_today: flag,
  check_in_streak: whole,
  version: whole,
});

export const Story = new Entity('Story', storySchema, {
  id,
  title: text,
  cover_url: orNull(text),
  cover_color: v.optional(orNull(text)),
  share_image_url: v.optional(orNull(text)),
  summary: text,
  tags: v.array(text),
  author: orNull(v.looseObject(person)),
  opening: orNull(text),
  opening_lines: v.optional(v.array(text)),
  characters: v.array(v.looseObject({ ...person, intro: orNull(text) })),
  price_per_message: whole,
  conversation_id: orNull(id),
  is_favorite: v.optional(v.boolean()),
  created_at: time,
  updated_at: time,
});

/** Checks `place` before `read`, since the page's schemas change values. */
const readAfter = (place: v.GenericSchema, read: v.GenericSchema): v.GenericSchema => v.pipe(place, read);

/** Fields without which the page cannot place a message. */
const placeableMessage = v.looseObject({
  seq: v.number(),
  role: v.picklist(['user', 'assistant', 'system']),
  status: v.picklist(['pending', 'streaming', 'completed', 'failed', 'cancelled']),
});

export const Message = new Entity('Message', readAfter(placeableMessage, messageSchema), {
  id,
  conversation_id: id,
  story_id: id,
  seq: whole,
  version: whole,
  revision: whole,
  client_id: orNull(text),
  body: text,
  error: problem,
  cost: whole,
  variant: v.optional(whole),
  variants: v.optional(whole),
  created_at: time,
  updated_at: time,
});

export const Conversation = new Entity(
  'Conversation',
  readAfter(v.looseObject({ story: v.looseObject({ id }) }), conversationSchema),
  {
    id,
    story: v.looseObject({ id, title: text, cover_url: orNull(text) }),
    last_message: orNull(v.looseObject({ id, role: text, excerpt: text, created_at: time })),
    last_seq: whole,
    version: whole,
    active_message_id: orNull(id),
    created_at: time,
    updated_at: time,
  },
);

export const LatestMeta = new Entity('meta', v.looseObject({}), {
  conversation_id: orNull(id),
  version: whole,
  last_seq: whole,
  has_more: flag,
  active_message_id: orNull(id),
});

export const Suggestion = new Entity('Suggestion', suggestionSchema, {
  id,
  conversation_id: id,
  base_version: whole,
  status: v.picklist(['pending', 'ready', 'failed']),
  items: v.array(v.looseObject({ id, text })),
  error: problem,
  expires_at: orNull(time),
});

export const Transaction = new Entity('Transaction', transactionSchema, {
  id,
  type: text,
  amount: whole,
  balance_after: whole,
  description: text,
  ref_type: orNull(text),
  ref_id: orNull(id),
  created_at: time,
});

export const Order = new Entity('Order', orderSchema, {
  id,
  client_id: orNull(text),
  package_id: id,
  points: whole,
  price_cents: whole,
  status: v.picklist(['created', 'pending', 'paid', 'credited', 'expired', 'failed']),
  method: text,
  checkout_url: orNull(text),
  created_at: time,
  expires_at: time,
  paid_at: orNull(time),
  credited_at: orNull(time),
});

export const Ticket = new Entity('Ticket', ticketSchema, {
  id,
  kind: text,
  body: text,
  status: v.picklist(['open', 'answered']),
  answer: orNull(text),
  answered_at: orNull(time),
  is_unread: flag,
  created_at: time,
});

export const CheckIn = new Entity('CheckIn', checkInSchema, {
  date: v.pipe(text, v.isoDate('no day such as 2026-11-21')),
  streak: whole,
  awarded: whole,
  already_checked_in: flag,
  balance: whole,
});

export const Minor = new Entity('Minor', minorSchema, {
  on: flag,
  // absent while the mode is off
  blocked: v.nullish(v.picklist(['night', 'limit'])),
  seconds_left: v.nullish(whole),
  resumes_at: v.nullish(time),
  reset_at: v.nullish(time),
  rules: v.object({ from: text, to: text, minutes_a_day: whole, extension_minutes: whole }),
});

export const Session = new Entity('Session', v.looseObject({ id }), {
  id,
  user_agent: orNull(text),
  created_at: time,
  last_used_at: time,
  is_current: flag,
});

/** Throws `Deviation` unless each named field has this value, where an id may also be a number. */
export function expectFields(name: string, value: unknown, fields: JsonObject): void {
  const received = recordOf(value);
  const isSame = (field: string) => String(received[field] ?? null) === String(fields[field] ?? null);
  const odd = Object.keys(fields).filter((field) => !isSame(field));
  const describeField = (field: string) => `${name}.${field} is ${shown(received[field])}, not ${shown(fields[field])}`;
  if (odd.length > 0) throw new Deviation(odd.map(describeField).join('; '));
}

type Issue = v.BaseIssue<unknown>;

function describe(name: string, issue: Issue): string {
  const path = [name, v.getDotPath(issue)].filter(Boolean).join('.');
  return issue.input === undefined ? `no ${path}` : `${path} is ${shown(issue.input)} (${issue.message})`;
}

type JsonObject = Record<string, unknown>;

export const recordOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** Returns a single entity, bare or wrapped in `data`, as the page accepts it. */
export function unwrap(body: unknown): JsonObject {
  const { data } = recordOf(body);
  return recordOf(typeof data === 'object' && data !== null && !Array.isArray(data) ? data : body);
}

/** Parses a cursor page in either of Laravel's forms. Throws `Deviation` unless it is a list. */
export function pageOf(body: unknown): { items: JsonObject[]; nextCursor: string | null } {
  const { data, meta, next_cursor } = recordOf(body);
  const items = Array.isArray(data) ? data : body;
  if (!Array.isArray(items)) throw new Deviation(`${shown(body)}, which is no list`);
  const cursor = recordOf(meta).next_cursor ?? next_cursor;
  return { items: items.map(recordOf), nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : null };
}

export const idOf = (value: unknown): string => String(recordOf(value).id ?? '');
