import * as v from 'valibot';
import { amount, flatPage, readAs, rows } from './decode.ts';

/**
 * What a server may have beyond the specification. It announces what it has by `GET /v1/capabilities`; pages show
 * nothing of the rest, so that a server with the specification's calls alone is never asked for others.
 */
export const CAPABILITIES = [
  /** `GET /v1/stories?q&tag&sort` */
  'stories.search',
  /** `is_favorite` of a story, `PUT /v1/stories/{id}/favorite`, `GET /v1/favorites` */
  'stories.favorites',
  /** a conversation says whether it has something new, and can be marked as read */
  'conversations.unread',
  'conversations.search',
  'conversations.pin',
  'conversations.restart',
  /** several runs of one story: `shelved` and `run` of a conversation, `GET /v1/conversations?story_id` */
  'conversations.runs',
  /** words and days within a conversation */
  'messages.search',
  'messages.cancel',
  'messages.regenerate',
  'messages.edit',
  /** a call that costs points may say the `price` its reader was shown, and is refused where it costs more */
  'messages.price',
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
  /** signs a page's address for WeChat's JS-SDK, which gives links their card there */
  'wechat.share',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

const isKnown = (name: unknown): name is Capability => CAPABILITIES.some((known) => known === name);

const pageName = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** A rule with its figures as numbers, however it is nested. */
function figuresIn(rule: unknown): unknown {
  if (Array.isArray(rule)) return rule.map(figuresIn);
  if (typeof rule !== 'object' || rule === null) return readAs(amount, rule) ?? rule;
  return Object.fromEntries(Object.entries(rule).map(([name, each]) => [name, figuresIn(each)]));
}

/** What readers pay and are given, by the names that pages read. */
export const rulesSchema = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((rules) =>
    Object.fromEntries(Object.entries(rules).map(([name, rule]) => [pageName(name), figuresIn(rule)])),
  ),
);

/** `{ data: ["invites"], rules: { sign_up_gift: 100 } }`; names of a newer server are left out, rules may be missing. */
export const capabilitiesSchema = v.pipe(
  v.unknown(),
  v.transform(flatPage),
  v.object({
    data: rows(v.unknown()),
    rules: v.fallback(v.optional(rulesSchema), undefined),
  }),
  v.transform(({ data, rules }) => ({ names: data.filter(isKnown), rules })),
);
