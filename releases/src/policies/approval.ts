import { randomBytes } from 'node:crypto';
import { HOUR_MS } from '@liaozhai/shared/contract';
import { type AgendaDecision, changeAgenda, readAgenda } from '../channel/changeAgenda.ts';
import { type Change, changeChannel, type Decided } from '../channel/changeChannel.ts';
import { currentDocument, history, statesAfter } from '../channel/readChannel.ts';
import { timeOf, type Writer } from '../channel/writer.ts';
import { conflict, forbidden, gone, refused, reportUnreachable } from '../errors.ts';
import { type Evidence, readAction } from '../model/action.ts';
import {
  type Agenda,
  type ForwardRequest,
  isSamePerson,
  liveOf,
  MAX_PROPOSALS,
  type PendingApproval,
  type Person,
  personNamed,
} from '../model/agenda.ts';
import { differencesBetween } from '../model/build.ts';
import { type ChannelDocument, liveIn, stateDigest, stateOf } from '../model/channel.ts';
import { canonicalJson } from '../model/signing.ts';
import { parseSteps } from '../model/steps.ts';
import { type Promotion, promoteFrom, sourceIn } from '../operations/promoteFrom.ts';
import { activate, canary, type Gate, promote } from '../operations/switching.ts';
import type { Body } from '../requests.ts';
import { say } from '../sentences.ts';
import { schedule } from './schedule.ts';

// Under a channel's approval rule, a forward change waits as a proposal until a second person carries it out. The outcome is recorded
// in the channel's append-only log, so that restoring an older agenda cannot revive a decided proposal.

const APPROVAL_HOURS = 24;

/** A change that was made, or the proposal that waits in its place. */
export type RequestOutcome = (Change | Promotion) & { proposal?: ProposalView };

interface CarryOptions {
  gate: Gate;
  seq?: number;
  /** Id of the approved proposal. */
  approved?: string;
}

/** Carries out a request. Throws refused, usage and conflict. */
function carryOut(writer: Writer, request: ForwardRequest, options: CarryOptions): Promise<Change | Promotion> {
  const { gate, seq, approved } = options;
  switch (request.verb) {
    case 'activate':
      return activate(writer, request.builds, { ...request, gate, seq });
    case 'canary':
      return canary(writer, request.builds, request.percent, { ...request, gate, seq });
    case 'promote': {
      const { from, ...rest } = request;
      return from
        ? promoteFrom(writer, { ...rest, from: sourceIn(writer, from), gate, seq })
        : promote(writer, { ...rest, gate, seq });
    }
    case 'schedule':
      return schedule(writer, { ...request, steps: parseSteps(request.steps), seq, approved }, gate);
    case 'approval':
      return setApprovalRule(writer, request, seq);
  }
}

/** One person can turn the rule on. While it is on, any change of it is a forward change, which needs a second person. */
async function setApprovalRule(
  writer: Writer,
  { hours, why }: Extract<ForwardRequest, { verb: 'approval' }>,
  seq?: number,
): Promise<Change> {
  const at = (await timeOf(writer)).toISOString();
  return changeChannel(
    writer,
    async (current) => {
      if ((current.approval?.hours ?? null) === hours) return null;
      const { approval: _, ...state } = stateOf(current);
      const approval = hours === null ? {} : { approval: { hours, by: writer.who.slice(0, 120), at } };
      return {
        state: { ...state, ...approval },
        action: { kind: 'approval' },
        why,
        evidence: [{ kind: 'approvalRule', hours }],
        forward: true,
      };
    },
    seq,
  );
}

/** Identifies the writer, by `who` when working directly on a store. Throws forbidden for a token without a name. */
function personOf({ actor, who }: Writer): Person {
  const person = actor?.person ?? personNamed([who]);
  if (person.subject !== null || person.names.length > 0) return person;
  throw forbidden(say('namesNobody'), say('namesNobodyCure'));
}

/** A change that was decided but not written, and the state it was decided on. */
type HeldChange = Pick<Decided, 'state' | 'action'> & { current: ChannelDocument };

/**
 * Carries out a request, or under the approval rule stores it as a proposal. The gate judges a proposal as well, but the new state is
 * not written until a second person approves it.
 */
export async function submit(writer: Writer, request: ForwardRequest, options: CarryOptions): Promise<RequestOutcome> {
  let heldChange: HeldChange | null = null;
  const holdChange: Writer['second'] = async (current, decided) => {
    heldChange = { current, ...decided };
    return null;
  };
  const change = await carryOut({ ...writer, second: holdChange }, request, options);
  return heldChange ? propose(writer, request, heldChange) : change;
}

const entryOf = (
  { id, request, by, before, after, builds }: PendingApproval,
  change: Extract<Evidence, { kind: 'proposal' }>['change'],
  why?: string,
) => ({
  action: { kind: 'proposal' as const, builds },
  why,
  evidence: [{ kind: 'proposal' as const, id, change, what: request.verb, by: by.slice(0, 80), before, after }],
});

const without = (agenda: Agenda, id: string): Agenda => ({
  ...agenda,
  proposals: agenda.proposals.filter((each) => each.id !== id),
});

/** Returns what would change for everybody, or for a share of visitors. */
function changesOf({ current, state, action }: HeldChange) {
  const namedBuilds = 'builds' in action ? action.builds : [];
  const isSwitch = current.stable?.set !== state.stable?.set;
  return isSwitch
    ? differencesBetween(liveIn(current), liveIn(state))
    : differencesBetween(liveOf(current, namedBuilds), namedBuilds);
}

async function propose(writer: Writer, request: ForwardRequest, held: HeldChange): Promise<RequestOutcome> {
  const { current, state, action } = held;
  const person = personOf(writer);
  const now = await timeOf(writer);
  const proposal: PendingApproval = {
    id: randomBytes(4).toString('hex'),
    request,
    by: writer.who.slice(0, 120),
    person,
    at: now.toISOString(),
    expires: new Date(now.getTime() + (current.approval?.hours ?? APPROVAL_HOURS) * HOUR_MS).toISOString(),
    seq: current.seq,
    before: stateDigest(current),
    after: stateDigest(state),
    builds: 'builds' in action ? [...action.builds] : [],
    changes: changesOf(held),
  };
  const { document } = await changeAgenda(writer, (agenda, at) => {
    if (agenda.proposals.some(({ id }) => id === proposal.id)) return null;
    const pendingProposals = agenda.proposals.filter(({ expires }) => Date.parse(expires) > now.getTime());
    const twin = pendingProposals.find((each) => isSameRequest(each, proposal));
    if (twin) throw refused(say('sameWaits', { by: twin.by, id: twin.id }), say('sameWaitsCure', { id: twin.id }));
    if (pendingProposals.length >= MAX_PROPOSALS)
      throw refused(say('manyWait', { count: pendingProposals.length }), say('manyWaitCure'));
    if (stateDigest(at) !== proposal.before)
      throw conflict(say('changedMeanwhile', { channel: at.channel }), say('lookAgainCure'));
    return {
      agenda: { ...agenda, proposals: [...pendingProposals, proposal] },
      entry: entryOf(proposal, 'proposed', request.why),
    };
  });
  return { document, changed: false, proposal: viewOf(proposal, document, person) };
}

/** Compares request, state and result, regardless of person and reason. */
function isSameRequest(one: PendingApproval, other: PendingApproval): boolean {
  const comparable = ({ request: { why: _, ...request }, before, after }: PendingApproval) =>
    canonicalJson({ request, before, after });
  return comparable(one) === comparable(other);
}

interface ApprovalOutcome {
  change: Extract<Evidence, { kind: 'proposal' }>['change'];
  by: string;
  at: string;
  seq: number;
  /** True if the log has an entry for the proposal itself, not only for the change. */
  isLogged: boolean;
}

/** Reads a proposal's outcome from the log; null while it is pending. */
async function outcomeOf(
  writer: Writer,
  current: ChannelDocument,
  { id, seq }: PendingApproval,
): Promise<ApprovalOutcome | null> {
  let outcome: ApprovalOutcome | null = null;
  for await (const state of statesAfter(writer, current, seq)) {
    const { who: by, at } = state.action;
    for (const each of readAction(state.action).evidence) {
      if (each.kind === 'approved' && each.proposal === id)
        outcome ??= { change: 'approved', by, at, seq: state.seq, isLogged: false };
      if (each.kind === 'proposal' && each.id === id && each.change !== 'proposed')
        return { ...(outcome ?? { change: each.change, by, at, seq: state.seq }), isLogged: true };
    }
  }
  return outcome;
}

async function assertUndecided(writer: Writer, current: ChannelDocument, proposal: PendingApproval): Promise<void> {
  const outcome = await outcomeOf(writer, current, proposal);
  if (outcome)
    throw conflict(
      say('decidedAlready', { id: proposal.id, change: outcome.change, by: outcome.by, seq: outcome.seq }),
      say('decidedAlreadyCure'),
    );
}

/** Returns who changed last what visitors run. Entries that only inform, such as alarms and proposals, do not count. */
async function lastAuthor(writer: Writer, current: ChannelDocument): Promise<string> {
  let newer = current;
  for await (const older of history(writer, current)) {
    if (stateDigest(older) !== stateDigest(current)) break;
    newer = older;
  }
  return newer.action.who;
}

/** Throws conflict if the proposal was decided, refused if it expired or the channel's state has changed. */
async function assertOpen(writer: Writer, current: ChannelDocument, proposal: PendingApproval): Promise<void> {
  await assertUndecided(writer, current, proposal);
  const { id, by, expires, before } = proposal;
  if (Date.parse(expires) <= (await timeOf(writer)).getTime())
    throw gone('proposal', say('expired', { id, instant: expires }), say('expiredCure', { by }));
  if (stateDigest(current) !== before)
    throw refused(
      say('overtaken', { channel: current.channel, id, by: await lastAuthor(writer, current) }),
      say('overtakenCure', { by }),
    );
}

function requireProposal({ proposals }: Agenda, id: string): PendingApproval {
  const proposal = proposals.find((each) => each.id === id);
  if (proposal) return proposal;
  throw gone('proposal', say('noProposal', { id }), say('noProposalCure'));
}

/** Removes a proposal from the agenda, and logs its outcome unless the log already has it. */
const closeProposal = (
  writer: Writer,
  proposal: PendingApproval,
  change: Extract<Evidence, { kind: 'proposal' }>['change'],
  why?: string,
): Promise<Change> =>
  changeAgenda(writer, async (agenda, document): Promise<AgendaDecision | null> => {
    const outcome = await outcomeOf(writer, document, proposal);
    const entry = outcome?.isLogged ? null : entryOf(proposal, change, why);
    if (agenda.proposals.some(({ id }) => id === proposal.id)) return { agenda: without(agenda, proposal.id), entry };
    // an approved schedule has already removed its proposal from the agenda
    return entry && change === 'approved' ? { agenda, entry } : null;
  });

/**
 * Carries out another person's proposal. The gate judges it again, and it is written only to the state it was made for. Throws
 * forbidden for the proposer, refused if the channel has changed, and conflict if somebody else was faster.
 */
export async function approve(writer: Writer, { id, why }: Body<'approve'>, gate: Gate): Promise<Change> {
  const person = personOf(writer);
  const proposal = requireProposal(await readAgenda(writer), id);
  if (isSamePerson(person, proposal.person))
    throw forbidden(say('ownProposal', { id, by: proposal.by }), say('ownProposalCure'));
  const assertStillOpen = async () => assertOpen(writer, await currentDocument(writer), proposal);
  await assertStillOpen();
  const agree: Writer['second'] = async (at, { state }) => {
    await assertOpen(writer, at, proposal);
    if (stateDigest(state) !== proposal.after)
      throw refused(say('otherwise', { id }), say('expiredCure', { by: proposal.by }));
    return [{ kind: 'approved', proposal: id, by: proposal.by.slice(0, 100) }];
  };
  const change = await carryOut({ ...writer, second: agree }, proposal.request, { gate, approved: id });
  if (!change.changed) {
    await assertStillOpen();
    throw refused(say('nothingToDo', { id }), say('nothingToDoCure', { id }));
  }
  await closeProposal(writer, proposal, 'approved', why).catch(reportUnreachable(`proposal ${id}`));
  return change;
}

/** Removes a proposal: withdrawn by its proposer, rejected by others. With `own`, throws forbidden for others. */
export async function reject(writer: Writer, { id, why }: Body<'approve'>, { own = false } = {}): Promise<Change> {
  const person = personOf(writer);
  let isClosed = false;
  return changeAgenda(writer, async (agenda, document) => {
    if (isClosed && !agenda.proposals.some((each) => each.id === id)) return null;
    const proposal = requireProposal(agenda, id);
    const isOwn = isSamePerson(person, proposal.person);
    if (own && !isOwn) throw forbidden(say('othersProposal', { id, by: proposal.by }), say('othersProposalCure'));
    if (!isClosed) await assertUndecided(writer, document, proposal);
    isClosed = true;
    return { agenda: without(agenda, id), entry: entryOf(proposal, isOwn ? 'withdrawn' : 'rejected', why) };
  });
}

/** Longer than an approval takes between its change and its log entry. */
const APPROVAL_TIMEOUT_MS = 60_000;

/**
 * Removes expired proposals and completes interrupted approvals: a written switch counts as approved, a schedule that was not written is
 * dropped. Every console may do this concurrently.
 */
export async function settleProposals(writer: Writer): Promise<void> {
  for (const proposal of (await readAgenda(writer)).proposals) {
    const document = await currentDocument(writer);
    const now = (await timeOf(writer)).getTime();
    const outcome = await outcomeOf(writer, document, proposal);
    const isPlan = proposal.request.verb === 'schedule';
    if (outcome && now - Date.parse(outcome.at) >= APPROVAL_TIMEOUT_MS)
      await closeProposal({ ...writer, who: outcome.by }, proposal, isPlan ? 'interrupted' : 'approved');
    if (!outcome && Date.parse(proposal.expires) <= now) await closeProposal(writer, proposal, 'expired');
  }
}

export interface ProposalView extends Omit<PendingApproval, 'person'> {
  /** Proposed by the viewer: another person has to approve it. */
  own: boolean;
  /** The channel has changed, so it has to be proposed again. */
  outdated: boolean;
}

function viewOf({ person, ...proposal }: PendingApproval, document: ChannelDocument, viewer: Person): ProposalView {
  const outdated = stateDigest(document) !== proposal.before;
  return { ...proposal, own: isSamePerson(person, viewer), outdated };
}

export const viewProposals = (
  { actor, who }: Writer,
  { proposals }: Agenda,
  document: ChannelDocument,
  now: Date,
): ProposalView[] =>
  proposals
    .filter(({ expires }) => Date.parse(expires) > now.getTime())
    .map((proposal) => viewOf(proposal, document, actor?.person ?? personNamed([who])));
