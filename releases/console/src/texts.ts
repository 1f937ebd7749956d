import { troublesOf } from '../../src/health/troubles';
import { type LinesByKind, lineByKind } from '../../src/sentences';
import {
  type BuildHealth,
  type ChannelView,
  candidatesOf,
  type Difference,
  type FreezeWindow,
  type Health,
  type KillEffect,
  type LogEntry,
  nameOf,
  type ReadAction,
  type RefusalReason,
  type Waiting,
} from './api';
import { chinese } from './chinese';
import { english } from './english';
import { labels } from './labels';

export const LANGUAGES = { zh: { tag: 'zh-CN', name: '中文' }, en: { tag: 'en', name: 'English' } } as const;
const LANGUAGE_KEY = 'liaozhai-console-language';
export const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export type Language = keyof typeof LANGUAGES;
/** Shape of the texts: a text missing in one language is a type error. */
export type Texts = ReturnType<typeof chinese>;
export type Formats = ReturnType<typeof createFormats>;

/** Formats numbers and times for a locale. Shares are in percent. */
function createFormats(locale: string) {
  const numbers = new Intl.NumberFormat(locale);
  const unitFormat = (unit: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long', maximumFractionDigits: 1 });
  const [hours, minutes] = [unitFormat('hour'), unitFormat('minute')];
  const durations = new Intl.NumberFormat(locale, { style: 'unit', unit: 'millisecond', maximumFractionDigits: 0 });
  const seconds = new Intl.NumberFormat(locale, { style: 'unit', unit: 'second', maximumFractionDigits: 2 });
  const scores = new Intl.NumberFormat(locale, { maximumFractionDigits: 3 });
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const times = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
  const moments = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'medium' });
  const relative = new Intl.RelativeTimeFormat(locale);
  const weekday = new Intl.DateTimeFormat(locale, { weekday: 'short', timeZone: 'UTC' });
  const shortParts = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } as const;
  const thisYear = new Intl.DateTimeFormat(locale, shortParts);
  const clock = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });
  const anyYear = new Intl.DateTimeFormat(locale, { year: 'numeric', ...shortParts });
  const dated = (at: Date, now = new Date()) =>
    (at.getFullYear() === now.getFullYear() ? thisYear : anyYear).format(at);
  return {
    number: (value: number) => numbers.format(value),
    /** A duration of `value` hours, in minutes if it is below one hour. */
    lasting: (value: number) => (value < 1 ? minutes.format(value * 60) : hours.format(value)),
    /** Up to three fraction digits, or exactly `digits`. */
    percent: (value: number, digits?: number) =>
      new Intl.NumberFormat(locale, {
        style: 'percent',
        minimumFractionDigits: digits,
        maximumFractionDigits: digits ?? 3,
      }).format(value / 100),
    milliseconds: (value: number) => durations.format(value),
    /** A web vital in ms or seconds; a layout shift as a score. */
    vital: (metric: string, value: number) =>
      metric === 'cls' ? scores.format(value) : value < 1000 ? durations.format(value) : seconds.format(value / 1000),
    bytes: (value: number) =>
      `${numbers.format(value < 10_240 ? value : Math.round(value / 1024))} ${value < 10_240 ? 'B' : 'KiB'}`,
    day: (instant: string) => days.format(new Date(instant)),
    moment: (instant: string) => moments.format(new Date(instant)),
    time: (at: Date) => times.format(at),
    /** The time of an instant of today, else its date as well. */
    recent: (instant: string) => {
      const at = new Date(instant);
      return days.format(at) === days.format(new Date()) ? clock.format(at) : dated(at);
    },
    /** Month, day and time; the year if it is not this one. */
    short: (instant: string) => dated(new Date(instant)),
    /** Monday to Sunday. */
    weekdays: Array.from({ length: 7 }, (_, day) => weekday.format(Date.UTC(2024, 0, 1 + day))),
    /** In minutes or hours, else day and time; null for a past instant. */
    until(instant: string, now: Date): string | null {
      const ahead = Date.parse(instant) - now.getTime();
      if (ahead <= 0) return null;
      if (ahead < HOUR_MS) return relative.format(Math.ceil(ahead / MINUTE_MS), 'minute');
      return ahead < 24 * HOUR_MS
        ? relative.format(Math.round(ahead / HOUR_MS), 'hour')
        : dated(new Date(instant), now);
    },
    /** Minutes or hours ago, else day and time; null within the first minute. */
    ago(instant: string, now: Date): string | null {
      const at = new Date(instant);
      const past = now.getTime() - at.getTime();
      if (past < MINUTE_MS) return null;
      if (past < HOUR_MS) return relative.format(-Math.floor(past / MINUTE_MS), 'minute');
      if (past < 24 * HOUR_MS) return relative.format(-Math.floor(past / HOUR_MS), 'hour');
      return dated(at, now);
    },
  };
}

const isLanguage = (word: string | null): word is Language => word !== null && Object.hasOwn(LANGUAGES, word);

/** The language chosen on this device, else the first supported one of the browser, else English. */
function readLanguage(): Language {
  const storedLanguage = localStorage.getItem(LANGUAGE_KEY);
  const preferredLanguages = navigator.languages.map((tag) => tag.split('-')[0] ?? '');
  return [storedLanguage, ...preferredLanguages].find(isLanguage) ?? 'en';
}

/** The page's language; a choice is stored on this device. */
export function createLanguage() {
  const formats = { zh: createFormats(LANGUAGES.zh.tag), en: createFormats(LANGUAGES.en.tag) };
  const texts: Record<Language, Texts> = { zh: chinese(formats.zh), en: english(formats.en) };
  const listeners = new Set<() => void>();
  let current = readLanguage();
  return {
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    current: (): Language => current,
    texts: () => texts[current],
    formats: () => formats[current],
    choose: (chosen: Language) => {
      current = chosen;
      localStorage.setItem(LANGUAGE_KEY, chosen);
      for (const listener of listeners) listener();
    },
  };
}

export const language = createLanguage();

/** Texts in the current language. Read them while rendering: a stored text does not follow a change of language. */
export const texts: Texts = new Proxy(language.texts(), {
  get: (_, key) => Reflect.get(language.texts(), key),
});

export const formats: Formats = new Proxy(language.formats(), {
  get: (_, key) => Reflect.get(language.formats(), key),
});

/** just now, 5 minutes ago, 3 hours ago, then month, day and time. */
export const relativeTime = (instant: string, now: Date): string => formats.ago(instant, now) ?? texts.justNow;

/** Version of a build id with shortened hashes: `1.0.0-dev.s8055·e845`. */
export const versionOf = (id: string): string =>
  (id.split('@')[1] ?? id).replace(/(-dev\.s?[0-9a-f]{4})[0-9a-f]+/, '$1').replace(/\+(.{4}).*/, '·$1');

/** `聊天 1.4.0`, of a build id. */
export const shortId = (id: string): string => `${labels.of(nameOf(id))} ${versionOf(id)}`;

const ID = /[a-z][a-z0-9-]*@[^\s,：]+\+[0-9a-f]{12}/g;
const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** Translates a sentence of the server, and shortens its build ids and instants. */
export function translate(text: string): string {
  const translated = texts.said(text);
  return translated === text ? text : translated.replace(ID, shortId).replace(INSTANT, formats.short);
}

export function listOf({ builds, more = 0 }: { builds: readonly string[]; more?: number }): string {
  const text = texts.list(builds.map(shortId));
  return more > 0 ? texts.listAndMore(text, more) : text;
}

export const probability = (p: number): string => (p < 0.001 ? p.toExponential(1) : p.toFixed(3));

export const failuresLine = (counts: Readonly<Record<string, number>>): string =>
  texts.list(Object.entries(counts).map(([failure, count]) => `${texts.failure(failure)} ${formats.number(count)}`)) ||
  texts.health.none;

const SUBJECTS: LinesByKind<ReadAction> = {
  init: () => texts.subject.init,
  renew: () => texts.subject.renew,
  freeze: () => texts.subject.freeze,
  webhook: () => texts.subject.webhook,
  approval: () => texts.subject.approval,
  proposal: (action) => listOf(action) || texts.subject.approval,
  canary: (action) => texts.subject.canary(listOf(action), action.percent),
  rollback: (action) => texts.subject.rollback(listOf(action), action.to),
  promote: (action) => (action.from ? fromLine(action, action.from) : listOf(action)),
  seed: (action) => fromLine(action, action.from),
  promoted: (action) => texts.subject.into(listOf(action), action.into.channel, action.into.seq),
  preview: ({ person, remotes }) => texts.preview.subject(person, texts.list(remotes)),
  'preview-end': ({ person, remotes }) => texts.preview.subject(person, texts.list(remotes)),
  activate: listOf,
  abort: listOf,
  kill: listOf,
  withdraw: listOf,
  schedule: listOf,
  alarm: listOf,
  text: ({ text }) => text,
};

const fromLine = (listed: Parameters<typeof listOf>[0], from: { channel: string; seq: number }): string =>
  texts.subject.from(listOf(listed), from.channel, from.seq);

export const subjectOf = (action: ReadAction): string => lineByKind(SUBJECTS, action);

/** Failed visitors of the last minutes, compared with those before. */
export const riseLine = ({ minutes, recent, before }: Pick<BuildHealth, 'minutes' | 'recent' | 'before'>): string =>
  texts.health.rise(minutes, recent.failedVisitors, recent.visitors, before.failedVisitors, before.visitors);

const WAITS: LinesByKind<Waiting> = {
  tooFew: ({ tried, control, enough }) => texts.schedule.waits.tooFew(tried, control, enough),
  failing: ({ pValue, limit }) => texts.schedule.waits.failing(probability(pValue), limit),
  frozen: ({ until, reason }) => texts.schedule.waits.frozen(formats.short(until), reason),
};

export const waitingLine = (waiting: Waiting): string => lineByKind(WAITS, waiting);

const EVIDENCE: LinesByKind<ReadAction['evidence'][number]> = {
  ...WAITS,
  finding: ({ check, problem, forced }) => texts.evidence.finding(texts.said(check), translate(problem), forced),
  overtaken: ({ build }) => texts.evidence.overtaken(shortId(build), labels.of(nameOf(build))),
  candidateEnded: (evidence) => texts.evidence.candidateEnded(listOf(evidence)),
  replaced: ({ build, by }) => texts.evidence.replaced(shortId(build), by && shortId(by)),
  unseen: () => texts.evidence.unseen,
  passedOver: (evidence) => texts.evidence.passedOver(listOf(evidence)),
  candidateDropped: (evidence) => texts.evidence.candidateDropped(listOf(evidence)),
  health({ group, failedVisitors, visitors, failures, p75LoadMilliseconds }) {
    const groupName = group === 'candidate' ? texts.health.candidate : texts.health.stable;
    return texts.evidence.health(groupName, failedVisitors, visitors, failuresLine(failures), p75LoadMilliseconds);
  },
  alarm: riseLine,
  verdict: ({ pValue, alpha }) => texts.evidence.verdict(probability(pValue), alpha),
  slower({ build, metric, pages, p75, stablePages, stableP75, pValue, alpha }) {
    const figure = (value: number, count: number) => texts.vitals.figure(formats.vital(metric, value), count);
    const [tried, stable] = [figure(p75, pages), figure(stableP75, stablePages)];
    const [id, name] = [shortId(build), texts.vitals.metric(metric)];
    return texts.evidence.slower(id, name, tried, stable, probability(pValue), alpha);
  },
  schedule: ({ change, steps, taken }) => texts.evidence.schedule(texts.schedule.changes[change], steps, taken),
  step: ({ step, of, by }) => texts.evidence.step(step, of, by),
  freeze: ({ change, window, reason }) => texts.evidence.freeze(change, windowLine(window), reason),
  webhook: ({ change, address }) => texts.evidence.webhook(change, address),
  approvalRule: ({ hours }) => texts.evidence.approvalRule(hours),
  proposal: ({ change, what, by }) =>
    texts.evidence.proposal(texts.approval.changes[change], texts.approval.what[what], by),
  approved: ({ by }) => texts.evidence.approved(by),
  freezeOverridden: ({ freeze, reason }) => texts.evidence.freezeOverridden(freeze, reason),
  text: ({ text }) => text,
};

export const evidenceLine = (evidence: ReadAction['evidence'][number]): string => lineByKind(EVIDENCE, evidence);

const padded = (value: number): string => String(value).padStart(2, '0');
const timeOfWeek = (minutes: number): string =>
  `${formats.weekdays[Math.floor(minutes / 1440)]} ${padded(Math.floor(minutes / 60) % 24)}:${padded(minutes % 60)}`;

export const windowLine = (window: FreezeWindow): string =>
  window.kind === 'weekly'
    ? texts.freeze.everyWeek(timeOfWeek(window.from), timeOfWeek(window.to), window.zone)
    : texts.freeze.span(formats.short(window.from), formats.short(window.to));

/** now, in 40 minutes, in 3 hours, then month, day and time. */
export const timeUntil = (instant: string, now: Date): string => formats.until(instant, now) ?? texts.schedule.now;

/** Full build ids of a log entry, for copying. */
export const fullIdsOf = ({ action, what }: LogEntry): string => ('builds' in action ? action.builds.join('\n') : what);

/** `stories: 1.0.0 → 1.1.0 (0123456789ab, Li Hua)` */
export function changeLine({
  name,
  from,
  to,
  provenance,
}: Omit<Difference, 'provenance'> & Partial<Difference>): string {
  const { removed, added, change } = texts.confirm;
  if (!to) return removed(labels.of(name), versionOf(from ?? ''));
  const origin = [provenance?.commit, provenance?.author].filter((part) => typeof part === 'string');
  return change(labels.of(name), from ? versionOf(from) : added, versionOf(to), texts.list(origin));
}

/** Why another channel's set cannot be promoted as it is, one line each. */
export function takenBackLines(
  into: string,
  { from, builds }: Extract<RefusalReason, { kind: 'takenBack' }>,
): string[] {
  const { takenBack, why } = texts.takenBack;
  const lines = builds.map(({ build, to }) =>
    takenBack(into, labels.of(nameOf(build)), versionOf(build), from, to && versionOf(to)),
  );
  return [...lines, why(from)];
}

export const namesList = (builds: readonly string[]): string => texts.list(builds.map((id) => labels.of(nameOf(id))));

export const shortList = (builds: readonly string[]): string => texts.list(builds.map(shortId));

/** Addresses and slots. */
export const placesLine = (places: readonly string[]): string => places.map(translate).join(' ');

export function killLines({ build, instead, unfit, endsCandidate, lost }: KillEffect): string[] {
  const { forGood, takesPlace, nothingLeft, endsCandidate: endsText } = texts.kill;
  return [
    forGood(versionOf(build)),
    ...(instead ? [takesPlace(versionOf(instead))] : unfit.map(translate)),
    ...(lost.length > 0 ? [nothingLeft(placesLine(lost))] : []),
    ...(endsCandidate ? [endsText] : []),
  ];
}

/** Effects of activating these builds, one line each. */
export function changesBy(status: ChannelView, builds: readonly string[]): string[] {
  const liveBuilds = new Map((status.stable?.builds ?? []).map((id) => [nameOf(id), id]));
  return builds
    .filter((id) => liveBuilds.get(nameOf(id)) !== id)
    .map((id) => changeLine({ name: nameOf(id), from: liveBuilds.get(nameOf(id)) ?? null, to: id }));
}

/** Effects of aborting a candidate on its visitors, one line each. */
export function changesByAbort(status: ChannelView, builds: readonly string[]): string[] {
  const liveBuilds = new Map((status.stable?.builds ?? []).map((id) => [nameOf(id), id]));
  return builds.map((id) => changeLine({ name: nameOf(id), from: id, to: liveBuilds.get(nameOf(id)) ?? null }));
}

/** Candidates that another build of their name would end, if it goes live for everyone. */
export function overtakenBy(status: ChannelView, builds: readonly string[]): string[] {
  const tried = candidatesOf(status).flatMap((candidate) => candidate.builds);
  return builds
    .map(nameOf)
    .filter((name) => tried.some((id) => nameOf(id) === name && !builds.includes(id)))
    .map((name) => texts.live.endsCanary(labels.of(name)));
}

/** Candidates that a rollback would end, because they contain a rolled-back name. */
export function endedBy(status: ChannelView, name?: string): string[] {
  const names = name ? [name] : (status.stable?.builds ?? []).map(nameOf);
  return candidatesOf(status)
    .map(({ builds }) => builds.map(nameOf))
    .filter((candidateNames) => candidateNames.some((one) => names.includes(one)))
    .map((candidateNames) => texts.live.endsCanary(texts.list(candidateNames.map(labels.of))));
}

interface ShownTrouble {
  builds: readonly string[];
  lines: string[];
  section: 'health' | 'vitals';
}

/** Warnings about running candidates that fail more often or are slower. */
export function troubles(status: ChannelView, health: Health): ShownTrouble[] {
  const { now: words } = texts;
  const running = candidatesOf(status).map(({ builds }) => builds[0]);
  return troublesOf(health)
    .filter(({ builds: [first] }) => running.includes(first))
    .map(({ builds, failing, slower }) => {
      const slownessLines = slower.map(({ metric, verdict }) => {
        const [candidateValue, controlValue] = [verdict.tried, verdict.control].map(({ p75 }) =>
          formats.vital(metric, p75 ?? 0),
        );
        return words.slower(texts.vitals.metric(metric), candidateValue ?? '', controlValue ?? '') + words.stopping;
      });
      if (!failing) return { builds, lines: slownessLines, section: 'vitals' };
      const { tried, control, verdict } = failing;
      const sizes = [tried.failedVisitors, tried.visitors, control.failedVisitors, control.visitors] as const;
      const line = words.fails(...sizes) + (verdict.worse ? words.stopping : words.unsure(probability(verdict.pValue)));
      return { builds, lines: [line, ...slownessLines], section: 'health' };
    });
}
