import {
  type candidateSchema,
  channelFields,
  instantSchema,
  type stableSchema,
  textSchema,
} from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { newer, refused } from '../errors.ts';
import { say } from '../sentences.ts';
import { storedActionSchema } from './action.ts';
import { issuesOf, parseJson } from './build.ts';
import { canonicalJson, isSignedDocument, type SigningKey, sha256Hex, signedJson, unknownFields } from './signing.ts';

/**
 * That two persons decide what goes forward, and how long a proposal waits for the second one. It stands in the signed, numbered
 * document, so that no older state of anything else takes it away; left out where one person decides.
 */
const approvalSchema = v.object({
  hours: v.pipe(v.number(), v.gtValue(0), v.maxValue(7 * 24)),
  by: textSchema(120),
  at: instantSchema,
});

export type ApprovalRule = v.InferOutput<typeof approvalSchema>;

const channelSchema = v.object({ ...channelFields, approval: v.optional(approvalSchema), action: storedActionSchema });

export type Stable = v.InferOutput<typeof stableSchema>;
export type Candidate = v.InferOutput<typeof candidateSchema>;

/** `channels/<name>.json`: the only object that ever changes. */
export type ChannelDocument = v.InferOutput<typeof channelSchema>;
export type UnsignedChannel = Omit<ChannelDocument, 'sig'>;

/** What an operation decides; the rest of the document follows from it. */
export type ChannelState = Pick<
  ChannelDocument,
  'stable' | 'candidate' | 'moreCandidates' | 'lastGood' | 'killed' | 'digests' | 'approval'
>;

/** All candidates, oldest first. No two of them have a build of the same name. */
export const candidatesOf = ({ candidate, moreCandidates = [] }: Pick<ChannelState, 'candidate' | 'moreCandidates'>) =>
  candidate ? [candidate, ...moreCandidates] : [];

/** The fields of a document that hold these candidates. */
export function candidateFields(candidates: readonly Candidate[]): Pick<ChannelState, 'candidate' | 'moreCandidates'> {
  const [candidate, ...more] = candidates;
  return { candidate: candidate ?? null, ...(more.length > 0 ? { moreCandidates: more } : {}) };
}

/** The state of a document, without what led to it. */
export const stateOf = (document: ChannelState): ChannelState => {
  const { stable, lastGood, killed, digests } = document;
  return { stable, ...candidateFields(candidatesOf(document)), lastGood, killed, digests, ...ruleOf(document) };
};

/** The rule as a field of a document, which has none where one person decides. */
export const ruleOf = ({ approval }: Pick<ChannelState, 'approval'>) => (approval ? { approval } : {});

/** The same stable set, candidates with their shares, fallbacks, bans and rule, independent of author and time. */
export const stateDigest = (state: ChannelState): string =>
  sha256Hex(
    canonicalJson({
      stable: state.stable?.set ?? null,
      candidates: candidatesOf(state).map(({ set, builds, percent }) => ({ set, builds: [...builds], percent })),
      lastGood: state.lastGood,
      killed: state.killed,
      hours: state.approval?.hours ?? null,
    }),
  );

/** The format a state is written in: with a rule, one that programs without the rule refuse. */
export const formatOf = ({ approval }: Pick<ChannelState, 'approval'>) => (approval ? 2 : 1);

/** Every build a state may make somebody run. */
export const namedIn = (state: ChannelState): string[] => [
  ...(state.stable?.builds ?? []),
  ...candidatesOf(state).flatMap(({ builds }) => builds),
  ...Object.values(state.lastGood),
];

/** How long a signed document is accepted; `init`, the console and every change renew it. */
export const CHANNEL_LIFETIME_DAYS = 90;

/** The stored text of a channel document. */
export const signChannel = (document: UnsignedChannel, key: SigningKey): string => signedJson(document, key);

/** Reads a channel document and checks form and signature; time and order are the reader's to check. Throws refused. */
export function verifyChannel(source: string, channel: string, publicKey: string): ChannelDocument {
  const what = say('theChannel', { channel });
  const cure = say('channelCure');
  const value = parseJson(source, what, cure);
  const parsed = v.safeParse(channelSchema, value);
  const isOurs = isSignedDocument(value, publicKey);
  if (!parsed.success) {
    const issues = issuesOf(parsed.issues);
    throw isOurs ? newer(what, issues) : refused(say('documentDamaged', { what }), cure, issues);
  }
  if (parsed.output.channel !== channel)
    throw refused(say('documentOfAnother', { what, other: parsed.output.channel }), cure);
  if (!isOurs) throw refused(say('documentUnsigned', { what }), cure);
  return parsed.output;
}

/**
 * For the writer of the next state: unknown fields of the current one, which may be rules, would be lost. Readers ignore such fields.
 * Throws refused.
 */
export function assertKnown(source: string, document: ChannelDocument): void {
  const { action: _, ...state } = JSON.parse(source) as ChannelDocument;
  const unknown = unknownFields(state, document);
  if (unknown.length > 0) throw newer(say('theChannel', { channel: document.channel }), unknown);
}
