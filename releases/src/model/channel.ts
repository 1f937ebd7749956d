import {
  type candidateSchema,
  channelFields,
  instantSchema,
  type stableSchema,
  textSchema,
} from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { say } from '../sentences.ts';
import { storedActionSchema } from './action.ts';
import { nameOf } from './build.ts';
import { parseSigned } from './documents.ts';
import { canonicalJson, type SigningKey, sha256Hex, signedJson } from './signing.ts';

/**
 * Approval rule: two persons decide on forward changes, and a proposal waits `hours` for the second one. It is part of the signed,
 * numbered document, so that restoring an older file elsewhere cannot remove it. Absent where one person decides.
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

/** `channels/<name>.json` */
export type ChannelDocument = v.InferOutput<typeof channelSchema>;
export type UnsignedChannel = Omit<ChannelDocument, 'sig'>;

/** The part of the document that an operation decides. */
export type ChannelState = Pick<
  ChannelDocument,
  'stable' | 'candidate' | 'moreCandidates' | 'lastGood' | 'killed' | 'digests' | 'approval'
>;

/** All candidates, oldest first. No two of them have a build of the same name. */
export const candidatesOf = ({ candidate, moreCandidates = [] }: Pick<ChannelState, 'candidate' | 'moreCandidates'>) =>
  candidate ? [candidate, ...moreCandidates] : [];

export function candidateFields(candidates: readonly Candidate[]): Pick<ChannelState, 'candidate' | 'moreCandidates'> {
  const [candidate, ...more] = candidates;
  return { candidate: candidate ?? null, ...(more.length > 0 ? { moreCandidates: more } : {}) };
}

export const stateOf = (document: ChannelState): ChannelState => {
  const { stable, lastGood, killed, digests } = document;
  return { stable, ...candidateFields(candidatesOf(document)), lastGood, killed, digests, ...ruleOf(document) };
};

/** Returns the `approval` field of a document; empty where one person decides. */
export const ruleOf = ({ approval }: Pick<ChannelState, 'approval'>) => (approval ? { approval } : {});

/** Digest of stable set, candidates with their shares, fallbacks, kills and rule, independent of author and time. */
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

/** Format of the document: 2 with an approval rule, which programs that do not know the rule refuse. */
export const formatOf = ({ approval }: Pick<ChannelState, 'approval'>) => (approval ? 2 : 1);

/** Returns the builds that are live for everyone, of one name or all. */
export const liveIn = ({ stable }: Pick<ChannelState, 'stable'>, name?: string): string[] =>
  (stable?.builds ?? []).filter((id) => !name || nameOf(id) === name);

export const triedBuilds = (state: Pick<ChannelState, 'candidate' | 'moreCandidates'>): string[] =>
  candidatesOf(state).flatMap(({ builds }) => builds);

/** Returns the builds that are live for everyone or on trial. */
export const runningBuilds = (state: ChannelState): string[] => [...liveIn(state), ...triedBuilds(state)];

/** Returns every build that a visitor may get in this state. */
export const reachableBuilds = (state: ChannelState): string[] => [
  ...runningBuilds(state),
  ...Object.values(state.lastGood),
];

/** Validity of a signed document, in days. `init`, the console and every change renew it. */
export const CHANNEL_LIFETIME_DAYS = 90;

export const signChannel = (document: UnsignedChannel, key: SigningKey): string => signedJson(document, key);

/** Parses a channel document and verifies form and signature, not expiry and order. Throws refused. */
export const verifyChannel = (
  source: string,
  channel: string,
  publicKey: string,
  names = { what: say('theChannel', { channel }), cure: say('channelCure') },
): ChannelDocument => parseSigned(source, channelSchema, { ...names, channel, publicKey });
