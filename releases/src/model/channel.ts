import { z } from 'zod';
import { isName } from './ids.ts';

const id = z.string().max(140);
const hash = z.string().regex(/^[0-9a-f]{40}$/);
const instant = z.iso.datetime();
const liveSince = { since: instant, by: z.string().max(120) };

const stableSchema = z.object({ set: hash, builds: z.array(id), ...liveSince });
const candidateSchema = z.object({
  set: hash,
  /** Only the builds that stand over stable. */
  builds: z.array(id).min(1),
  percent: z.number().min(0).max(100),
  salt: z.string().min(8).max(64),
  ...liveSince,
});
const actionSchema = z.object({
  verb: z.string().max(20),
  who: z.string().max(120),
  what: z.string().max(2000),
  why: z.string().max(500),
  at: instant,
  /** rollback only: the state gone back to, and the names that went (empty = all). */
  to: z.number().int().optional(),
  names: z.array(z.string()).optional(),
  /** What spoke for the change, e.g. the figures of an automatic stop or a forced gate's problems. */
  evidence: z.array(z.string().max(500)).max(50).optional(),
});

export const channelSchema = z.object({
  format: z.literal(1),
  channel: z.string().refine(isName),
  seq: z.number().int().min(1),
  /** Makes every document's bytes unique, so that a store's content tags never repeat. */
  nonce: z.string(),
  stable: stableSchema.nullable(),
  candidate: candidateSchema.nullable(),
  lastGood: z.record(z.string(), id),
  killed: z.array(id),
  /** SHA-256 of each named build's content, so that `build.json` needs no trust of its own. */
  digests: z.record(id, z.string().regex(/^[0-9a-f]{64}$/)),
  action: actionSchema,
  previous: z.object({ seq: z.number().int(), sha256: z.string() }).nullable(),
  expires: instant,
  sig: z.string(),
});

export type Stable = z.infer<typeof stableSchema>;
export type Candidate = z.infer<typeof candidateSchema>;
export type Action = z.infer<typeof actionSchema>;

/** `channels/<name>.json`: the only object that ever changes. */
export type ChannelDocument = z.infer<typeof channelSchema>;
export type UnsignedChannel = Omit<ChannelDocument, 'sig'>;

/** What an operation decides; the rest of the document follows from it. */
export type ChannelState = Pick<ChannelDocument, 'stable' | 'candidate' | 'lastGood' | 'killed' | 'digests'>;

/** Every build a state may make somebody run. */
export const namedIn = ({ stable, candidate, lastGood }: ChannelState): string[] => [
  ...(stable?.builds ?? []),
  ...(candidate?.builds ?? []),
  ...Object.values(lastGood),
];

/** How long a signed document is accepted; `init`, the console and every change renew it. */
export const CHANNEL_LIFETIME_DAYS = 90;
