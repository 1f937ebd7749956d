import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS } from '@liaozhai/shared/contract';
import { assertPublished } from '../builds/catalog.ts';
import { findingLine } from '../english.ts';
import { conflict, refused } from '../errors.ts';
import type { Misfit } from '../gate/fit.ts';
import { type Action, type Evidence, type StoredAction, storeAction } from '../model/action.ts';
import { nameOf } from '../model/build.ts';
import {
  assertKnown,
  CHANNEL_LIFETIME_DAYS,
  type ChannelDocument,
  type ChannelState,
  candidatesOf,
  formatOf,
  namedIn,
  signChannel,
  stateOf,
  verifyChannel,
} from '../model/channel.ts';
import { canonicalJson, sha256Hex } from '../model/signing.ts';
import { say } from '../sentences.ts';
import { type Composed, newMisfits, storeSets } from './composeSet.ts';
import {
  auditKey,
  channelKey,
  liveIn,
  type ReadChannel,
  readState,
  requireChannel,
  statesAfter,
} from './readChannel.ts';
import { CLOCK_TOLERANCE, timeOf, type Writer } from './writer.ts';

const ATTEMPTS = 2000;
const LONGEST_PAUSE_MS = 400;

export interface Decision {
  state: ChannelState;
  action: Action;
  why?: string;
  /** What spoke for it; kept in the audit. */
  evidence?: readonly Evidence[];
  /** What the state was worked out from, where it changes what runs: its sets are stored before the channel names them. */
  composed?: Composed;
  /** Goes on although builds do not fit each other; needs `why`, and the findings go into the audit. */
  force?: boolean;
  /** Somebody gets what they did not have: where two persons decide it takes the second one. Ways back never do. */
  forward?: boolean;
}

/** Decides upon the current state; null = nothing to change. Asked again when another writer was faster. */
export type Decide = (current: ChannelDocument) => Promise<Decision | null>;

export interface Change {
  document: ChannelDocument;
  /** False: the channel already was as asked. */
  changed: boolean;
}

/**
 * States are ordered by their number, so a date never keeps anybody from changing the channel. Clocks that are a little apart do not
 * show in the log; a last change that is dated far ahead was dated by a clock that was wrong, and nothing follows from it.
 */
async function instantAfter(writer: Writer, previous: StoredAction): Promise<Date> {
  const [now, last] = [await timeOf(writer), Date.parse(previous.at)];
  const ahead = last - now.getTime();
  return ahead > 0 && ahead <= 2 * CLOCK_TOLERANCE ? new Date(last) : now;
}

/** The signed text of the next state. Throws refused rather than giving a document that readers would refuse. */
async function nextDocument(writer: Writer, current: ReadChannel, decision: Decision): Promise<string> {
  const { action, why = '', evidence } = decision;
  const at = await instantAfter(writer, current.document.action);
  const next = signChannel(
    {
      format: formatOf(decision.state),
      channel: writer.channel,
      seq: current.document.seq + 1,
      nonce: randomUUID(),
      ...decision.state,
      action: storeAction(action, { who: writer.who, why, at: at.toISOString(), evidence }),
      previous: { seq: current.document.seq, sha256: sha256Hex(current.source) },
      expires: new Date(at.getTime() + CHANNEL_LIFETIME_DAYS * DAY_MS).toISOString(),
    },
    writer.key,
  );
  verifyChannel(next, writer.channel, writer.key.publicKey);
  return next;
}

/** The audit gets the current state before the pointer moves on, so a crash in between loses nothing. */
async function record(writer: Writer, current: ReadChannel): Promise<void> {
  const key = auditKey(writer.channel, current.document.seq);
  if (await writer.store.create(key, current.source)) return;
  const stored = (await writer.store.read(key))?.toString('utf8');
  if (stored === current.source) return;
  throw refused(say('stateTwice', { seq: current.document.seq, channel: writer.channel }), say('lostCure'));
}

const isCurrent = async ({ store, channel }: Writer, { tag }: ReadChannel): Promise<boolean> =>
  (await store.readPointer(channelKey(channel)))?.tag === tag;

/**
 * Whether the state is still the current one. A writer of the store may have put an older one back, and a change of that would
 * start a second history. The audit shows it, which has each state right after its swap. Throws refused.
 */
async function isNewest(writer: Writer, current: ReadChannel): Promise<boolean> {
  const { seq } = current.document;
  const isKnown = (await writer.store.read(auditKey(writer.channel, seq + 1))) !== null;
  if (!(await isCurrent(writer, current))) return false;
  if (!isKnown) return true;
  throw refused(say('putBack', { channel: writer.channel, seq, count: seq + 1 }), say('putBackCure'));
}

/** Nothing is written for a state that is no longer the current one, nor for builds that were removed while it was judged. */
async function write(writer: Writer, current: ReadChannel, next: string, decision: Decision): Promise<boolean> {
  if (!(await isNewest(writer, current))) return false;
  if (decision.composed) await storeSets(writer, decision.composed);
  await record(writer, current);
  const namedBefore = new Set(namedIn(current.document));
  await assertPublished(
    writer.store,
    namedIn(decision.state).filter((id) => !namedBefore.has(id)),
  );
  return writer.store.swapPointer(channelKey(writer.channel), next, current.tag);
}

async function confirm(writer: Writer, written: string): Promise<ChannelDocument> {
  const document: ChannelDocument = JSON.parse(written);
  const now = await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  const newer = now.document.seq > document.seq;
  if (newer || now.document.nonce === document.nonce) return document;
  throw refused(say('changeLost', { store: writer.store.label }), say('lostCure'));
}

/** What runs in a state, of one name or as a whole. What is only noted in the log does not show in it. */
function runningIn(state: ChannelDocument, name?: string): string {
  const { approval: _rule, ...whole } = stateOf(state);
  if (name === undefined) return canonicalJson(whole);
  return canonicalJson([
    liveIn(state, name),
    candidatesOf(state).filter(({ builds }) => builds.map(nameOf).includes(name)),
  ]);
}

/** A decision to go back, of one name or as a whole. Nobody's plans and notes stand in its way. */
export interface Back {
  name?: string;
}

const leavesRunning = (back?: Back) => (since: ChannelDocument, seen: ChannelDocument) =>
  runningIn(since, back?.name) === runningIn(seen, back?.name) &&
  (back !== undefined || since.action.verb !== 'schedule');

/** Throws conflict where somebody changed the channel since the caller saw it, in what `stands` compares. */
export async function assertSeen(
  { store, channel, key }: Writer,
  current: ChannelDocument,
  seq: number | undefined,
  stands: (since: ChannelDocument, seen: ChannelDocument) => boolean,
): Promise<void> {
  if (seq === undefined || seq === current.seq) return;
  const changed = ({ action }: ChannelDocument) =>
    conflict(say('movedOn', { channel, seq: current.seq, by: action.who }), say('lookAgainCure'));
  if (seq > current.seq) throw changed(current);
  const seen = await readState(store, current, seq, key.publicKey);
  for await (const since of statesAfter(store, current, seq, key.publicKey))
    if (!stands(since, seen)) throw changed(since);
}

/** What the second person says where one is needed; null where it is not to be written. Throws refused where nobody was asked. */
export async function askSecond(
  { second, channel }: Writer,
  current: ChannelDocument,
  decided: Pick<Decision, 'state' | 'action' | 'forward'>,
): Promise<Evidence[] | null> {
  if (!current.approval || !decided.forward) return [];
  if (second) return second(current, decided);
  throw refused(say('secondNeeded', { channel }), say('secondNeededCure'));
}

const unrepeated = (evidence: readonly Evidence[]): Evidence[] => [
  ...new Map(evidence.map((each) => [canonicalJson(each), each])).values(),
];

/** The one place that every change passes: nothing goes live that does not fit, unless it is forced. Throws refused. */
async function passRules(writer: Writer, current: ChannelDocument, decided: Decision): Promise<Evidence[]> {
  if (!decided.composed) return [];
  const { stable, candidates } = await newMisfits(writer, current, decided.composed);
  const misfits: Misfit[] = [...stable, ...candidates];
  if (misfits.length === 0) return [];
  const problems = misfits.map(findingLine);
  if (!decided.force) throw refused(say('unfit'), say('unfitCure'), problems);
  if (!decided.why) throw needsReason(problems);
  return misfits.map(({ check, problem }) => ({ kind: 'finding', check, problem, forced: true }));
}

export const needsReason = (problems: readonly string[]) => refused(say('whyNeeded'), say('whyNeededCure'), problems);

/**
 * Changes the channel in one atomic step, and tries again on the newer state when another writer was faster. With `seq` (the state that
 * the caller saw) it throws conflict where somebody has changed since what the decision is about.
 */
export async function changeChannel(writer: Writer, decide: Decide, seq?: number, back?: Back): Promise<Change> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const current = await requireChannel(writer.store, writer.channel, writer.key.publicKey);
    assertKnown(current.source, current.document);
    await assertSeen(writer, current.document, seq, leavesRunning(back));
    writer.permit?.(current.document);
    const decided = await decide(current.document);
    const forced = decided ? await passRules(writer, current.document, decided) : [];
    const word = decided && (await askSecond(writer, current.document, decided));
    if (!decided || !word) return { document: current.document, changed: false };
    const decision = { ...decided, evidence: unrepeated([...word, ...(decided.evidence ?? []), ...forced]) };
    const next = await nextDocument(writer, current, decision);
    if (await write(writer, current, next, decision)) {
      const document = await confirm(writer, next);
      await writer.store.create(auditKey(writer.channel, document.seq), next);
      return { document, changed: true };
    }
    await pause(Math.random() * Math.min(LONGEST_PAUSE_MS, 4 * 2 ** attempt));
  }
  throw conflict(say('keptChanging', { what: say('theChannel', { channel: writer.channel }) }), say('againCure'));
}

/** Makes the channel's first, empty state; an existing channel stays as it is. */
export async function createChannel(writer: Writer): Promise<void> {
  const at = await timeOf(writer);
  const document = {
    format: 1 as const,
    channel: writer.channel,
    seq: 1,
    nonce: randomUUID(),
    stable: null,
    candidate: null,
    lastGood: {},
    killed: [],
    digests: {},
    action: storeAction({ kind: 'init' }, { who: writer.who, why: '', at: at.toISOString() }),
    previous: null,
    expires: new Date(at.getTime() + CHANNEL_LIFETIME_DAYS * DAY_MS).toISOString(),
  };
  await writer.store.swapPointer(channelKey(writer.channel), signChannel(document, writer.key), null);
}

/** True when a document is old enough to be re-signed. */
const isAgeing = (document: ChannelDocument, now: Date): boolean =>
  Date.parse(document.expires) - now.getTime() < (CHANNEL_LIFETIME_DAYS / 3) * 2 * DAY_MS;

/** Re-signs the same state when its document ages, so that it never expires. */
export const renewChannel = (writer: Writer) =>
  changeChannel(writer, async (current) => {
    if (!isAgeing(current, await timeOf(writer))) return null;
    return { state: stateOf(current), action: { kind: 'renew' } };
  });

/** Makes the channel, or renews an existing one. */
export async function initChannel(writer: Writer) {
  await createChannel(writer);
  await requireChannel(writer.store, writer.channel, writer.key.publicKey);
  return renewChannel(writer);
}
