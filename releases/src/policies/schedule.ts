import { randomBytes } from 'node:crypto';
import { MINUTE_MS } from '@liaozhai/shared/contract';
import { assertRemote } from '../builds/catalog.ts';
import { type AgendaDecision, changeAgenda, frozenNow, readAgenda } from '../channel/changeAgenda.ts';
import type { Change } from '../channel/changeChannel.ts';
import { currentDocument, history, statesAfter } from '../channel/readChannel.ts';
import { timeOf, type Writer } from '../channel/writer.ts';
import { conflict, forbidden, gone, messageOf, ReleaseError, refused, usage } from '../errors.ts';
import { AUTO_STOP, judgeStep } from '../health/autoStop.ts';
import type { HealthReader } from '../health/healthRecord.ts';
import { type Evidence, readAction } from '../model/action.ts';
import { type Agenda, candidateOf, liveOf, type Schedule, standing } from '../model/agenda.ts';
import { nameOf, sameBuilds } from '../model/build.ts';
import type { ChannelDocument } from '../model/channel.ts';
import { type Step, stepsText } from '../model/steps.ts';
import { canary, type Gate, promote, requireCandidate, type SwitchOptions } from '../operations/switching.ts';
import { isRevoked } from '../operations/tokens.ts';
import type { Body } from '../requests.ts';
import { say } from '../sentences.ts';

export interface ScheduleRequest extends Omit<Body<'schedule'>, 'steps'> {
  steps: Step[];
  /** Id of the approved proposal, under the approval rule. */
  approved?: string;
}

const iso = (milliseconds: number): string => new Date(milliseconds).toISOString();

type ScheduleChange = Extract<Evidence, { kind: 'schedule' }>['change'];

const entryOf = (
  { id, builds, steps, taken }: Schedule,
  change: ScheduleChange,
  why?: string,
  more: Evidence[] = [],
) => ({
  action: { kind: 'schedule' as const, builds },
  why,
  evidence: [{ kind: 'schedule' as const, change, steps: stepsText(steps), taken, id }, ...more],
});

interface ScheduleDecision {
  /** Null: the schedule is removed. */
  next: Schedule | null;
  entry: AgendaDecision['entry'];
}

const withSchedule = (agenda: Agenda, { id }: Schedule, { next, entry }: ScheduleDecision): AgendaDecision => ({
  agenda: { ...agenda, schedules: agenda.schedules.flatMap((each) => (each.id === id ? (next ?? []) : each)) },
  entry,
});

/** Changes a schedule unless it was removed, or `decide` returns null for what is stored. */
const changeSchedule = (
  writer: Writer,
  planned: Schedule,
  decide: (stored: Schedule, document: ChannelDocument) => ScheduleDecision | null,
): Promise<Change> =>
  changeAgenda(writer, (agenda, document) => {
    const stored = agenda.schedules.find(({ id }) => id === planned.id);
    const decision = stored && decide(stored, document);
    return decision ? withSchedule(agenda, planned, decision) : null;
  });

export const isStanding = (schedule: Schedule, document: ChannelDocument): boolean =>
  ['ready', 'taken'].includes(standing(schedule, document));

function assertFree(agenda: Agenda, document: ChannelDocument, builds: readonly string[]): void {
  const names = new Set(builds.map(nameOf));
  const taken = agenda.schedules.find(
    (each) => isStanding(each, document) && each.builds.some((build) => names.has(nameOf(build))),
  );
  if (taken)
    throw refused(
      say('scheduled', {
        names: taken.builds.map(nameOf).join(', '),
        steps: stepsText(taken.steps),
        by: taken.by,
      }),
      say('scheduledCure'),
    );
}

/** Returns when the next step is due if `taken` steps were applied, the last of them at `from`. */
const dueAfter = (steps: readonly Step[], taken: number, from: number): string =>
  iso(from + ((steps[taken]?.minutes ?? 0) - (steps[taken - 1]?.minutes ?? 0)) * MINUTE_MS);

/**
 * Schedules the steps of a candidate. An immediate first step is applied here, through the gate. A console takes the others, and under
 * the approval rule the first one too. Throws refused if the candidate has a schedule or already exceeds the first step.
 */
export async function schedule(
  writer: Writer,
  { builds, name, steps, enough = AUTO_STOP.minimumVisitors, why = '', seq, despiteFreeze, approved }: ScheduleRequest,
  gate: Gate,
): Promise<Change> {
  const document = await currentDocument(writer);
  writer.permit?.(document);
  const meant = builds.length > 0 ? builds : (await requireCandidate(writer, document, name)).builds;
  assertFree(await readAgenda(writer), document, meant);
  const running = candidateOf(document, { salt: null, builds: meant });
  const [first] = steps;
  if (running && first && first.percent <= running.percent)
    throw refused(say('runsFor', { builds: meant.join(' '), percent: running.percent }), say('runsForCure'));
  if (!running && first?.percent === 100) throw refused(say('nobodyJudges'), say('nobodyJudgesCure'));
  if (meant.every((build) => document.stable?.builds.includes(build)))
    throw refused(say('liveAlready'), say('liveAlreadyCure'));
  for (const build of meant) await writer.catalog.record(build);
  // a candidate that was aborted meanwhile must not begin again
  const permit = (current: ChannelDocument) => {
    writer.permit?.(current);
    if (running && !candidateOf(current, { salt: running.salt, builds: meant }))
      throw refused(say('candidateChanged'), say('candidateChangedCure'));
  };
  const byTwo = document.approval !== undefined;
  if (byTwo && despiteFreeze) throw usage(say('firstStepLater'), say('firstStepLaterCure'));
  const options = { gate, why, seq, despiteFreeze };
  // only judges the first step: the approval of the schedule covers it
  if (byTwo && first?.minutes === 0)
    await begin({ ...writer, second: async () => null }, meant, first.percent, options);
  const begun =
    !byTwo && first?.minutes === 0 ? await begin({ ...writer, permit }, meant, first.percent, options) : null;
  const now = (await timeOf(writer)).getTime();
  const current = begun?.document ?? document;
  const candidate = begun?.document ? candidateOf(current, { salt: null, builds: meant }) : running;
  // the only step was just taken
  if (begun && steps.length === 1) return begun;
  const taken = begun ? 1 : 0;
  const planned: Schedule = {
    id: randomBytes(4).toString('hex'),
    builds: [...(candidate?.builds ?? meant)].sort(),
    salt: candidate?.salt ?? null,
    share: candidate?.percent ?? null,
    before: liveOf(current, meant),
    steps: [...steps],
    taken,
    due: dueAfter(steps, taken, now),
    since: iso(now),
    enough,
    by: writer.who.slice(0, 120),
    at: iso(now),
    why,
    paused: null,
    told: [],
    ...(writer.actor?.token ? { token: writer.actor.token } : {}),
    ...(approved ? { approved: { proposal: approved, by: writer.who.slice(0, 120), seq: document.seq } } : {}),
  };
  const change = changeAgenda(
    writer,
    (agenda, at) => {
      if (agenda.schedules.some(({ id }) => id === planned.id)) return null;
      if (approved && !agenda.proposals.some(({ id }) => id === approved))
        throw conflict(say('takenOff', { id: approved }), say('takenOffCure'));
      assertFree(agenda, at, planned.builds);
      if (standing(planned, at) !== 'ready') throw refused(say('candidateChanged'), say('candidateChangedCure'));
      const schedules = [...agenda.schedules.filter((each) => isStanding(each, at)), planned];
      const proposals = agenda.proposals.filter(({ id }) => id !== approved);
      return { agenda: { ...agenda, schedules, proposals }, entry: entryOf(planned, 'set', why), forward: true };
    },
    begun ? undefined : seq,
  );
  return change.catch((cause: unknown) => {
    if (!begun?.changed || !(cause instanceof ReleaseError)) throw cause;
    const { kind, message, details } = cause;
    const values = { seq: begun.document.seq, problem: message };
    const cure = kind === 'unreachable' ? say('onlyFirstStepCure') : cause.cure;
    throw new ReleaseError(kind, say('onlyFirstStep', values), cure, details, { kind: 'partly' });
  });
}

/** Takes one step: a share of visitors, or everyone. */
const begin = async (
  writer: Writer,
  builds: readonly string[],
  percent: number,
  options: SwitchOptions,
): Promise<Change> => {
  if (percent < 100) return canary(writer, builds, percent, options);
  return promote(writer, { name: nameOf(builds[0] ?? ''), ...options });
};

async function requireSchedule(
  { store }: Pick<Writer, 'store'>,
  agenda: Agenda,
  document: ChannelDocument,
  name?: string,
): Promise<Schedule> {
  const matching = agenda.schedules.filter(
    (each) => isStanding(each, document) && (!name || each.builds.some((build) => nameOf(build) === name)),
  );
  const [only] = matching;
  if (only && matching.length === 1) return only;
  if (only) throw refused(say('manySchedules', { channel: document.channel }), say('manySchedulesCure'));
  await assertRemote(store, name);
  const { channel } = document;
  const message = name ? say('noScheduleOf', { channel, name }) : say('noSchedule', { channel });
  throw gone('schedule', message, say('noScheduleCure'));
}

/** Only a manager may take over a schedule whose maker has left. */
export const mayContinue = ({ actor }: Writer, { paused }: Schedule): boolean =>
  !paused?.revoked || !actor || actor.isManager;

/** Pauses, continues or cancels a schedule. The candidate keeps its share, and a pause keeps the remaining time. */
export async function steerSchedule(
  writer: Writer,
  to: 'pause' | 'continue' | 'cancel',
  { name, why, seq }: Body<'pause'>,
): Promise<Change> {
  const now = (await timeOf(writer)).getTime();
  let steered: string | null = null;
  const decide = async (agenda: Agenda, document: ChannelDocument): Promise<AgendaDecision | null> => {
    if (to === 'cancel' && steered && !agenda.schedules.some(({ id }) => id === steered)) return null;
    const planned = await requireSchedule(writer, agenda, document, name);
    steered = planned.id;
    const decided = (next: Schedule | null, change: ScheduleChange) =>
      withSchedule(agenda, planned, { next, entry: entryOf(planned, change, why) });
    if (to === 'cancel') return decided(null, 'cancelled');
    if ((to === 'pause') === (planned.paused !== null)) return null;
    if (to === 'pause')
      return decided({ ...planned, paused: { by: writer.who.slice(0, 120), at: iso(now), refusal: '' } }, 'paused');
    const left = Math.max(0, Date.parse(planned.due) - Date.parse(planned.paused?.at ?? planned.due));
    const { token: _, ...rest } = planned;
    if (!mayContinue(writer, planned)) throw forbidden(say('makerLeft'), say('makerLeftCure'));
    const token = planned.paused?.revoked ? writer.actor?.token : planned.token;
    const next = { ...rest, paused: null, due: iso(now + left), told: [], ...(token ? { token } : {}) };
    return decided(next, 'continued');
  };
  return changeAgenda(writer, decide, seq);
}

/** Records a taken step. The next one follows after the planned interval, however late this one was. */
const noteStep = (writer: Writer, planned: Schedule, document: ChannelDocument, now: number) =>
  changeSchedule(writer, planned, (stored) => {
    if (stored.taken !== planned.taken) return null;
    const candidate = candidateOf(document, planned);
    const taken = stored.taken + 1;
    const step = stored.steps[stored.taken];
    if (!candidate || !step || taken >= stored.steps.length) return { next: null, entry: null };
    const due = dueAfter(stored.steps, taken, now);
    const next = { ...stored, salt: candidate.salt, share: step.percent, taken, due, since: iso(now), told: [] };
    return { next, entry: null };
  });

/**
 * Approves the steps of an approved schedule. The log is decisive: a schedule that it records as cancelled or paused takes no step, even
 * if an older agenda was restored.
 */
const approvedSteps =
  (writer: Writer, { id, approved }: Schedule): Writer['second'] =>
  async (current) => {
    if (!approved) throw refused(say('madeByOne'), say('proposeRestCure'));
    let last: string = 'set';
    for await (const { action } of statesAfter(writer, current, approved.seq))
      for (const each of readAction(action).evidence)
        if (each.kind === 'schedule' && each.id === id && each.change !== 'waits') last = each.change;
    if (last !== 'set' && last !== 'continued')
      throw refused(say('scheduleStands', { change: last }), say('proposeRestCure'));
    return [{ kind: 'approved', proposal: approved.proposal, by: approved.by.slice(0, 100) }];
  };

/** Whether the newest share of the candidate came with the schedule's next step, rather than by hand. */
async function isNextStep(writer: Writer, { builds, taken }: Schedule, document: ChannelDocument) {
  const former = history(writer, document);
  for (let state: ChannelDocument | undefined = document; state; state = (await former.next()).value ?? undefined) {
    const action = readAction(state.action);
    if (action.kind === 'canary' && sameBuilds(action.builds, builds))
      return action.evidence.some((each) => each.kind === 'step' && each.step === taken + 1);
  }
  return false;
}

async function take(
  writer: Writer,
  planned: Schedule,
  document: ChannelDocument,
  gate: Gate,
  spoke: Evidence[],
): Promise<void> {
  const step = planned.steps[planned.taken];
  if (!step) return;
  const evidence: Evidence[] = [
    { kind: 'step', step: planned.taken + 1, of: planned.steps.length, by: planned.by },
    ...spoke,
  ];
  const { document: after } = await begin(
    { ...writer, who: say('scheduleOf', { by: planned.by }), second: approvedSteps(writer, planned) },
    planned.builds,
    step.percent,
    {
      gate,
      why: planned.why,
      // of all servers that see this state, one swaps it
      seq: document.seq,
      evidence,
    },
  );
  await noteStep(writer, planned, after, (await timeOf(writer)).getTime());
}

const MAX_REASON_CHARACTERS = 500;

/** Joins as many sentences as fit: a truncated one could not be translated. */
function wholeSentences(sentences: readonly string[]): string {
  const count = sentences.findIndex((_, at) => sentences.slice(0, at + 1).join('; ').length > MAX_REASON_CHARACTERS);
  return (count > 0 ? sentences.slice(0, count) : sentences).join('; ').slice(0, MAX_REASON_CHARACTERS);
}

/** Pauses a schedule after a refusal or a revoked token until a person continues it, unless its candidate has changed. */
async function stop(
  writer: Writer,
  planned: Schedule,
  change: 'refused' | 'revoked',
  ...reasons: string[]
): Promise<void> {
  const at = (await timeOf(writer)).toISOString();
  const refusal = wholeSentences(reasons);
  const paused = { by: 'gate', at, refusal, ...(change === 'revoked' ? { revoked: true } : {}) };
  await changeSchedule(writer, planned, (stored, document) =>
    stored.paused || stored.taken !== planned.taken || standing(stored, document) !== 'ready'
      ? null
      : { next: { ...stored, paused }, entry: entryOf(stored, change, refusal) },
  );
}

async function advance(writer: Writer, reader: HealthReader, id: string, gate: Gate): Promise<void> {
  const document = await currentDocument(writer);
  const planned = (await readAgenda(writer)).schedules.find((each) => each.id === id);
  if (!planned) return;
  const now = await timeOf(writer);
  const stands = standing(planned, document);
  const isOver = stands === 'over' || (stands === 'taken' && !(await isNextStep(writer, planned, document)));
  if (stands === 'done' || isOver) {
    await changeSchedule(writer, planned, (_, at) =>
      standing(planned, at) === stands ? { next: null, entry: isOver ? entryOf(planned, 'ended') : null } : null,
    );
    return;
  }
  if (stands === 'taken') {
    await noteStep(writer, planned, document, now.getTime());
    return;
  }
  if (planned.paused) return;
  if (planned.token && (await isRevoked(writer, planned.token)))
    return stop(writer, planned, 'revoked', say('makerRevoked', { by: planned.by }));
  if (now.toISOString() < planned.due) return;
  const { waiting, evidence } = await judgeStep(writer, reader, planned, document, now);
  if (waiting && !planned.told.includes(waiting.kind))
    await changeSchedule(writer, planned, (stored, at) => {
      if (stored.told.includes(waiting.kind) || standing(stored, at) !== 'ready') return null;
      const next = { ...stored, told: [...stored.told, waiting.kind] };
      return { next, entry: entryOf(stored, 'waits', undefined, [waiting, ...evidence]) };
    });
  if (waiting) return;
  try {
    await take(writer, planned, document, gate, evidence);
  } catch (cause) {
    if (!(cause instanceof ReleaseError) || !['conflict', 'refused'].includes(cause.kind)) throw cause;
    // the channel changed or was frozen meanwhile: the next round decides again
    if (cause.kind === 'conflict' || (await frozenNow(writer))) return;
    await stop(writer, planned, 'refused', messageOf(cause), ...cause.details);
  }
}

/**
 * Takes the steps that are due and healthy, and logs why others wait. Removes schedules that a rollback, stop or switch has ended. Any
 * number of servers may do this concurrently: the channel's compare-and-swap lets one of them take a step. Tries every schedule, then
 * throws the first failure.
 */
export async function takeDueSteps(writer: Writer, reader: HealthReader, gate: () => Promise<Gate>): Promise<void> {
  const { schedules } = await readAgenda(writer);
  const judged: Gate = async (proposal) => (await gate())(proposal);
  const failures: unknown[] = [];
  for (const { id } of schedules)
    await advance({ ...writer, who: 'schedule' }, reader, id, judged).catch((cause) => failures.push(cause));
  if (failures.length > 0) throw failures[0];
}
