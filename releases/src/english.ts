import type { VitalMetric } from '@liaozhai/shared/contract';
import type { Rise } from './health/alarm.ts';
import type { BuildHealth, Health, Waiting } from './health/autoStop.ts';
import type { ErrorHealth, Portion } from './health/errors.ts';
import { type Trouble, troublesOf } from './health/troubles.ts';
import { type Finding, type ForeignState, type ReadAction, readAction, type StoredAction } from './model/action.ts';
import { windowText } from './model/agenda.ts';
import { buildIdParts, nameOf, type Provenance } from './model/build.ts';
import { say } from './sentences.ts';

// English sentences of the command line for the audit's data.

/** `30 min`, `8 h` */
export const formatHours = (hours: number): string => (hours < 1 ? `${Math.round(hours * 60)} min` : `${hours} h`);

const listOf = ({ builds, more = 0 }: { builds: readonly string[]; more?: number }): string =>
  `${builds.join(' ')}${more > 0 ? ` and ${more} more` : ''}`;

/** `preview, state 12`, with the store if it is another one. */
const placeLine = ({ channel, seq, store }: ForeignState): string =>
  `${channel}, state ${seq}${store ? `, of ${store}` : ''}`;

function subjectOf(action: ReadAction): string {
  switch (action.kind) {
    case 'init':
      return 'made the channel';
    case 'renew':
      return 'signed the same state again';
    case 'freeze':
      return 'windows changed';
    case 'webhook':
      return 'changed';
    case 'approval':
      return 'rule changed';
    case 'proposal':
      return listOf(action) || 'of the approval rule';
    case 'schedule': {
      const schedule = action.evidence.find((each) => each.kind === 'schedule');
      return `${listOf(action)}${schedule ? ` ${SCHEDULE_CHANGES[schedule.change]}` : ''}`;
    }
    case 'canary':
      return `${listOf(action)} for ${action.percent} %`;
    case 'rollback':
      return `${listOf(action)} as in state ${action.to}`;
    case 'promote':
      return `${listOf(action)}${action.from ? ` from ${placeLine(action.from)}` : ''}`;
    case 'seed':
      return `${listOf(action)} from ${placeLine(action.from)}`;
    case 'promoted':
      return `${listOf(action)} to ${placeLine(action.into)}`;
    case 'preview':
      return `${action.remotes.join(' ')} for ${action.person} (browser ${action.browser}) until ${action.expires}`;
    case 'preview-end':
      return `${action.remotes.join(' ')} for ${action.person} (browser ${action.browser})`;
    case 'text':
      return action.text;
    default:
      return listOf(action);
  }
}

/** `activate stories@1.4.2+3f9c1a7b20de` */
export const actionLine = (stored: StoredAction): string => `${stored.verb} ${subjectOf(readAction(stored))}`;

export const findingLine = ({ check, problem }: Finding): string => say('finding', { check, problem });

function evidenceLine(evidence: ReadAction['evidence'][number]): string {
  switch (evidence.kind) {
    case 'finding':
      return `${evidence.forced ? 'forced: ' : ''}${findingLine(evidence)}`;
    case 'overtaken':
      return `${evidence.build} left the candidate: another build of ${nameOf(evidence.build)} is live for everyone now`;
    case 'candidateDropped':
      return `candidate ${listOf(evidence)} dropped: it does not fit the new stable`;
    case 'candidateEnded':
      return `candidate ${listOf(evidence)} ended with it`;
    case 'replaced':
      return evidence.by
        ? `${evidence.by} took the place of ${evidence.build}`
        : `nothing took the place of ${evidence.build}`;
    case 'unseen':
      return 'the gate opened no browser (--smoke off, or none was found)';
    case 'passedOver':
      return `passed over ${listOf(evidence)}: it does not fit what runs now`;
    case 'health': {
      const { group, visitors, failedVisitors, failures, p75LoadMilliseconds } = evidence;
      const classes = Object.entries(failures).map(([failure, count]) => `${failure} ${count}`);
      return `${group}: ${failedVisitors} of ${visitors} visitors failed (${classes.join(', ') || 'no failures'}), p75 load ${p75LoadMilliseconds === null ? '–' : Math.round(p75LoadMilliseconds)} ms`;
    }
    case 'alarm':
      return riseLine(evidence);
    case 'verdict':
      return `the candidate fails more often than stable, beyond chance: Fisher exact, one-sided, p = ${evidence.pValue.toExponential(1)}, limit ${evidence.alpha}`;
    case 'slower': {
      const { build, metric, pages, p75, stablePages, stableP75, pValue, alpha } = evidence;
      return `${build} is slower than stable, beyond chance: ${vitalNames[metric]} p75 ${vitalValue(metric, p75)} (${pages} pages) against ${vitalValue(metric, stableP75)} (${stablePages} pages), +${moreThan(p75, stableP75)} %; rank test, one-sided, p = ${pValue.toExponential(1)}, limit ${alpha}`;
    }
    case 'schedule':
      return `${SCHEDULE_CHANGES[evidence.change]}: ${evidence.steps}, ${evidence.taken} taken`;
    case 'step':
      return `step ${evidence.step} of ${evidence.of}, as scheduled by ${evidence.by}`;
    case 'tooFew':
    case 'failing':
    case 'frozen':
      return waitingLine(evidence);
    case 'freeze':
      return `${evidence.change}: ${windowText(evidence.window)}, "${evidence.reason}"`;
    case 'webhook':
      return `${evidence.change}: ${evidence.address}`;
    case 'approvalRule':
      return evidence.hours === null
        ? 'one person decides'
        : `two persons decide; a proposal waits ${formatHours(evidence.hours)} for the second one`;
    case 'proposal': {
      const { id, change, what, by, before, after } = evidence;
      return `${id} ${PROPOSAL_CHANGES[change]}: ${what}, proposed by ${by} (state ${before.slice(0, 12)} → ${after.slice(0, 12)})`;
    }
    case 'approved':
      return `proposed by ${evidence.by}, approved as ${evidence.proposal}`;
    case 'freezeOverridden':
      return `although frozen ("${evidence.freeze}"): ${evidence.reason}`;
    case 'text':
      return evidence.text;
  }
}

/** `39 of 1001 visitors failed in the last 5 minutes, 4 of 817 before` */
const riseLine = ({ minutes, recent, before }: Omit<Rise, 'alarm'>): string =>
  `${recent.failedVisitors} of ${recent.visitors} visitors failed in the last ${minutes} minutes, ${before.failedVisitors} of ${before.visitors} before`;

/** `stories@1.4.2+…: 39 of 1001 visitors failed in the last 5 minutes, 4 of 817 before (hang 38 in all)` */
export const alarmLine = ({ build, failures, ...rise }: BuildHealth): string =>
  `${build}: ${riseLine(rise)} (${Object.entries(failures)
    .map(([failure, count]) => `${failure} ${count}`)
    .join(', ')} in all)`;

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

const SCHEDULE_CHANGES = {
  set: 'set',
  paused: 'paused',
  continued: 'continued',
  cancelled: 'cancelled',
  waits: 'waits',
  ended: 'ended by what came between',
  refused: 'paused, since its step was refused',
  revoked: 'paused, since its maker has left',
} as const;

const PROPOSAL_CHANGES = {
  proposed: 'waits for a second person',
  approved: 'approved',
  rejected: 'rejected',
  withdrawn: 'withdrawn by its proposer',
  expired: 'expired',
  interrupted: 'was approved, and cut off before anything was written: propose it again',
} as const;

/** Why a due step waits. */
export function waitingLine(waiting: Waiting): string {
  switch (waiting.kind) {
    case 'tooFew':
      return `waits for reports: ${waiting.tried} of ${waiting.enough} visitors of the candidate and ${waiting.control} of ${waiting.enough} of stable since the last step or another host`;
    case 'failing':
      return `waits: the candidate fails more often than stable, which chance explains with p = ${waiting.pValue.toExponential(1)} (limit ${waiting.limit})`;
    case 'frozen':
      return `waits: frozen until ${waiting.until}, "${waiting.reason}"`;
  }
}

/** `0123456789ab by Li Hua, https://…/pull/12, https://…/runs/77`; empty if nothing is known. */
export const originLine = ({ commit, author, change, run }: Provenance): string =>
  [[commit, author && `by ${author}`].filter(Boolean).join(' '), change, run].filter(Boolean).join(', ');

/** Reasons for a change, one line each. */
export const evidenceLines = (stored: StoredAction): string[] => readAction(stored).evidence.map(evidenceLine);

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
