import { z } from 'zod';
import { Deviation, shownValue } from './check.ts';

/** An entity of the API: what the page cannot do without, and what else was agreed upon. */
interface Entity {
  name: string;
  schema: z.ZodType;
  wanted: string[];
}

type Fields = Record<string, z.ZodType>;

const id = z.union([z.string().min(1), z.number()]);
const text = z.string();
const whole = z.int();
const flag = z.boolean();
/** As the pages read it: ISO with a zone, which no two clocks read differently. */
const time = z.iso.datetime({ offset: true });
const list = (fields: Fields) => z.array(z.looseObject(fields));
const record = (fields: Fields) => z.looseObject(fields);

/** What is wanted may be missing or null, as the page reads it; what is there has its type. */
function entity(name: string, needed: Fields, wanted: Fields): Entity {
  const optional = Object.fromEntries(Object.entries(wanted).map(([field, type]) => [field, type.nullish()]));
  return { name, schema: z.looseObject({ ...needed, ...optional }), wanted: Object.keys(wanted) };
}

export const User = entity(
  'User',
  { id },
  {
    name: text,
    username: text,
    avatar: text,
    gender: text,
    balance: whole,
    invite_code: text,
    persona: text,
    email_verified_at: time,
    checked_in_today: flag,
    check_in_streak: whole,
    version: whole,
  },
);

export const Story = entity(
  'Story',
  { id, title: text },
  {
    cover_url: text,
    summary: text,
    tags: z.array(text),
    author: record({}),
    opening: text,
    characters: list({ id, name: text }),
    price_per_message: whole,
    conversation_id: id,
    created_at: time,
    updated_at: time,
  },
);

export const Message = entity(
  'Message',
  {
    id,
    seq: whole,
    role: z.enum(['user', 'assistant', 'system']),
    body: text.nullable(),
    status: z.enum(['pending', 'streaming', 'completed', 'failed', 'cancelled']),
  },
  {
    conversation_id: id,
    story_id: id,
    version: whole,
    revision: whole,
    client_id: text,
    error: record({}),
    cost: whole,
    created_at: time,
    updated_at: time,
  },
);

export const Conversation = entity(
  'Conversation',
  { id, story: record({ id }) },
  {
    last_message: record({ id }),
    last_seq: whole,
    version: whole,
    active_message_id: id,
    created_at: time,
    updated_at: time,
  },
);

export const LatestMeta = entity(
  'meta',
  {},
  { conversation_id: id, version: whole, last_seq: whole, has_more: flag, active_message_id: id },
);

export const Suggestion = entity(
  'Suggestion',
  { id, status: z.enum(['pending', 'ready', 'failed']) },
  { conversation_id: id, base_version: whole, items: list({ id, text }), error: record({}), expires_at: time },
);

export const Transaction = entity(
  'Transaction',
  { id, type: text, amount: whole, created_at: time },
  { balance_after: whole, description: text, ref_type: text, ref_id: id },
);

export const CheckIn = entity(
  'CheckIn',
  { date: z.iso.date(), streak: whole, awarded: whole, balance: whole },
  { already_checked_in: flag },
);

/** Throws unless the page can read it. */
export function expectReadable({ name, schema }: Entity, value: unknown): void {
  const { error } = schema.safeParse(value);
  const issue = error?.issues[0];
  if (!issue) return;
  const there = issue.path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown> | null)?.[key], value);
  throw new Deviation(`${[name, ...issue.path].join('.')} is ${shownValue(there)}: ${issue.message}`);
}

/** Throws unless each field that was agreed upon is named, null or not. */
export function expectWhole({ name, wanted }: Entity, value: unknown): void {
  const present = Object.keys((value ?? {}) as object);
  const missing = wanted.filter((field) => !present.includes(field));
  if (missing.length > 0) throw new Deviation(`${name} without ${missing.join(', ')}`);
}

type Json = Record<string, unknown>;

export const recordOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** A single entity, bare or wrapped in `data`, as the page takes it. */
export function unwrapped(body: unknown): Json {
  const { data } = recordOf(body);
  return recordOf(typeof data === 'object' && data !== null && !Array.isArray(data) ? data : body);
}

/** A cursor page in either of Laravel's forms. Throws unless it is a list. */
export function pageOf(body: unknown): { items: Json[]; nextCursor: string | null } {
  const { data, meta, next_cursor } = recordOf(body);
  const items = Array.isArray(data) ? data : body;
  if (!Array.isArray(items)) throw new Deviation(`${shownValue(body)}, which is no list`);
  const cursor = recordOf(meta).next_cursor ?? next_cursor;
  return { items: items.map(recordOf), nextCursor: typeof cursor === 'string' && cursor !== '' ? cursor : null };
}

export const idOf = (value: unknown): string => String(recordOf(value).id ?? '');
