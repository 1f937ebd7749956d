import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS } from '@liaozhai/shared/contract';
import { assertPublished } from '../builds/catalog.ts';
import { findingLine } from '../english.ts';
import { conflict, refused, reportUnreachable } from '../errors.ts';
import {
  type Action,
  type Evidence,
  type Finding,
  findingsIn,
  type StoredAction,
  toStoredAction,
} from '../model/action.ts';
import { nameOf } from '../model/build.ts';
import {
  CHANNEL_LIFETIME_DAYS,
  type ChannelDocument,
  type ChannelState,
  candidatesOf,
  formatOf,
  liveIn,
  reachableBuilds,
  signChannel,
  stateOf,
  verifyChannel,
} from '../model/channel.ts';
import { assertKnown } from '../model/documents.ts';
import { canonicalJson, sha256Hex } from '../model/signing.ts';
import { say } from '../sentences.ts';
import { type Composed, dateNewParts, newMisfits, storeSets } from './composeSet.ts';
import { auditKey, channelKey, type ReadChannel, readState, requireChannel, statesAfter } from './readChannel.ts';
import { CLOCK_TOLERANCE_MS, type Reader, timeOf, type Writer } from './writer.ts';

const ATTEMPTS = 2000;
const MAX_PAUSE_MS = 400;

export interface Decision {
  /** Default: that of `composed`, else the current one. */
  state?: ChannelState;
  action: Action;
  why?: string;
  /** Reasons for the change, recorded in the audit. */
  evidence?: readonly Evidence[];
  /** Sets of the new state, if it changes what runs. They are stored before the channel refers to them. */
  composed?: Composed;
  /** Accepts builds that do not fit each other. Needs `why`; the audit records the findings. */
  force?: boolean;
  /** Visitors get something new, so the approval rule applies. Never set for rollbacks. */
  forward?: boolean;
}

export type Decided = Decision & { state: ChannelState };

export interface Change {
  document: ChannelDocument;
  /** False if nothing was written. */
  changed: boolean;
}

/**
 * Dates the next state not before the last one if clocks differ a little. A last change dated far ahead is due to a wrong clock and is
 * ignored: states are ordered by number.
 */
async function instantAfter(writer: Writer, previous: StoredAction): Promise<Date> {
  const [now, last] = [await timeOf(writer), Date.parse(previous.at)];
  const aheadMs = last - now.getTime();
  return aheadMs > 0 && aheadMs <= 2 * CLOCK_TOLERANCE_MS ? new Date(last) : now;
}

/** Returns the signed text of the state after `previous`. Throws refused if readers would refuse it. */
function signState(
  { channel, who, key }: Writer,
  time: Date,
  { state, action, why = '', evidence }: Decided,
  previous: ChannelDocument['previous'] = null,
): string {
  const at = time.toISOString();
  const next = signChannel(
    {
      format: formatOf(state),
      channel,
      seq: (previous?.seq ?? 0) + 1,
      nonce: randomUUID(),
      ...dateNewParts(state, { since: at, by: who.slice(0, 120) }),
      action: toStoredAction(action, { who, why, at, evidence }),
      previous,
      expires: new Date(time.getTime() + CHANNEL_LIFETIME_DAYS * DAY_MS).toISOString(),
    },
    key,
  );
  verifyChannel(next, channel, key.publicKey);
  return next;
}

/** Writes the current state to the audit before the pointer moves, so that a crash in between loses nothing. */
async function writeAudit(writer: Writer, current: ReadChannel): Promise<void> {
  const key = auditKey(writer.channel, current.document.seq);
  if (await writer.store.create(key, current.source)) return;
  const stored = (await writer.store.read(key))?.toString('utf8');
  if (stored === current.source) return;
  throw refused(say('stateTwice', { seq: current.document.seq, channel: writer.channel }), say('lostCure'));
}

/**
 * Returns whether the state is still current. Throws refused if somebody restored an older state, from which a change would start a
 * second history. The audit reveals that: it has each state right after its swap.
 */
async function isNewest({ store, channel }: Writer, { document: { seq }, tag }: ReadChannel): Promise<boolean> {
  const isKnown = (await store.read(auditKey(channel, seq + 1))) !== null;
  const isCurrent = (await store.readPointer(channelKey(channel)))?.tag === tag;
  if (!isCurrent || !isKnown) return isCurrent;
  throw refused(say('putBack', { channel, seq, count: seq + 1 }), say('putBackCure'));
}

/** Returns false if the state is no longer current. Throws refused if builds were removed while the change was judged. */
async function writeState(writer: Writer, current: ReadChannel, next: string, decision: Decided): Promise<boolean> {
  if (!(await isNewest(writer, current))) return false;
  if (decision.composed) await storeSets(writer, decision.composed);
  await writeAudit(writer, current);
  const namedBefore = new Set(reachableBuilds(current.document));
  await assertPublished(
    writer.store,
    reachableBuilds(decision.state).filter((id) => !namedBefore.has(id)),
  );
  return writer.store.swapPointer(channelKey(writer.channel), next, current.tag);
}

/** Checks that the store kept the new state, and adds it to the audit. Throws refused if the store lost it. */
async function completeChange(writer: Writer, document: ChannelDocument, source: string): Promise<void> {
  const { document: now } = await requireChannel(writer);
  if (now.seq <= document.seq && now.nonce !== document.nonce)
    throw refused(say('changeLost', { store: writer.store.label }), say('lostCure'));
  await writer.store.create(auditKey(writer.channel, document.seq), source);
}

/** Returns what runs in a state, of one name or as a whole, in a comparable form. Log-only entries do not change it. */
function runningState(state: ChannelDocument, name?: string): string {
  const { approval: _rule, ...whole } = stateOf(state);
  if (name === undefined) return canonicalJson(whole);
  return canonicalJson([
    liveIn(state, name),
    candidatesOf(state).filter(({ builds }) => builds.map(nameOf).includes(name)),
  ]);
}

/** A rollback of one name or the whole channel. Schedules, the rule of approval and log-only entries do not conflict with it. */
export interface Back {
  name?: string;
}

const compatibleWith = (back?: Back) => (laterState: ChannelDocument, seenState: ChannelDocument) =>
  runningState(laterState, back?.name) === runningState(seenState, back?.name) &&
  (back !== undefined ||
    (laterState.action.verb !== 'schedule' && Boolean(laterState.approval) === Boolean(seenState.approval)));

/** Throws conflict if `isCompatible` returns false for a state after the one that the caller saw. */
export async function assertSeen(
  reader: Reader,
  current: ChannelDocument,
  seq: number | undefined,
  isCompatible: (laterState: ChannelDocument, seenState: ChannelDocument) => boolean,
): Promise<void> {
  if (seq === undefined || seq === current.seq) return;
  const movedOnError = (authors: Iterable<string>) =>
    conflict(
      say('movedOn', { channel: reader.channel, seq: current.seq, by: [...authors].join(', ') }),
      say('lookAgainCure'),
    );
  if (seq > current.seq) throw movedOnError([current.action.who]);
  const seenState = await readState(reader, current, seq);
  const authors = new Set<string>();
  let formerState = seenState;
  let hasMovedOn = false;
  for await (const laterState of statesAfter(reader, current, seq)) {
    if (!isCompatible(laterState, formerState)) authors.add(laterState.action.who);
    hasMovedOn ||= !isCompatible(laterState, seenState);
    formerState = laterState;
  }
  if (hasMovedOn) throw movedOnError(authors);
}

/** Returns the approval as evidence: empty if none is needed, null if the change must not be written. Throws refused without `second`. */
export async function requestApproval(
  { second, channel }: Writer,
  current: ChannelDocument,
  decided: Pick<Decided, 'state' | 'action' | 'forward'>,
): Promise<Evidence[] | null> {
  if (!current.approval || !decided.forward) return [];
  if (second) return second(current, decided);
  throw refused(say('secondNeeded', { channel }), say('secondNeededCure'));
}

/** Checks every change: builds that do not fit go live only if forced. Throws refused. */
async function passRules(writer: Writer, current: ChannelDocument, decision: Decision): Promise<Evidence[]> {
  if (!decision.composed) return [];
  const { stable, candidates } = await newMisfits(writer, current, decision.composed);
  return acceptFindings([...stable, ...candidates], decision, say('unfit'), say('unfitCure'));
}

/** Returns findings as evidence of a forced change. Throws refused for one that is not forced, or without a reason. */
export function acceptFindings(
  findings: readonly Finding[],
  { force, why }: Pick<Decision, 'force' | 'why'>,
  message: string,
  cure: string,
): Evidence[] {
  if (findings.length === 0) return [];
  const problems = findings.map(findingLine);
  if (!force) throw refused(message, cure, problems);
  if (!why) throw refused(say('whyNeeded'), say('whyNeededCure'), problems);
  return findingsIn(findings, true);
}

/**
 * Changes the channel in one atomic step; a null decision changes nothing. Decides again on the newer state if another writer was faster. With `seq` (the state that
 * the caller saw), throws conflict if what the decision is about has changed since.
 */
export async function changeChannel(
  writer: Writer,
  decide: (current: ChannelDocument) => Promise<Decision | null>,
  seq?: number,
  back?: Back,
): Promise<Change> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const current = await requireChannel(writer);
    // the next state has another action
    assertKnown(current.source, current.document, say('theChannel', { channel: writer.channel }), 'action');
    await assertSeen(writer, current.document, seq, compatibleWith(back));
    writer.permit?.(current.document);
    const proposed = await decide(current.document);
    const decision = proposed && {
      ...proposed,
      state: proposed.state ?? proposed.composed?.state ?? stateOf(current.document),
    };
    const forced = decision ? await passRules(writer, current.document, decision) : [];
    const approval = decision && (await requestApproval(writer, current.document, decision));
    if (!decision || !approval) return { document: current.document, changed: false };
    const evidence = [...approval, ...(decision.evidence ?? []), ...forced];
    // the gate and the rules may report the same
    const distinct = new Map(evidence.map((each) => [canonicalJson(each), each]));
    const finalDecision = { ...decision, evidence: [...distinct.values()] };
    const at = await instantAfter(writer, current.document.action);
    const previous = { seq: current.document.seq, sha256: sha256Hex(current.source) };
    const next = signState(writer, at, finalDecision, previous);
    if (await writeState(writer, current, next, finalDecision)) {
      const document: ChannelDocument = JSON.parse(next);
      await completeChange(writer, document, next).catch(reportUnreachable(auditKey(writer.channel, document.seq)));
      return { document, changed: true };
    }
    await pause(Math.random() * Math.min(MAX_PAUSE_MS, 4 * 2 ** attempt));
  }
  throw conflict(say('keptChanging', { what: say('theChannel', { channel: writer.channel }) }), say('againCure'));
}

/** Creates the channel's first, empty state. Does nothing if the channel exists. */
export async function createChannel(writer: Writer): Promise<void> {
  const state = { stable: null, candidate: null, lastGood: {}, killed: [], digests: {} };
  const first = signState(writer, await timeOf(writer), { state, action: { kind: 'init' } });
  await writer.store.swapPointer(channelKey(writer.channel), first, null);
}

/** Re-signs the same state when a third of its lifetime is over, so that it never expires. */
export const renewChannel = (writer: Writer) =>
  changeChannel(writer, async ({ expires }) => {
    const remainingMs = Date.parse(expires) - (await timeOf(writer)).getTime();
    return remainingMs < (CHANNEL_LIFETIME_DAYS / 3) * 2 * DAY_MS ? { action: { kind: 'renew' } } : null;
  });

/** Creates the channel, or renews an existing one. */
export async function initChannel(writer: Writer) {
  await createChannel(writer);
  await requireChannel(writer);
  return renewChannel(writer);
}
