import type { Command } from 'commander';
import { originLine } from '../src/english.ts';
import type { GroupHealth } from '../src/health/figures.ts';
import { buildIdParts } from '../src/model/build.ts';
import type { Comparison, Sides } from '../src/operations/compare.ts';
import { bytes, clientFor, examples, options, print } from './context.ts';

const MOST_FILES = 8;

const versionOf = (id: string | null): string => (id === null ? '–' : buildIdParts(id).version);

/** `12 → 13`, or one value if both are equal. */
const both = ({ from, to }: Sides<string>): string =>
  from === to ? `${from ?? '–'}` : `${from ?? '–'} → ${to ?? '–'}`;

function fileLines({ files: { from, to }, changedFiles }: Comparison): string[] {
  const more = (to?.bytes ?? 0) - (from?.bytes ?? 0);
  const sum = `${both({ from: from && `${from.count}`, to: to && `${to.count}` })}, ${both({ from: from && bytes(from.bytes), to: to && bytes(to.bytes) })}`;
  const rest = changedFiles.length - MOST_FILES;
  return [
    `files: ${sum} (${more < 0 ? '-' : '+'}${bytes(Math.abs(more))})`,
    ...changedFiles.slice(0, MOST_FILES).map(({ path, from: before, to: after }) => {
      const sign = before === null ? '+' : after === null ? '-' : '~';
      const sizes = [before, after].flatMap((size) => (size === null ? [] : bytes(size)));
      return `  ${sign} ${path} ${[...new Set(sizes)].join(' → ')}`;
    }),
    ...(rest > 0 ? [`  ${rest} more: --json`] : []),
  ];
}

const healthText = (health: GroupHealth | null): string =>
  health ? `${health.failedVisitors} of ${health.visitors} visitors failed` : 'nothing reported';

function commitLines({ commits, back, page }: Comparison): string[] {
  const title = back ? 'takes back' : 'brings';
  const named = commits.map(
    ({ build, ...origin }) => `  ${versionOf(build)}  ${originLine({ ...origin, publisher: '' })}`,
  );
  return [
    `${title} ${commits.length} published build${commits.length === 1 ? '' : 's'}${commits.length > 0 ? ':' : ''}`,
    ...named.map((line) => line.trimEnd()),
    ...(page ? [`  all commits: ${page}`] : []),
  ];
}

function comparisonLines(comparison: Comparison): string[] {
  const { name, from, to, routes, contract, libraries, health, damaged } = comparison;
  const places = [...routes.removed.map((place) => `- ${place}`), ...routes.added.map((place) => `+ ${place}`)];
  const shared = libraries.map(
    ({ name: library, carries, accepts }) =>
      `  ${library}: ${[
        ...(carries.from === carries.to ? [] : [`carries ${both(carries)}`]),
        ...(accepts.from === accepts.to ? [] : [`accepts ${both(accepts)}`]),
      ].join(', ')}`,
  );
  const lines = [
    `${from ?? '–'} → ${to ?? '–'}`,
    ...damaged.map((id) => `cannot be read: ${id}`),
    ...commitLines(comparison),
    ...fileLines(comparison),
    `addresses: ${places.length > 0 ? places.join(', ') : 'the same'}`,
    `contract: ${both(contract)}`,
    `shared libraries: ${shared.length > 0 ? '' : 'the same'}`.trimEnd(),
    ...shared,
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
