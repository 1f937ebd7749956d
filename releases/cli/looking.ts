import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { noRemote } from '../src/builds/catalog.ts';
import {
  actionLine,
  errorSentence,
  evidenceLines,
  failuresText,
  originLine,
  urgentLines,
  vitalNames,
  vitalValue,
} from '../src/english.ts';
import { ReleaseError, usage } from '../src/errors.ts';
import type { BuildHealth, Health } from '../src/health/autoStop.ts';
import type { ErrorHealth } from '../src/health/errors.ts';
import type { GroupHealth } from '../src/health/figures.ts';
import type { MetricVitals, NameVitals, VitalsSeries } from '../src/health/vitals.ts';
import { buildIdParts, nameOf } from '../src/model/build.ts';
import { type ChannelDocument, candidatesOf } from '../src/model/channel.ts';
import type { Comparison, Sides } from '../src/operations/compare.ts';
import type { AgendaView } from '../src/policies/agendaView.ts';
import {
  addVerb,
  clientFor,
  examples,
  formatBytes,
  localTime,
  options,
  parseCount,
  print,
  printLines,
  printList,
  table,
} from './context.ts';
import { agendaLines } from './planning.ts';

type Status = ChannelDocument & { agenda?: AgendaView; fallbacks?: string[] };

/** Full status with complete build ids. */
function allLines(document: Status, health: Health): string[] {
  const { stable, lastGood, killed, expires, fallbacks = Object.values(lastGood) } = document;
  const stableLines = stable
    ? [`Live for everyone since ${localTime(stable.since)}, by ${stable.by}:`, ...stable.builds.map((id) => `  ${id}`)]
    : ['Nothing is live yet.'];
  const candidateLines = candidatesOf(document).flatMap(({ percent, since, by, builds }) => [
    `For ${visitorsOf(percent)}, begun ${localTime(since)} by ${by}:`,
    ...builds.map((id) => `  ${id}`),
  ]);
  return [
    headLine(document),
    ...urgentLines(health),
    ...stableLines,
    ...candidateLines,
    ...(fallbacks.length > 0
      ? ['Last good builds, tried when one of these fails:', ...fallbacks.map((id) => `  ${id}`)]
      : []),
    ...(killed.length > 0 ? ['Killed:', ...killed.map((id) => `  ${id}`)] : []),
    ...agendaLines(document.agenda),
    `Signed until ${localTime(expires)}`,
    ...vitalsLines(health.vitals ?? []),
  ];
}

const headLine = ({ channel, seq, action }: Status): string =>
  `${channel}, state ${seq}: ${actionLine(action)} (${action.who}, ${localTime(action.at)}${action.why ? `, "${action.why}"` : ''})`;

/** Shortens build ids. `chat@1.4.0` is unambiguous unless the version was published twice. */
const withoutHashes = (line: string): string => line.replaceAll(/\+[\da-f]{12}\b/g, '');

const visitorsOf = (percent: number): string => (percent === 0 ? 'nobody yet (0 %)' : `${percent} % of visitors`);

/** `chat 1.4.0, stories 1.2.0` */
const shortNames = (builds: readonly string[]): string =>
  builds
    .map((id) => buildIdParts(id))
    .map(({ name, version }) => `${name} ${version}`)
    .join(', ');

const MAX_STATUS_LINES = 10;

/** Status in at most ten lines, problems before plans. */
function briefLines(document: Status, health: Health): string[] {
  const { stable, killed, agenda } = document;
  const { builds, errors = [] } = health;
  const [worst, ...others] = errors.filter(({ gone }) => !gone);
  const lines = [
    withoutHashes(headLine(document)),
    stable ? `Live since ${localTime(stable.since)}: ${shortNames(stable.builds)}` : 'Nothing is live yet.',
    ...urgentLines(health).map(withoutHashes),
    ...(worst ? [errorSentence(worst, formatSince(worst.first))] : []),
    ...(others.length > 0 ? [`and ${others.length} more kinds of errors: \`health\``] : []),
    ...candidatesOf(document).map(
      ({ percent, since: startedAt, builds: candidateBuilds }) =>
        `For ${visitorsOf(percent)}, begun ${localTime(startedAt)}: ${shortNames(candidateBuilds)}`,
    ),
    ...(killed.length > 0 ? [`Killed: ${shortNames(killed)}`] : []),
    ...agendaLines(agenda),
  ];
  const shownCount = lines.length > MAX_STATUS_LINES - 1 ? MAX_STATUS_LINES - 2 : lines.length;
  return [
    ...lines.slice(0, shownCount),
    ...(shownCount < lines.length ? [`${lines.length - shownCount} lines more: \`status --all\``] : []),
    `Last day: ${dayText(builds)}`,
  ];
}

const MAX_FAILING = 3;

/** `stories 1.5.0 2 of 690 visitors failed, chat 1.4.0 1 of 300` */
function dayText(builds: readonly BuildHealth[]): string {
  const failing = builds
    .filter(({ failedVisitors }) => failedVisitors > 0)
    .sort((a, b) => b.failedVisitors / b.visitors - a.failedVisitors / a.visitors);
  const maxVisitors = Math.max(0, ...builds.map(({ visitors }) => visitors));
  if (failing.length === 0) return `${maxVisitors} ${maxVisitors === 1 ? 'visitor' : 'visitors'}, nothing failed`;
  const failingTexts = failing
    .slice(0, MAX_FAILING)
    .map(
      ({ build, failedVisitors, visitors }, at) =>
        `${shortNames([build])} ${failedVisitors} of ${visitors}${at === 0 ? ' visitors failed' : ''}`,
    );
  const rest = failing.length - failingTexts.length;
  return [...failingTexts, ...(rest > 0 ? [`${rest} more: \`health\``] : [])].join(', ');
}

interface WatchFlags {
  watch?: boolean;
}

const WATCH_MS = 5000;

/** Prints lines; with `--watch` again on each change. An unreachable store is reported and retried; other errors end it. */
async function printOrWatch(command: Command, watch: boolean | undefined, read: () => Promise<[unknown, string[]]>) {
  if (options(command).json && watch) throw usage('--watch has no --json', 'Leave one of them out.');
  if (!watch) {
    const [value, lines] = await read();
    return print(command, value, lines);
  }
  for (let previousText = ''; ; await pause(WATCH_MS)) {
    const [, lines] = await read().catch((cause: unknown): [null, string[]] => {
      if (!(cause instanceof ReleaseError) || cause.kind !== 'unreachable') throw cause;
      return [null, [`no answer: ${cause.message}`]];
    });
    const text = lines.join('\n');
    if (text === previousText) continue;
    previousText = text;
    // a terminal shows only the newest state, a file gets all of them
    if (process.stdout.isTTY) process.stdout.write('\u001b[2J\u001b[H');
    printLines([localTime(new Date().toISOString()), ...lines, ...(process.stdout.isTTY ? [] : [''])]);
  }
}

const WATCH = ['--watch', 'print it again whenever it changes'] as const;

export const addStatus = (program: Command) =>
  addVerb(program, 'status', 'what is live for whom and what fails, in ten lines')
    .option('--all', 'whole ids, last good builds, and what visitors felt')
    .option(...WATCH)
    .addHelpText('after', examples('status', 'status --all', 'status --watch', 'status --channel preview --json'))
    .action(async ({ all, watch }: WatchFlags & { all?: boolean }, command: Command) => {
      const client = await clientFor(command);
      await printOrWatch(command, watch, async () => {
        const document = await client.status();
        if (options(command).json) return [document, []];
        const health = await client.health();
        return [document, (all ? allLines : briefLines)(document, health)];
      });
    });

const BARS = '▁▂▃▄▅▆▇█';

/** p75 over time as bars from zero to `top`; a dot if there are too few pages. */
const bars = (points: VitalsSeries['points'], top: number): string =>
  points.map((value) => (value === null ? '·' : (BARS[Math.min(7, Math.floor((value / top) * 8))] ?? ''))).join('');

function metricRows({ metric, stable, candidate, verdict }: MetricVitals): string[][] {
  const series = [stable, candidate].filter((one) => one !== null);
  const top = Math.max(...series.flatMap(({ points }) => points.map((value) => value ?? 0))) || 1;
  const verdictText = verdict && (verdict.slower ? 'SLOWER' : verdict.enough ? 'not slower' : 'too few to say');
  return series.map((one) => [
    `    ${one === stable ? vitalNames[metric] : ''}`,
    one === stable ? 'stable' : 'candidate',
    bars(one.points, top),
    one.p75 === null ? 'too few to say' : `p75 ${vitalValue(metric, one.p75)}`,
    `${one.pages} page${one.pages === 1 ? '' : 's'}`,
    one === candidate ? (verdictText ?? '') : '',
  ]);
}

function vitalsLines(vitals: readonly NameVitals[]): string[] {
  const hasPages = ({ stable, candidate }: MetricVitals) => Boolean(stable?.pages || candidate?.pages);
  const measuredNames = vitals.filter(({ metrics }) => metrics.some(hasPages));
  if (measuredNames.length === 0) return ['What visitors felt: nothing was reported yet.'];
  return measuredNames.flatMap(({ name, stepMinutes, metrics }) => [
    `What visitors of ${name} felt, a bar for every ${stepMinutes} minutes until now:`,
    ...table(metrics.filter(hasPages).flatMap(metricRows)),
  ]);
}

/** `01:12`, with the date unless it is today. */
const formatSince = (instant: string): string => {
  const [day, time = ''] = localTime(instant).split(' ');
  return localTime(new Date().toISOString()).startsWith(day ?? '') ? time : `${day} ${time}`;
};

const errorLines = (error: ErrorHealth): string[] => [
  errorSentence(error, formatSince(error.first)),
  ...(error.message ? [`    ${error.name}: ${error.message}`] : []),
  ...error.frames.map(({ at, name }) => `    at ${name ? `${name} (${at})` : at}`),
  `    last ${formatSince(error.last)}; ${[...error.browsers, ...error.routes].map(({ label, visitors }) => `${label}: ${visitors}`).join(', ')}`,
];

function healthLines(health: Health): string[] {
  const { builds, errors = [] } = health;
  const rows = builds.map(({ build, group, visitors, failedVisitors, beside, p75LoadMilliseconds, failures }) => [
    build,
    group,
    `${failedVisitors} of ${visitors} visitors failed`,
    beside
      ? `${group === 'candidate' ? 'stable' : 'before'} ${buildIdParts(beside.build).version}: ${beside.failedVisitors} of ${beside.visitors}`
      : '',
    `p75 ${p75LoadMilliseconds === null ? '–' : Math.round(p75LoadMilliseconds)} ms`,
    failuresText(failures),
  ]);
  if (rows.length + errors.length === 0) return ['Nothing was reported yet.'];
  return [
    ...urgentLines(health),
    ...errors.flatMap(errorLines),
    ...(rows.length > 0 ? ['Last day:'] : []),
    ...table(rows),
  ];
}

export const addHealth = (program: Command) =>
  addVerb(
    program,
    'health',
    "how each build fares in its visitors' browsers, over the last day, and which errors it throws",
  )
    .option(...WATCH)
    .addHelpText('after', examples('health', 'health --watch', 'health --json'))
    .action(async ({ watch }: WatchFlags, command: Command) => {
      const client = await clientFor(command);
      await printOrWatch(command, watch, async () => {
        const health = await client.health();
        return [health, healthLines(health)];
      });
    });

/** State of a build in the channel: `live`, `candidate 5 %`, `last good` or `killed`. */
function statesIn(document: Status): (id: string) => string {
  const { stable, killed, lastGood, fallbacks = Object.values(lastGood) } = document;
  const candidates = candidatesOf(document);
  return (id) => {
    const percent = candidates.find(({ builds }) => builds.includes(id))?.percent;
    if (killed.includes(id)) return 'killed';
    if (stable?.builds.includes(id)) return 'live';
    if (percent !== undefined) return `candidate ${percent} %`;
    return fallbacks.includes(id) ? 'last good' : '';
  };
}

export const addBuilds = (program: Command) =>
  addVerb(program, 'builds [name]', 'what has been published, newest first')
    .addHelpText('after', examples('builds', 'builds stories'))
    .action(async (name: string | undefined, _, command: Command) => {
      const client = await clientFor(command);
      const builds = await client.builds(name);
      if (name && builds.length === 0) {
        const names = [...new Set((await client.builds()).map(({ id }) => nameOf(id)))].sort();
        if (names.length > 0) throw noRemote(name, names);
      }
      // builds are listed even if the channel cannot be read
      const document = options(command).json ? null : await client.status().catch(() => null);
      const stateOf = document ? statesIn(document) : () => '';
      const cellsOf = ({ id, bytes: size, provenance, problem }: (typeof builds)[number]) => [
        id,
        stateOf(id),
        formatBytes(size),
        localTime(provenance.at),
        provenance.publisher,
        problem ?? originLine(provenance),
      ];
      printList(command, builds, cellsOf, 'Nothing published yet: `pnpm release publish <dir>`.');
    });

export const addLog = (program: Command) =>
  addVerb(program, 'log', 'who did what and why, newest first')
    .option('--limit <n>', 'how many; from a console 500 at most', parseCount, 20)
    .addHelpText('after', examples('log', 'log --limit 200 --json'))
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const entries = await (await clientFor(command)).log(limit);
      const lines = entries.flatMap((entry) => [
        `${String(entry.seq).padStart(5)}  ${localTime(entry.at)}  ${entry.who}  ${actionLine(entry)}${entry.why ? `  "${entry.why}"` : ''}`,
        ...Object.entries(entry.origins ?? {})
          .filter(([, origin]) => originLine(origin) !== '')
          .map(([id, origin]) => `         ${id}: ${originLine(origin)}`),
        ...evidenceLines(entry).map((line) => `         - ${line}`),
      ]);
      print(command, entries, lines);
    });

const MAX_FILES = 8;

const versionOf = (id: string | null): string => (id === null ? '–' : buildIdParts(id).version);

/** `12 → 13`, or one value if both are equal. */
const formatSides = ({ from, to }: Sides<string>): string =>
  from === to ? `${from ?? '–'}` : `${from ?? '–'} → ${to ?? '–'}`;

function fileLines({ files: { from, to }, changedFiles }: Comparison): string[] {
  const addedBytes = (to?.bytes ?? 0) - (from?.bytes ?? 0);
  const sum = `${formatSides({ from: from && `${from.count}`, to: to && `${to.count}` })}, ${formatSides({ from: from && formatBytes(from.bytes), to: to && formatBytes(to.bytes) })}`;
  const rest = changedFiles.length - MAX_FILES;
  return [
    `files: ${sum} (${addedBytes < 0 ? '-' : '+'}${formatBytes(Math.abs(addedBytes))})`,
    ...changedFiles.slice(0, MAX_FILES).map(({ path, from: before, to: after }) => {
      const sign = before === null ? '+' : after === null ? '-' : '~';
      const sizes = [before, after].flatMap((size) => (size === null ? [] : formatBytes(size)));
      return `  ${sign} ${path} ${[...new Set(sizes)].join(' → ')}`;
    }),
    ...(rest > 0 ? [`  ${rest} more: --json`] : []),
  ];
}

const healthText = (health: GroupHealth | null): string =>
  health ? `${health.failedVisitors} of ${health.visitors} visitors failed` : 'nothing reported';

function commitLines({ commits, back, page }: Comparison): string[] {
  const title = back ? 'takes back' : 'brings';
  const originLines = commits.map(
    ({ build, ...origin }) => `  ${versionOf(build)}  ${originLine({ ...origin, publisher: '' })}`,
  );
  return [
    `${title} ${commits.length} published build${commits.length === 1 ? '' : 's'}${commits.length > 0 ? ':' : ''}`,
    ...originLines.map((line) => line.trimEnd()),
    ...(page ? [`  all commits: ${page}`] : []),
  ];
}

function comparisonLines(comparison: Comparison): string[] {
  const { name, from, to, routes, contract, libraries, health, damaged } = comparison;
  const places = [...routes.removed.map((place) => `- ${place}`), ...routes.added.map((place) => `+ ${place}`)];
  const libraryLines = libraries.map(
    ({ name: library, carries, accepts }) =>
      `  ${library}: ${[
        ...(carries.from === carries.to ? [] : [`carries ${formatSides(carries)}`]),
        ...(accepts.from === accepts.to ? [] : [`accepts ${formatSides(accepts)}`]),
      ].join(', ')}`,
  );
  const lines = [
    `${from ?? '–'} → ${to ?? '–'}`,
    ...damaged.map((id) => `cannot be read: ${id}`),
    ...commitLines(comparison),
    ...fileLines(comparison),
    `addresses: ${places.length > 0 ? places.join(', ') : 'the same'}`,
    `contract: ${formatSides(contract)}`,
    `shared libraries: ${libraryLines.length > 0 ? '' : 'the same'}`.trimEnd(),
    ...libraryLines,
    `health of the last day: ${healthText(health.from)} → ${healthText(health.to)}`,
  ];
  return [`${name} ${versionOf(from)} → ${versionOf(to)}`, ...lines.map((line) => `  ${line}`)];
}

export const addCompare = (program: Command) =>
  addVerb(
    program,
    'compare <from> <to>',
    'what changes from one to the other: commits, files, addresses, contract, libraries, health',
  )
    .addHelpText(
      'after',
      `\nA state's number, "stable", "candidate", "preview:stable" or a build.\n${examples('compare 11 12', 'compare stable candidate', 'compare chat@1.4.1 chat@1.4.2', 'compare stable preview:stable --json')}`,
    )
    .action(async (from: string, to: string, _, command: Command) => {
      const differences = await (await clientFor(command)).compare(from, to);
      print(command, differences, differences.length > 0 ? differences.flatMap(comparisonLines) : ['No difference.']);
    });
