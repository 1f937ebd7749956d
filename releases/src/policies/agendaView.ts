import { readAgenda } from '../channel/changeAgenda.ts';
import { timeOf, type Writer } from '../channel/writer.ts';
import { nullIfRefused, ReleaseError } from '../errors.ts';
import { judgeStep, type Waiting } from '../health/autoStop.ts';
import type { HealthReader } from '../health/healthRecord.ts';
import { type Agenda, type Freeze, frozenAt, type Schedule, standing } from '../model/agenda.ts';
import { nameOf } from '../model/build.ts';
import type { ApprovalRule, ChannelDocument } from '../model/channel.ts';
import type { Store } from '../store/store.ts';
import { type ProposalView, viewProposals } from './approval.ts';
import { isStanding, mayContinue } from './schedule.ts';
import { type ListedWebhook, listWebhooks } from './webhooks.ts';

const shownSchedule = ({ builds, steps, taken, paused, by, at, why }: Schedule) => ({
  name: nameOf(builds[0] ?? ''),
  ...{ builds, steps, taken, paused, by, at, why },
});

export interface ScheduleView extends ReturnType<typeof shownSchedule> {
  next: { percent: number; due: string };
  /** Why a due step waits; null if it is not due, or about to be taken. */
  waiting: Waiting | null;
  /** False if the viewer may not continue it after its pause. */
  mayContinue: boolean;
}

export interface AgendaView {
  schedules: ScheduleView[];
  freezes: (Freeze & { open: boolean })[];
  /** End and reason of the freeze; null if nothing is frozen. */
  frozen: { until: string; reason: string } | null;
  approval: ApprovalRule | null;
  proposals: ProposalView[];
  webhooks: ListedWebhook[];
  /** True if a console is running that takes the steps. */
  watched: boolean;
  /** Why the agenda or the webhooks cannot be read, or null. */
  problem: string | null;
}

const WATCH_KEY = 'leases/steps.json';
/** Grace period after a lease expired. A running console renews it long before. */
const UNWATCHED_MS = 60_000;

async function isWatched(store: Store): Promise<boolean> {
  const [pointer, now] = [await store.readPointer(WATCH_KEY), await store.time()];
  const [, until = '0'] = /"until":(\d+)/.exec(pointer?.body ?? '') ?? [];
  return Number(until) + UNWATCHED_MS > now.getTime();
}

/** Reads the agenda for display. A damaged one is reported as `problem`. */
export async function viewAgenda(writer: Writer, reader: HealthReader, document: ChannelDocument): Promise<AgendaView> {
  const { approval = null } = document;
  const emptyView: AgendaView = {
    ...{ schedules: [], freezes: [], proposals: [], webhooks: [] },
    ...{ approval, frozen: null, watched: true, problem: null },
  };
  const problems: string[] = [];
  const reportDamage = (cause: unknown): null => {
    if (cause instanceof ReleaseError) problems.push(cause.message, cause.cure);
    return nullIfRefused(cause);
  };
  const agenda: Agenda | null = await readAgenda(writer).catch(reportDamage);
  const webhooks: ListedWebhook[] = (await listWebhooks(writer).catch(reportDamage)) ?? [];
  const problem = problems.join('; ') || null;
  if (!agenda) return { ...emptyView, webhooks, problem };
  if (agenda.schedules.length + agenda.freezes.length + agenda.proposals.length + webhooks.length === 0)
    return { ...emptyView, problem };
  const now = await timeOf(writer);
  const schedules: ScheduleView[] = [];
  for (const schedule of agenda.schedules.filter((each) => isStanding(each, document))) {
    const { steps, taken, due, paused } = schedule;
    const next = steps[taken];
    if (!next) continue;
    const isDue = !paused && due <= now.toISOString() && standing(schedule, document) === 'ready';
    const { waiting } = isDue ? await judgeStep(writer, reader, schedule, document, now) : { waiting: null };
    const shown = { ...shownSchedule(schedule), mayContinue: mayContinue(writer, schedule) };
    schedules.push({ ...shown, next: { percent: next.percent, due }, waiting });
  }
  const frozen = frozenAt(agenda.freezes, now);
  return {
    ...emptyView,
    schedules,
    freezes: agenda.freezes.map((freeze) => ({ ...freeze, open: frozenAt([freeze], now) !== null })),
    frozen: frozen && { until: frozen.until.toISOString(), reason: frozen.freeze.reason },
    proposals: viewProposals(writer, agenda, document, now),
    webhooks,
    problem,
    watched: await isWatched(writer.store),
  };
}
