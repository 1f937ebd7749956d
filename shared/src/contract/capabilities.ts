import * as v from 'valibot';
import { amount, flatPage, readAs, rows } from './decode.ts';

/**
 * Features beyond the specification that a server may have. It lists them in `GET /v1/capabilities`; pages hide the others, so
 * that a server with only the specification's calls never gets requests for more.
 */
export const CAPABILITIES = [
  /** `GET /v1/stories?q&tag&sort` */
  'stories.search',
  /** `is_favorite` of a story, `PUT /v1/stories/{id}/favorite`, `GET /v1/favorites` */
  'stories.favorites',
  /** a conversation reports unread replies and can be marked as read */
  'conversations.unread',
  'conversations.search',
  'conversations.pin',
  'conversations.restart',
  /** several runs of one story: `shelved` and `run` of a conversation, `GET /v1/conversations?story_id` */
  'conversations.runs',
  /** text search and days within a conversation */
  'messages.search',
  'messages.cancel',
  'messages.regenerate',
  'messages.edit',
  /** a call that costs points may send the `price` that the user saw; the server refuses it if the call costs more */
  'messages.price',
  'messages.report',
  'password.reset',
  /** stores which version of the terms an account accepted, and when */
  'account.consent',
  'account.email',
  'account.devices',
  'account.delete',
  'account.minor',
  /** owner and rewards of an invite code */
  'invites',
  'support.tickets',
  'orders',
  /** signs the page's URL for WeChat's JS-SDK, so that shared links show a card */
  'wechat.share',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

const isCapability = (name: unknown): name is Capability => CAPABILITIES.some((known) => known === name);

export const toCamelCase = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

/** Converts the figures of a rule to numbers, at any depth. */
function toNumbers(rule: unknown): unknown {
  if (Array.isArray(rule)) return rule.map(toNumbers);
  if (typeof rule !== 'object' || rule === null) return readAs(amount, rule) ?? rule;
  return Object.fromEntries(Object.entries(rule).map(([name, each]) => [name, toNumbers(each)]));
}

/** Prices and gifts, with camelCase names. */
export const rulesSchema = v.pipe(
  v.record(v.string(), v.unknown()),
  v.transform((rules) =>
    Object.fromEntries(Object.entries(rules).map(([name, rule]) => [toCamelCase(name), toNumbers(rule)])),
  ),
);

/** `{ data: ["invites"], rules: { sign_up_gift: 100 } }`; unknown names are skipped, rules may be missing. */
export const capabilitiesSchema = v.pipe(
  v.unknown(),
  v.transform(flatPage),
  v.object({
    data: rows(v.unknown()),
    rules: v.fallback(v.optional(rulesSchema), undefined),
  }),
  v.transform(({ data, rules }) => ({ names: data.filter(isCapability), rules })),
);
