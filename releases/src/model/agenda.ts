import { DAY_MS, instantSchema, MINUTE_MS, textSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { usage } from '../errors.ts';
import { say } from '../sentences.ts';
import { windowSchema } from './action.ts';
import { nameOf, sameBuilds } from './build.ts';
import { type ChannelDocument, candidatesOf, liveIn } from './channel.ts';
import { stepSchema } from './steps.ts';

// The agenda holds a channel's scheduled changes, freezes and proposals. It is a document of its own because the
// channel's document is public.

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const id = v.pipe(v.string(), v.regex(/^[0-9a-f]{8}$/));
const person = textSchema(120);

const scheduleSchema = v.object({
  id,
  builds: v.pipe(v.array(textSchema(140)), v.minLength(1)),
  /** Salt of the candidate that the schedule moves; null while there is no candidate. */
  salt: v.nullable(v.string()),
  /** Percentage that the candidate should have now; null while there is no candidate. */
  share: v.nullable(v.number()),
  /** Live builds of the same remotes when the schedule was created. */
  before: v.array(v.string()),
  steps: v.pipe(v.array(stepSchema), v.minLength(1), v.maxLength(20)),
  taken: count,
  /** The earliest instant of the next step. */
  due: instantSchema,
  /** Start of the period whose visitors are judged for the next step. */
  since: instantSchema,
  /** Visitors that each group needs before a step. */
  enough: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  by: person,
  at: instantSchema,
  why: textSchema(500),
  paused: v.nullable(
    v.object({
      by: person,
      at: instantSchema,
      /** Why the step was refused; empty if a person paused the schedule. */
      refusal: textSchema(500),
      /** The token that created the schedule was revoked. */
      revoked: v.optional(v.boolean()),
    }),
  ),
  /** Reasons for waiting that the log already records for the next step. */
  told: v.array(v.string()),
  /** Id of the token that created the schedule, which pauses when the token is revoked. */
  token: v.optional(v.string()),
  /** Under the approval rule: the proposal, its approver, and the state of the channel at the approval. */
  approved: v.optional(v.object({ proposal: id, by: person, seq: count })),
});

/** Planned steps of one candidate. */
export type Schedule = v.InferOutput<typeof scheduleSchema>;

/** Time in which nothing may be switched forward: once, or every week in a named time zone. */
export type FreezeWindow = v.InferOutput<typeof windowSchema>;

export const freezeSchema = v.object({
  id,
  window: windowSchema,
  reason: textSchema(200, 1),
  by: person,
  at: instantSchema,
});

export type Freeze = v.InferOutput<typeof freezeSchema>;

/** Identity for comparing two persons: the provider's subject, else names. */
const personSchema = v.object({ subject: v.nullable(v.string()), names: v.array(v.string()) });

export type Person = v.InferOutput<typeof personSchema>;

const plainName = (name: string): string => name.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

/** Normalises names, so that they compare regardless of case, width and blanks. Empty names are dropped. */
export const personNamed = (names: readonly string[], subject: string | null = null): Person => ({
  subject,
  names: [...new Set(names.map(plainName))].filter((name) => name !== ''),
});

/** Compares subjects if both persons have one, even if their names are equal. Otherwise one common name is enough. */
export const isSamePerson = (one: Person, other: Person): boolean =>
  one.subject !== null && other.subject !== null
    ? one.subject === other.subject
    : one.names.some((name) => other.names.includes(name));

/** Any text: a word that is no build, and an unknown name, are refused with advice, which a schema error would lack. */
const builds = v.pipe(v.array(textSchema(160)), v.maxLength(300));
const name = v.optional(textSchema(80, 1));
const why = v.optional(textSchema(500));
/** `despiteFreeze`: the reason for switching although the channel is frozen. */
const forced = { why, force: v.optional(v.boolean()), despiteFreeze: v.optional(textSchema(200, 1)) };

export const FORWARD_FIELDS = {
  activate: { builds: v.pipe(builds, v.minLength(1)), ...forced },
  canary: {
    builds: v.optional(builds, []),
    name,
    percent: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
    ...forced,
  },
  /** `fromSeq`: the state of the other channel that the caller saw. */
  promote: { name, from: name, fromSeq: v.optional(count), ...forced },
  schedule: {
    builds: v.optional(builds, []),
    name,
    /** As in `5@now,25@1h`. */
    steps: textSchema(400, 1),
    enough: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
    why,
    despiteFreeze: forced.despiteFreeze,
  },
  /** The new approval rule; null = one person decides. */
  approval: { hours: v.nullable(v.pipe(v.number(), v.gtValue(0), v.maxValue(168))), why },
} as const;

/** A requested forward change, with full build ids. */
const requestSchema = v.variant('verb', [
  v.object({ verb: v.literal('activate'), ...FORWARD_FIELDS.activate }),
  v.object({ verb: v.literal('canary'), ...FORWARD_FIELDS.canary }),
  v.object({ verb: v.literal('promote'), ...FORWARD_FIELDS.promote }),
  v.object({ verb: v.literal('schedule'), ...FORWARD_FIELDS.schedule }),
  v.object({ verb: v.literal('approval'), ...FORWARD_FIELDS.approval }),
]);

export type ForwardRequest = v.InferOutput<typeof requestSchema>;

const proposalSchema = v.object({
  id,
  request: requestSchema,
  by: person,
  person: personSchema,
  at: instantSchema,
  expires: instantSchema,
  /** State of the channel at the proposal; later states record its outcome. */
  seq: count,
  /** Digests of the channel's state before and after the change. */
  before: v.string(),
  after: v.string(),
  /** The proposed builds, and what would change for everybody or for a share of visitors. */
  builds: v.array(textSchema(140)),
  changes: v.array(v.object({ name: v.string(), from: v.nullable(v.string()), to: v.nullable(v.string()) })),
});

export type PendingApproval = v.InferOutput<typeof proposalSchema>;

export const MAX_PROPOSALS = 20;

/** Contents of `agendas/<channel>.json`. */
export const agendaSchema = v.object({
  schedules: v.pipe(v.array(scheduleSchema), v.maxLength(50)),
  freezes: v.pipe(v.array(freezeSchema), v.maxLength(50)),
  /** Omitted while empty, because older readers do not know the field. */
  proposals: v.optional(v.pipe(v.array(proposalSchema), v.maxLength(MAX_PROPOSALS)), []),
});

export type Agenda = v.InferOutput<typeof agendaSchema>;

export function liveOf(document: ChannelDocument, builds: readonly string[]): string[] {
  const names = new Set(builds.map(nameOf));
  return liveIn(document).filter((live) => names.has(nameOf(live)));
}

export const candidateOf = (document: ChannelDocument, { salt, builds }: Pick<Schedule, 'salt' | 'builds'>) =>
  candidatesOf(document).find((candidate) => (salt ? candidate.salt === salt : sameBuilds(candidate.builds, builds)));

/**
 * Compares a schedule with its channel. `done`: all builds are live for everyone. `taken`: the channel already has the next step's share,
 * so the process that applied it ended before recording it. `over`: a rollback, stop, switch, newer candidate or manual share intervened.
 */
export function standing(schedule: Schedule, document: ChannelDocument): 'ready' | 'taken' | 'done' | 'over' {
  const { builds, salt, share, before, steps, taken, at } = schedule;
  if (sameBuilds(liveOf(document, builds), builds)) return 'done';
  if (builds.some((build) => document.killed.includes(build))) return 'over';
  const candidate = candidateOf(document, schedule);
  if (!candidate) {
    const names = new Set(builds.map(nameOf));
    const isOvertaken = candidatesOf(document).some(
      (other) => other.since > at && other.builds.some((build) => names.has(nameOf(build))),
    );
    const hasWaited = salt === null && share === null && sameBuilds(liveOf(document, builds), before);
    return hasWaited && !isOvertaken ? 'ready' : 'over';
  }
  if (!sameBuilds(candidate.builds, builds)) return 'over';
  if (candidate.percent === share) return 'ready';
  return candidate.percent === steps[taken]?.percent ? 'taken' : 'over';
}

const WEEK = 7 * 24 * 60;
const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;

/** True for a time zone that this machine knows, such as `Asia/Shanghai`. Abbreviations are refused because they are ambiguous. */
export function isZone(zone: string): boolean {
  if (!/\/|^(?:UTC|GMT)$/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== null;
  } catch (cause) {
    if (cause instanceof RangeError) return false;
    throw cause;
  }
}

/** Returns the local time of a zone as if it were UTC, in ms, so that two can be subtracted. */
const wallClock = (at: Date, zone: string): number =>
  Date.parse(`${at.toLocaleString('sv', { timeZone: zone }).replace(' ', 'T')}Z`);

/** Returns the instant at which a zone's clocks show `wall`: of two the earlier. A time that they skip is later by the gap. */
function instantOf(wall: number, zone: string): Date {
  const [before, after] = [wall - DAY_MS, wall + DAY_MS].map((at) => wall - (wallClock(new Date(at), zone) - at));
  const isShown = (at = 0) => wallClock(new Date(at), zone) === wall;
  return new Date((isShown(after) && !isShown(before) ? after : before) ?? wall);
}

const minuteOfWeek = (wall: number): number => {
  const at = new Date(wall);
  return ((at.getUTCDay() + 6) % 7) * 24 * 60 + at.getUTCHours() * 60 + at.getUTCMinutes();
};

/** Returns when the window ends; null if it is not open at this instant. */
function endOf(window: FreezeWindow, now: Date): Date | null {
  if (window.kind === 'once') {
    const [from, to] = [Date.parse(window.from), Date.parse(window.to)];
    return from <= now.getTime() && now.getTime() < to ? new Date(to) : null;
  }
  let at = now.getTime() - (now.getTime() % MINUTE_MS);
  for (;;) {
    const left = minutesLeft(window, at);
    if (left === null) return at > now.getTime() ? new Date(at) : null;
    const change = clockChange(at, at + left * MINUTE_MS, window.zone);
    if (change === null) return new Date(at + left * MINUTE_MS);
    at = change;
  }
}

/** Returns how long a weekly window stays open if the clocks do not change; null if it is not open. */
function minutesLeft({ from, to, zone }: Extract<FreezeWindow, { kind: 'weekly' }>, at: number): number | null {
  const minutes = minuteOfWeek(wallClock(new Date(at), zone));
  const isOpen = from < to ? from <= minutes && minutes < to : minutes >= from || minutes < to;
  return isOpen ? (to - minutes + WEEK) % WEEK : null;
}

/** Returns the minute in which a zone's clocks change within a span; null if they do not. */
function clockChange(from: number, to: number, zone: string): number | null {
  const offsetAt = (at: number) => wallClock(new Date(at), zone) - at;
  const offset = offsetAt(from);
  if (offsetAt(to) === offset) return null;
  let [before, after] = [from, to];
  while (after - before > MINUTE_MS) {
    const middle = before + Math.floor((after - before) / MINUTE_MS / 2) * MINUTE_MS;
    if (offsetAt(middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}

export interface Frozen {
  freeze: Freeze;
  /** End of the freeze; adjoining windows count as one. */
  until: Date;
}

export function frozenAt(freezes: readonly Freeze[], now: Date): Frozen | null {
  const open = (at: Date) =>
    freezes
      .map((freeze) => ({ freeze, until: endOf(freeze.window, at) }))
      .filter((each): each is Frozen => each.until !== null)
      .sort((a, b) => b.until.getTime() - a.until.getTime())[0];
  const first = open(now);
  if (!first) return null;
  let last = first;
  // bounded: windows that cover the whole week never end
  for (let n = 0; n < 20; n += 1) {
    const next = open(last.until);
    if (!next || next.until <= last.until) break;
    last = next;
  }
  return { freeze: first.freeze, until: last.until };
}

const EVERY_WEEK = /^(\w{3}) (\d{1,2}):(\d{2})\s*[-–]\s*(\w{3}) (\d{1,2}):(\d{2})$/;
const WALL = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?$/;

function assertZone(zone: string): void {
  if (!isZone(zone)) throw usage(say('noZone', { text: zone }), say('noZoneCure'));
}

/** Parses a window such as `Fri 18:00-Mon 08:00`. Throws usage. */
export function weeklyWindow(text: string, zone: string): FreezeWindow {
  assertZone(zone);
  const [, fromDay, fromHour, fromMinute, toDay, toHour, toMinute] = EVERY_WEEK.exec(text.trim()) ?? [];
  const at = (day: string | undefined, hour: string | undefined, minutes: string | undefined) => {
    const index = DAYS.findIndex((known) => known.toLowerCase() === day?.toLowerCase());
    return index < 0 || Number(hour) > 23 || Number(minutes) > 59
      ? null
      : index * 24 * 60 + Number(hour) * 60 + Number(minutes);
  };
  const [from, to] = [at(fromDay, fromHour, fromMinute), at(toDay, toHour, toMinute)];
  if (from === null || to === null || from === to)
    throw usage(`"${text}" is not a time of the week`, 'Use e.g. "Fri 18:00-Mon 08:00".');
  return { kind: 'weekly', from, to, zone };
}

/** Parses `2026-12-24 18:00` in a zone's local time, or with an offset of its own. Throws usage. */
export function instantIn(text: string, zone: string): Date {
  assertZone(zone);
  const [, day, time, offset] = WALL.exec(text.trim()) ?? [];
  const wall = Date.parse(`${day}T${time}Z`);
  const instant = offset === undefined ? wall : Date.parse(`${day}T${time}${offset}`);
  // a day that does not exist is another one to `Date.parse`
  if (Number.isNaN(instant) || !new Date(wall).toISOString().startsWith(`${day}T${time?.slice(0, 5)}`))
    throw usage(`"${text}" is not a time`, 'Use e.g. "2026-12-24 18:00" with --zone, or 2026-12-24T10:00:00Z.');
  return offset === undefined ? instantOf(wall, zone) : new Date(instant);
}

const two = (value: number): string => String(value).padStart(2, '0');
const dayOf = (minutes: number): string => DAYS[Math.floor(minutes / 1440)] ?? '';
const timeOf = (minutes: number): string => `${two(Math.floor(minutes / 60) % 24)}:${two(minutes % 60)}`;

/** `Fri 18:00-Mon 08:00 Asia/Shanghai`, or two instants. */
export const windowText = (window: FreezeWindow): string =>
  window.kind === 'once'
    ? say('onceOnly', { instant: window.from, end: window.to })
    : say('weekly', {
        ...{ fromDay: dayOf(window.from), fromTime: timeOf(window.from) },
        ...{ toDay: dayOf(window.to), toTime: timeOf(window.to), zone: window.zone },
      });
