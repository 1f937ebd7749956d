import * as v from 'valibot';

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
