import { z } from 'zod';
import { refused } from '../errors.ts';
import { storedActionSchema } from './action.ts';
import { issuesOf, parseJson } from './build.ts';
import { isName } from './ids.ts';
import { canonicalJson, isSigned, type SigningKey, signText } from './signing.ts';

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
const channelSchema = z.object({
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
  action: storedActionSchema,
  previous: z.object({ seq: z.number().int(), sha256: z.string() }).nullable(),
  expires: instant,
  sig: z.string(),
});

export type Stable = z.infer<typeof stableSchema>;
export type Candidate = z.infer<typeof candidateSchema>;

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

/** The stored text of a channel document: canonical JSON, signed over itself without `sig`. */
export const signChannel = (document: UnsignedChannel, key: SigningKey): string =>
  canonicalJson({ ...document, sig: signText(canonicalJson(document), key) });

/** Reads a channel document and checks form and signature; time and order are the reader's to check. Throws refused. */
export function verifyChannel(source: string, channel: string, publicKey: string): ChannelDocument {
  const what = `channel ${channel}`;
  const cure = 'Restore the newest good state: see "A damaged channel" in docs/deploying.md.';
  const parsed = channelSchema.safeParse(parseJson(source, what, cure));
  if (!parsed.success) throw refused(`${what} is damaged`, cure, issuesOf(parsed.error));
  const { sig, ...unsigned } = parsed.data;
  if (parsed.data.channel !== channel) throw refused(`${what} holds the document of ${parsed.data.channel}`, cure);
  if (!isSigned(canonicalJson(unsigned), sig, publicKey))
    throw refused(`${what} is not signed by this store's key`, cure);
  return parsed.data;
}
