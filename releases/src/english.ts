import type { VitalMetric } from '@liaozhai/shared/contract';
import type { Rise } from './health/alarm.ts';
import type { BuildHealth, Health, Waiting } from './health/autoStop.ts';
import type { ErrorHealth, Portion } from './health/errors.ts';
import type { GroupHealth } from './health/figures.ts';
import { type Trouble, troublesOf } from './health/troubles.ts';
import {
  type Finding,
  type ForeignState,
  type PreviewGrant,
  type ReadAction,
  readAction,
  type StoredAction,
} from './model/action.ts';
import { windowText } from './model/agenda.ts';
import { buildIdParts, nameOf, type Provenance } from './model/build.ts';
import { type LinesByKind, lineByKind, say } from './sentences.ts';

// English sentences of the command line for the audit's data.

/** `30 min`, `8 h` */
export const formatHours = (hours: number): string => (hours < 1 ? `${Math.round(hours * 60)} min` : `${hours} h`);

const listOf = ({ builds, more = 0 }: { builds: readonly string[]; more?: number }): string =>
  `${builds.join(' ')}${more > 0 ? ` and ${more} more` : ''}`;

/** `preview, state 12`, with the store if it is another one. */
const placeLine = ({ channel, seq, store }: ForeignState): string =>
  `${channel}, state ${seq}${store ? `, of ${store}` : ''}`;

const previewLine = ({ remotes, person, browser }: PreviewGrant): string =>
  `${remotes.join(' ')} for ${person} (browser ${browser})`;

const SUBJECTS: LinesByKind<ReadAction> = {
  init: () => 'made the channel',
  renew: () => 'signed the same state again',
  freeze: () => 'windows changed',
  webhook: () => 'changed',
  approval: () => 'rule changed',
  proposal: (action) => listOf(action) || 'of the approval rule',
  schedule(action) {
    const schedule = action.evidence.find((each) => each.kind === 'schedule');
    return `${listOf(action)}${schedule ? ` ${SCHEDULE_CHANGES[schedule.change] ?? schedule.change}` : ''}`;
  },
  canary: (action) => `${listOf(action)} for ${action.percent} %`,
  rollback: (action) => `${listOf(action)} as in state ${action.to}`,
  promote: (action) => `${listOf(action)}${action.from ? ` from ${placeLine(action.from)}` : ''}`,
  seed: (action) => `${listOf(action)} from ${placeLine(action.from)}`,
  promoted: (action) => `${listOf(action)} to ${placeLine(action.into)}`,
  preview: (action) => `${previewLine(action)} until ${action.expires}`,
  'preview-end': previewLine,
  activate: listOf,
  abort: listOf,
  kill: listOf,
  withdraw: listOf,
  alarm: listOf,
  text: ({ text }) => text,
};

/** `activate stories@1.4.2+3f9c1a7b20de` */
export const actionLine = (stored: StoredAction): string =>
  `${stored.verb} ${lineByKind(SUBJECTS, readAction(stored))}`;

export const findingLine = ({ check, problem }: Finding): string => say('finding', { check, problem });

/** `39 of 1001 visitors failed in the last 5 minutes, 4 of 817 before` */
const riseLine = ({ minutes, recent, before }: Omit<Rise, 'alarm'>): string =>
  `${recent.failedVisitors} of ${recent.visitors} visitors failed in the last ${minutes} minutes, ${before.failedVisitors} of ${before.visitors} before`;

/** `stories@1.4.2+…: 39 of 1001 visitors failed in the last 5 minutes, 4 of 817 before (hang 38 in all)` */
export const alarmLine = ({ build, failures, ...rise }: BuildHealth): string =>
  `${build}: ${riseLine(rise)} (${failuresText(failures)} in all)`;

/** `hang 38, not-found 2` */
export const failuresText = (failures: GroupHealth['failures']): string =>
  Object.entries(failures)
    .map(([failure, count]) => `${failure} ${count}`)
    .join(', ');

/** `stories@1.5.0+…: 20 of 60 visitors failed, of stable 6 of 600 (p = 1.2e-9, limit 0.0001): …` */
function troubleLine({ builds, failing, slower, ends }: Trouble): string {
  const failures = failing
    ? [
        `${failing.tried.failedVisitors} of ${failing.tried.visitors} visitors failed, of stable ${failing.control.failedVisitors} of ${failing.control.visitors} (p = ${failing.verdict.pValue.toExponential(1)}, limit ${failing.verdict.alpha})`,
      ]
    : [];
  const waits = slower.map(
    ({ metric, verdict: { tried, control } }) =>
      `${vitalNames[metric]} p75 ${vitalValue(metric, tried.p75 ?? 0)}, of stable ${vitalValue(metric, control.p75 ?? 0)}`,
  );
  const advice = ends ? 'a running console ends it now' : 'too little for the automatic stop yet';
  return `${builds.join(' ')}: ${[...failures, ...waits].join('; ')}; ${advice}. \`abort ${nameOf(builds[0] ?? '')}\` ends it by hand`;
}

/** What fails beyond chance: live builds, then candidates. */
export const urgentLines = (health: Health): string[] => [
  ...health.builds.filter(({ alarm }) => alarm).map((build) => `ALARM ${alarmLine(build)}`),
  ...troublesOf(health).map((trouble) => `${trouble.failing ? 'FAILING' : 'SLOWER'} candidate ${troubleLine(trouble)}`),
];

export const vitalNames: Record<VitalMetric, string> = { lcp: 'LCP', inp: 'INP', cls: 'CLS', load: 'load' };

/** `1.25 s`, `180 ms`; a score for layout shifts. */
export function vitalValue(metric: VitalMetric, value: number): string {
  if (metric === 'cls') return value.toFixed(3);
  return value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(2)} s`;
}

const moreThan = (value: number, base: number): string =>
  (base > 0 ? Math.round((value / base - 1) * 100) : 100).toFixed();

/** Changes of schedules and proposals whose name does not say enough. */
const SCHEDULE_CHANGES: Partial<Record<string, string>> = {
  ended: 'ended by what came between',
  refused: 'paused, since its step was refused',
  revoked: 'paused, since its maker has left',
};
const PROPOSAL_CHANGES: Partial<Record<string, string>> = {
  proposed: 'waits for a second person',
  withdrawn: 'withdrawn by its proposer',
  interrupted: 'was approved, and cut off before anything was written: propose it again',
};

const WAITS: LinesByKind<Waiting> = {
  tooFew: ({ tried, control, enough }) =>
    `waits for reports: ${tried} of ${enough} visitors of the candidate and ${control} of ${enough} of stable since the last step or another host`,
  failing: ({ pValue, limit }) =>
    `waits: the candidate fails more often than stable, which chance explains with p = ${pValue.toExponential(1)} (limit ${limit})`,
  frozen: ({ until, reason }) => `waits: frozen until ${until}, "${reason}"`,
};

export const waitingLine = (waiting: Waiting): string => lineByKind(WAITS, waiting);

const EVIDENCE: LinesByKind<ReadAction['evidence'][number]> = {
  ...WAITS,
  finding: ({ forced, ...finding }) => `${forced ? 'forced: ' : ''}${findingLine(finding)}`,
  overtaken: ({ build }) => `${build} left the candidate: another build of ${nameOf(build)} is live for everyone now`,
  candidateDropped: (evidence) => `candidate ${listOf(evidence)} dropped: it does not fit the new stable`,
  candidateEnded: (evidence) => `candidate ${listOf(evidence)} ended with it`,
  replaced: ({ build, by }) => (by ? `${by} took the place of ${build}` : `nothing took the place of ${build}`),
  unseen: () => 'the gate opened no browser (--smoke off, or none was found)',
  passedOver: (evidence) => `passed over ${listOf(evidence)}: it does not fit what runs now`,
  health({ group, visitors, failedVisitors, failures, p75LoadMilliseconds }) {
    return `${group}: ${failedVisitors} of ${visitors} visitors failed (${failuresText(failures) || 'no failures'}), p75 load ${p75LoadMilliseconds === null ? '–' : Math.round(p75LoadMilliseconds)} ms`;
  },
  alarm: riseLine,
  verdict: ({ pValue, alpha }) =>
    `the candidate fails more often than stable, beyond chance: Fisher exact, one-sided, p = ${pValue.toExponential(1)}, limit ${alpha}`,
  slower: ({ build, metric, pages, p75, stablePages, stableP75, pValue, alpha }) =>
    `${build} is slower than stable, beyond chance: ${vitalNames[metric]} p75 ${vitalValue(metric, p75)} (${pages} pages) against ${vitalValue(metric, stableP75)} (${stablePages} pages), +${moreThan(p75, stableP75)} %; rank test, one-sided, p = ${pValue.toExponential(1)}, limit ${alpha}`,
  schedule: ({ change, steps, taken }) => `${SCHEDULE_CHANGES[change] ?? change}: ${steps}, ${taken} taken`,
  step: ({ step, of, by }) => `step ${step} of ${of}, as scheduled by ${by}`,
  freeze: ({ change, window, reason }) => `${change}: ${windowText(window)}, "${reason}"`,
  webhook: ({ change, address }) => `${change}: ${address}`,
  approvalRule: ({ hours }) =>
    hours === null
      ? 'one person decides'
      : `two persons decide; a proposal waits ${formatHours(hours)} for the second one`,
  proposal: ({ id, change, what, by, before, after }) =>
    `${id} ${PROPOSAL_CHANGES[change] ?? change}: ${what}, proposed by ${by} (state ${before.slice(0, 12)} → ${after.slice(0, 12)})`,
  approved: ({ by, proposal }) => `proposed by ${by}, approved as ${proposal}`,
  freezeOverridden: ({ freeze, reason }) => `although frozen ("${freeze}"): ${reason}`,
  text: ({ text }) => text,
};

/** `0123456789ab by Li Hua, https://…/pull/12, https://…/runs/77`; empty if nothing is known. */
export const originLine = ({ commit, author, change, run }: Provenance): string =>
  [[commit, author && `by ${author}`].filter(Boolean).join(' '), change, run].filter(Boolean).join(', ');

/** Reasons for a change, one line each. */
export const evidenceLines = (stored: StoredAction): string[] =>
  readAction(stored).evidence.map((each) => lineByKind(EVIDENCE, each));

/** Below this number of visitors, two numbers are more informative than a percentage. */
const FEW_VISITORS = 20;

const shareText = ({ visitors, of }: ErrorHealth): string =>
  of < FEW_VISITORS ? `${visitors} of ${of} visitors` : `${((visitors / of) * 100).toFixed(1)} % of visitors`;

const amongText = ([first, ...more]: readonly Portion[], what: string): string =>
  `${first?.label ?? 'unknown'}${more.length > 0 ? ` and ${more.length} more ${what}${more.length > 1 ? 's' : ''}` : ''}`;

/** `TypeError in ChatLog.tsx:88`, or the kind of failure without a place: `chunk-lost` */
const whatText = ({ where, name, kind }: ErrorHealth): string => (where ? `${name} in ${where}` : kind);

/** `chat 1.4.0: 3.1 % of visitors, all Safari 17, on /story/:id, TypeError in ChatLog.tsx:88, since 01:12` */
export function errorSentence(error: ErrorHealth, since: string): string {
  const { name, version } = buildIdParts(error.build);
  const browsers = `${error.browsers.length === 1 ? 'all ' : ''}${amongText(error.browsers, 'browser')}`;
  const routes = `on ${amongText(error.routes, 'screen')}`;
  const parts = [shareText(error), browsers, routes, whatText(error), `since ${since}`];
  return `${name} ${version}${error.gone ? ' (runs no more)' : ''}: ${parts.join(', ')}`;
}
