import { troublesOf } from '../../src/health/troubles';
import { CHECKS, createSentenceParser, fill, type LinesByKind, lineByKind } from '../../src/sentences';
import { SENTENCES } from '../../src/sentenceTable';
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
import { formats, language } from './language';
import { WORDING, type Wording } from './wording';
import { FAILURES, type Pair, ROLES, VERBS } from './words';

type Spoken<Words> = Words extends Pair
  ? string
  : Words extends (...values: infer Values) => Pair
    ? (...values: Values) => string
    : { [Key in keyof Words]: Spoken<Words[Key]> };

const isPair = (entry: Wording[string]): entry is Pair => Array.isArray(entry);

/** The wording in one language, with the same keys. */
function spokenIn<Words extends Wording>(at: 0 | 1, words: Words): Spoken<Words> {
  const spoken = Object.entries(words).map(([key, entry]) => {
    if (isPair(entry)) return [key, entry[at]];
    return [key, typeof entry === 'function' ? (...values: never[]) => entry(...values)[at] : spokenIn(at, entry)];
  });
  return Object.fromEntries(spoken);
}

const spoken = { zh: spokenIn(0, WORDING), en: spokenIn(1, WORDING) };

/** Texts in the current language. Read them while rendering: a stored text does not follow a change of language. */
export const texts: Spoken<typeof WORDING> = new Proxy(spoken.zh, {
  get: (_, key) => Reflect.get(spoken[language.current()], key),
});

/** A package and its label: 故事 for `stories`. */
export interface NamedPackage {
  name: string;
  label: string;
}

/** Labels of packages, as last sent by the server. Default: the name. */
function createLabels() {
  let labelsByName = new Map<string, string>();
  return {
    set: (names: readonly NamedPackage[]) => {
      labelsByName = new Map(names.map(({ name, label }) => [name, label]));
    },
    of: (name: string): string => labelsByName.get(name) ?? name,
  };
}

export const labels = createLabels();

/** just now, 5 minutes ago, 3 hours ago, then month, day and time. */
export const relativeTime = (instant: string, now: Date): string => formats.ago(instant, now) ?? texts.justNow;

/** Version of a build id with shortened hashes: `1.0.0-dev.s8055·e845`. */
export const versionOf = (id: string): string =>
  (id.split('@')[1] ?? id).replace(/(-dev\.s?[0-9a-f]{4})[0-9a-f]+/, '$1').replace(/\+(.{4}).*/, '·$1');

/** `聊天 1.4.0`, of a build id. */
export const shortId = (id: string): string => `${labels.of(nameOf(id))} ${versionOf(id)}`;

const ID = /[a-z][a-z0-9-]*@[^\s,：]+\+[0-9a-f]{12}/g;
const INSTANT = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

const OTHERS: Record<string, string> = {
  'the store': '存储',
  'auto-stop': '自动中止',
  console: '发布台',
  ...{ Mon: '周一', Tue: '周二', Wed: '周三', Thu: '周四', Fri: '周五', Sat: '周六', Sun: '周日' },
  // outcomes of a proposal or a schedule
  ...{ approved: '已批准', rejected: '已驳回', withdrawn: '已撤回', expired: '已过期', interrupted: '已中断' },
  ...{ set: '设定', paused: '已暂停', continued: '已继续', cancelled: '已取消', waits: '等待', ended: '已结束' },
  ...{ refused: '未通过检查', revoked: '设定者已离开' },
};

const readSentence = createSentenceParser();
const namedChinese = Object.entries({ ...FAILURES, ...VERBS, ...ROLES }).map(([name, [chinese]]) => [name, chinese]);
const chineseWords: Record<string, string> = { ...Object.fromEntries(namedChinese), ...CHECKS, ...OTHERS };

const UNITS: Record<string, string> = { m: '分钟后', h: '小时后', d: '天后' };
const STEP = /^(\d+(?:\.\d+)?)@(?:now|(\d+)([mhd]))$/;

/** Translates a word, a step of a schedule or a list; other text stays unchanged. */
function translatePart(text: string): string {
  // the log adds the id of the token
  if (text.startsWith('local console')) return text.replace('local console', '本机发布台');
  if (Object.hasOwn(chineseWords, text)) return chineseWords[text] ?? text;
  const [, percent, span, unit = ''] = STEP.exec(text) ?? [];
  if (percent) return `${percent}% ${span ? `${span} ${UNITS[unit]}` : '现在'}`;
  const items = text.split(/,\s?/);
  const translated = items.length > 1 ? items.map(translateSentence) : items;
  return translated.join() === items.join() ? text : translated.join('、');
}

function translateSentence(text: string): string {
  const match = readSentence(text);
  if (!match) return translatePart(text);
  const values = Object.entries(match.values).map(([name, value]) => [name, translateSentence(value)]);
  return fill(SENTENCES[match.kind][1], Object.fromEntries(values));
}

/** Translates text of the server to Chinese; unknown text stays unchanged. */
export function inChinese(text: string): string {
  const parts = text.split('; ');
  const translated = parts.map(translateSentence);
  return translated.join() === parts.join() ? text : translated.join('；');
}

/** A sentence of the server, such as a refusal or a finding of the gate. */
const said = (text: string): string => (language.current() === 'zh' ? inChinese(text) : text);

/** Translates a sentence of the server, and shortens its build ids and instants. */
export function translate(text: string): string {
  const translated = said(text);
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
  canary: (action) => texts.aside(listOf(action), texts.candidate.share(action.percent)),
  rollback: (action) => texts.aside(listOf(action), texts.subject.rollback(action.to)),
  promote: (action) => (action.from ? fromLine(action, action.from) : listOf(action)),
  seed: (action) => fromLine(action, action.from),
  promoted: (action) => texts.aside(listOf(action), texts.subject.into(action.into.channel, action.into.seq)),
  preview: ({ person, remotes }) => texts.titled(person, texts.list(remotes)),
  'preview-end': ({ person, remotes }) => texts.titled(person, texts.list(remotes)),
  activate: listOf,
  abort: listOf,
  kill: listOf,
  withdraw: listOf,
  schedule: listOf,
  alarm: listOf,
  text: ({ text }) => text,
};

const fromLine = (listed: Parameters<typeof listOf>[0], from: { channel: string; seq: number }): string =>
  texts.aside(listOf(listed), texts.subject.from(from.channel, from.seq));

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
  finding: ({ check, problem, forced }) =>
    texts.titled(texts.aside(texts.evidence[forced ? 'forced' : 'failed'], said(check)), translate(problem)),
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
  schedule: ({ change, steps, taken }) =>
    texts.titled(texts.schedule.changes[change], texts.evidence.schedule(said(steps), taken)),
  step: ({ step, of, by }) => texts.evidence.step(step, of, translate(by)),
  freeze: ({ change, window, reason }) => texts.titled(texts.evidence[change](windowLine(window)), reason),
  webhook: ({ change, address }) => texts.evidence[change](address),
  approvalRule: ({ hours }) => texts.evidence.approvalRule(hours),
  proposal: ({ change, what, by }) =>
    texts.titled(texts.approval.changes[change], texts.evidence.proposal(texts.approval.what[what], translate(by))),
  approved: ({ by }) => texts.evidence.approved(translate(by)),
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
  const { removed, added } = texts.confirm;
  if (!to) return removed(labels.of(name), versionOf(from ?? ''));
  const origin = [provenance?.commit, provenance?.author].filter((part) => typeof part === 'string');
  const versions = `${from ? versionOf(from) : added} → ${versionOf(to)}`;
  return texts.titled(labels.of(name), texts.aside(versions, texts.list(origin)));
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

/** Target of a rollback: the state before, of a name or of the whole set, or a given state. */
export interface WayBack {
  name?: string;
  to?: number;
  /** Label of the button that confirms it. */
  action?: string;
}

/** `回退 故事` */
export const rollbackTitle = ({ name, to, action = texts.live.rollback }: WayBack): string => {
  if (name) return `${action} ${labels.of(name)}`;
  return to === undefined ? texts.live.rollbackAll : texts.log.restoreState(to);
};

const liveBuildsOf = ({ stable }: ChannelView) => new Map((stable?.builds ?? []).map((id) => [nameOf(id), id]));

/** Effects of activating these builds, one line each. */
export function changesBy(status: ChannelView, builds: readonly string[]): string[] {
  const liveBuilds = liveBuildsOf(status);
  return builds
    .filter((id) => liveBuilds.get(nameOf(id)) !== id)
    .map((id) => changeLine({ name: nameOf(id), from: liveBuilds.get(nameOf(id)) ?? null, to: id }));
}

/** Schedules that end with a change of these builds or remotes, one line each. */
export const schedulesEnded = ({ agenda }: ChannelView, changed: readonly string[]): string[] =>
  (agenda?.schedules ?? [])
    .filter(({ builds }) => builds.some((id) => changed.includes(id) || changed.includes(nameOf(id))))
    .map(({ builds }) => texts.schedule.ends(namesList(builds)));

/** Effects of aborting a candidate on its visitors, one line each. */
export function changesByAbort(status: ChannelView, builds: readonly string[]): string[] {
  const liveBuilds = liveBuildsOf(status);
  return builds.map((id) => changeLine({ name: nameOf(id), from: id, to: liveBuilds.get(nameOf(id)) ?? null }));
}

/** Candidates and schedules that a build ends by going live for everyone. */
export function overtakenBy(status: ChannelView, builds: readonly string[]): string[] {
  const tried = candidatesOf(status).flatMap((candidate) => candidate.builds);
  const names = builds.map(nameOf);
  const overtaken = names.filter((name) => tried.some((id) => nameOf(id) === name && !builds.includes(id)));
  return [...overtaken.map((name) => texts.live.endsCanary(labels.of(name))), ...schedulesEnded(status, names)];
}

/** Candidates with a rolled-back name, and the schedules of these and of what changes. Without a name, everything is rolled back. */
export function endedBy(status: ChannelView, name?: string, changed: readonly string[] = name ? [name] : []): string[] {
  const names = name ? [name] : (status.stable?.builds ?? []).map(nameOf);
  const ended = candidatesOf(status)
    .map(({ builds }) => builds)
    .filter((builds) => builds.some((id) => names.includes(nameOf(id))));
  const canaryLines = ended.map((builds) => texts.live.endsCanary(namesList(builds)));
  return [...canaryLines, ...schedulesEnded(status, [...ended.flat(), ...changed])];
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
