import { type candidateSchema, channelFields, type stableSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { refused } from '../errors.ts';
import { storedActionSchema } from './action.ts';
import { issuesOf, parseJson } from './build.ts';
import { canonicalJson, isSigned, type SigningKey, signText } from './signing.ts';

const channelSchema = v.object({ ...channelFields, action: storedActionSchema });

export type Stable = v.InferOutput<typeof stableSchema>;
export type Candidate = v.InferOutput<typeof candidateSchema>;

/** `channels/<name>.json`: the only object that ever changes. */
export type ChannelDocument = v.InferOutput<typeof channelSchema>;
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
  const parsed = v.safeParse(channelSchema, parseJson(source, what, cure));
  if (!parsed.success) throw refused(`${what} is damaged`, cure, issuesOf(parsed.issues));
  const { sig, ...unsigned } = parsed.output;
  if (parsed.output.channel !== channel) throw refused(`${what} holds the document of ${parsed.output.channel}`, cure);
  if (!isSigned(canonicalJson(unsigned), sig, publicKey))
    throw refused(`${what} is not signed by this store's key`, cure);
  return parsed.output;
}
