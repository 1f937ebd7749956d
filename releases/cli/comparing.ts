import type { Command } from 'commander';
import { originLine } from '../src/english.ts';
import type { GroupHealth } from '../src/health/figures.ts';
import { buildIdParts } from '../src/model/build.ts';
import type { Comparison, Sides } from '../src/operations/compare.ts';
import { clientFor, examples, formatBytes, options, print } from './context.ts';

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
  program
    .command('compare <from> <to>')
    .description('what changes from one to the other: commits, files, addresses, contract, libraries, health')
    .addHelpText(
      'after',
      `\nA state's number, "stable", "candidate", "preview:stable" or a build.\n${examples('compare 11 12', 'compare stable candidate', 'compare chat@1.4.1 chat@1.4.2', 'compare stable preview:stable --json')}`,
    )
    .action(async (from: string, to: string, _, command: Command) => {
      const { json, ...rest } = options(command);
      const differences = await (await clientFor(rest)).compare(from, to);
      print(json, differences, differences.length > 0 ? differences.flatMap(comparisonLines) : ['No difference.']);
    });
