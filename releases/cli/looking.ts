import type { Command } from 'commander';
import { actionLine, errorSentence, evidenceLines, originLine, vitalNames, vitalValue } from '../src/english.ts';
import { alarmLine, type Health } from '../src/health/autoStop.ts';
import type { ErrorHealth } from '../src/health/errors.ts';
import type { MetricVitals, NameVitals, VitalsSeries } from '../src/health/vitals.ts';
import { type ChannelDocument, candidatesOf } from '../src/model/channel.ts';
import type { AgendaView } from '../src/operations/agendaView.ts';
import { bytes, clientFor, count, examples, localTime, options, print, table } from './context.ts';
import { agendaLines } from './planning.ts';

function statusLines(document: ChannelDocument & { agenda?: AgendaView }): string[] {
  const { channel, seq, stable, lastGood, killed, expires, action } = document;
  const everyone = stable
    ? [`Live for everyone since ${localTime(stable.since)}, by ${stable.by}:`, ...stable.builds.map((id) => `  ${id}`)]
    : ['Nothing is live yet.'];
  const some = candidatesOf(document).flatMap(({ percent, since, by, builds }) => [
    `For ${percent} % of visitors since ${localTime(since)}, by ${by}:`,
    ...builds.map((id) => `  ${id}`),
  ]);
  const good = Object.values(lastGood);
  return [
    `${channel}, state ${seq}: ${actionLine(action)} (${action.who}, ${localTime(action.at)}${action.why ? `, "${action.why}"` : ''})`,
    ...everyone,
    ...some,
    ...(good.length > 0 ? ['Last good builds, tried when one of these fails:', ...good.map((id) => `  ${id}`)] : []),
    ...(killed.length > 0 ? ['Killed:', ...killed.map((id) => `  ${id}`)] : []),
    ...agendaLines(document.agenda),
    `Signed until ${localTime(expires)}`,
  ];
}

export const addStatus = (program: Command) =>
  program
    .command('status')
    .description('what is live for whom, and what visitors felt')
    .addHelpText('after', examples('status', 'status --channel preview --json'))
    .action(async (_, command: Command) => {
      const { json, ...rest } = options(command);
      const client = await clientFor(rest);
      const document = await client.status();
      print(json, document, statusLines(document));
      // the state prints immediately; a long record may take a while, and is in `health --json` for programs
      if (!json) print(json, null, vitalsLines((await client.health()).vitals ?? []));
    });

const BARS = '▁▂▃▄▅▆▇█';

/** The p75 over time as a row of bars from zero to `top`; a dot where too few pages tell. */
const bars = (points: VitalsSeries['points'], top: number): string =>
  points.map((value) => (value === null ? '·' : (BARS[Math.min(7, Math.floor((value / top) * 8))] ?? ''))).join('');

function metricRows({ metric, stable, candidate, verdict }: MetricVitals): string[][] {
  const series = [stable, candidate].filter((one) => one !== null);
  const top = Math.max(...series.flatMap(({ points }) => points.map((value) => value ?? 0))) || 1;
  const judged = verdict && (verdict.slower ? 'SLOWER' : verdict.enough ? 'not slower' : 'too few to say');
  return series.map((one) => [
    `    ${one === stable ? vitalNames[metric] : ''}`,
    one === stable ? 'stable' : 'candidate',
    bars(one.points, top),
    one.p75 === null ? 'too few to say' : `p75 ${vitalValue(metric, one.p75)}`,
    `${one.pages} pages`,
    one === candidate ? (judged ?? '') : '',
  ]);
}

/** What visitors felt, of every name of which a page told anything. */
function vitalsLines(vitals: readonly NameVitals[]): string[] {
  const isTold = ({ stable, candidate }: MetricVitals) => Boolean(stable?.pages || candidate?.pages);
  const told = vitals.filter(({ metrics }) => metrics.some(isTold));
  if (told.length === 0) return ['What visitors felt: nothing was reported yet.'];
  return told.flatMap(({ name, stepMinutes, metrics }) => [
    `What visitors of ${name} felt, a bar for every ${stepMinutes} minutes until now:`,
    ...table(metrics.filter(isTold).flatMap(metricRows)),
  ]);
}

/** `01:12`, with the date where it was another day. */
const since = (instant: string): string => {
  const [day, time = ''] = localTime(instant).split(' ');
  return localTime(new Date().toISOString()).startsWith(day ?? '') ? time : `${day} ${time}`;
};

/** The sentence first, then what helps to mend it. */
const errorLines = (error: ErrorHealth): string[] => [
  errorSentence(error, since(error.first)),
  ...(error.message ? [`    ${error.name}: ${error.message}`] : []),
  ...error.frames.map(({ at, name }) => `    at ${name ? `${name} (${at})` : at}`),
  `    last ${since(error.last)}; ${[...error.browsers, ...error.routes].map(({ label, visitors }) => `${label} ${visitors}`).join(', ')}`,
];

function healthLines({ builds, errors = [] }: Health): string[] {
  const rows = builds.map(({ build, group, visitors, failedVisitors, p75LoadMilliseconds, failures }) => [
    build,
    group,
    `${failedVisitors} of ${visitors} visitors failed`,
    `p75 ${p75LoadMilliseconds === null ? '–' : Math.round(p75LoadMilliseconds)} ms`,
    Object.entries(failures)
      .map(([failure, count]) => `${failure} ${count}`)
      .join(', '),
  ]);
  const alarms = builds.filter(({ alarm }) => alarm).map((build) => `ALARM ${alarmLine(build)}`);
  const lines = [...alarms, ...errors.flatMap(errorLines), ...table(rows)];
  return lines.length > 0 ? lines : ['Nothing was reported yet.'];
}

export const addHealth = (program: Command) =>
  program
    .command('health')
    .description("how each build fares in its visitors' browsers, over the last day, and which errors it throws")
    .addHelpText('after', examples('health', 'health --json'))
    .action(async (_, command: Command) => {
      const { json, ...rest } = options(command);
      const health = await (await clientFor(rest)).health();
      print(json, health, healthLines(health));
    });

export const addBuilds = (program: Command) =>
  program
    .command('builds [name]')
    .description('what has been published, newest first')
    .addHelpText('after', examples('builds', 'builds stories'))
    .action(async (name: string | undefined, _, command: Command) => {
      const { json, ...rest } = options(command);
      const builds = await (await clientFor(rest)).builds(name);
      const rows = builds.map(({ id, bytes: size, provenance, problem }) => [
        id,
        bytes(size),
        localTime(provenance.at),
        provenance.publisher,
        problem ?? originLine(provenance),
      ]);
      print(json, builds, builds.length > 0 ? table(rows) : ['Nothing published yet: `pnpm release publish <dir>`.']);
    });

export const addLog = (program: Command) =>
  program
    .command('log')
    .description('who did what and why, newest first')
    .option('--limit <n>', 'how many', count, 20)
    .addHelpText('after', examples('log', 'log --limit 200 --json'))
    .action(async (_, command: Command) => {
      const { json, limit, ...rest } = options<{ limit: number }>(command);
      const entries = await (await clientFor(rest)).log(limit);
      const lines = entries.flatMap((entry) => [
        `${String(entry.seq).padStart(5)}  ${localTime(entry.at)}  ${entry.who}  ${actionLine(entry)}${entry.why ? `  "${entry.why}"` : ''}`,
        ...Object.entries(entry.origins ?? {})
          .filter(([, origin]) => originLine(origin) !== '')
          .map(([id, origin]) => `         ${id}: ${originLine(origin)}`),
        ...evidenceLines(entry).map((line) => `         - ${line}`),
      ]);
      print(json, entries, lines);
    });

export const addDiff = (program: Command) =>
  program
    .command('diff <a> <b>')
    .description('what changes from a to b: state numbers, "stable", "candidate" or a build')
    .addHelpText('after', examples('diff 11 12', 'diff stable candidate', 'diff stable stories@1.4.2'))
    .action(async (a: string, b: string, _, command: Command) => {
      const { json, ...rest } = options(command);
      const differences = await (await clientFor(rest)).diff(a, b);
      const rows = differences.map(({ name, from, to, provenance }) => [
        name,
        from ?? '–',
        '→',
        to ?? '–',
        provenance ? originLine(provenance) : '',
      ]);
      print(json, differences, differences.length > 0 ? table(rows) : ['No difference.']);
    });
