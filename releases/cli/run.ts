import { existsSync, readFileSync } from 'node:fs';
import { Command, CommanderError, Option } from 'commander';
import { usage } from '../src/errors.ts';
import { blankSetting } from '../src/store/store.ts';
import { addCompletion, addWords } from './completion.ts';
import { printFailure, printJson, printLines } from './context.ts';
import * as developing from './developing.ts';
import * as looking from './looking.ts';
import * as planning from './planning.ts';
import * as switching from './switching.ts';
import * as upkeep from './upkeep.ts';

const VERBS = [
  upkeep.addInit,
  upkeep.addChannel,
  switching.addPublish,
  looking.addBuilds,
  developing.addTypes,
  looking.addStatus,
  looking.addHealth,
  looking.addLog,
  looking.addCompare,
  switching.addCheck,
  switching.addActivate,
  switching.addCanary,
  planning.addSchedule,
  switching.addPromote,
  switching.addAbort,
  switching.addRollback,
  switching.addWithdraw,
  switching.addKill,
  planning.addFreeze,
  planning.addApproval,
  developing.addOverride,
  developing.addPreview,
  planning.addWebhook,
  upkeep.addToken,
  upkeep.addLogin,
  upkeep.addLogout,
  upkeep.addWhoami,
  upkeep.addExport,
  upkeep.addGc,
  addCompletion,
  addWords,
];

/** Version of the package that contains this file, in the repository or packed. */
function ownVersion(): string {
  const places = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url));
  const manifest = places.find((place) => existsSync(place));
  return manifest ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version : 'unknown';
}

const HELP_CODES = ['commander.help', 'commander.helpDisplayed'];

/** Full name of a command, such as `pnpm release freeze add`. */
const nameFrom = (command: Command): string =>
  [command.parent && nameFrom(command.parent), command.name()].filter(Boolean).join(' ');

const isBlank = (value: unknown): boolean => [value].flat().some((each) => typeof each === 'string' && !each.trim());

const withParents = (command: Command): Command[] => [command, ...(command.parent ? withParents(command.parent) : [])];

/** Throws usage for an empty value, because an unset variable of a script must not change the request. */
function requireValues(command: Command): void {
  const blankOptions = withParents(command).flatMap((owner) =>
    owner.options.flatMap((option) => {
      const name = option.attributeName();
      const isTyped = owner.getOptionValueSource(name) === 'cli';
      return isTyped && isBlank(owner.getOptionValue(name)) ? (option.long ?? []) : [];
    }),
  );
  const blankArguments = command.registeredArguments
    .filter((_, at) => isBlank(command.processedArgs[at]))
    .map((argument) => `the argument ${argument.name()}`);
  const [blank = blankSetting(process.env)] = [...blankOptions, ...blankArguments];
  if (blank) throw usage(`${blank} is empty`, 'Give it a value, or leave it out. A variable of a script may be unset.');
}

export function makeProgram(): Command {
  const program = new Command('pnpm release')
    .description('build → set → channel: publishes packages and decides which of them run, for whom')
    .option(
      '--store <url>',
      'file:<dir>, s3://bucket/prefix or https://console-host (default: RELEASES_STORE, else releases in DATA_DIR, which is .data)',
    )
    .addOption(new Option('--channel <name>', 'which channel').default('production').env('RELEASES_CHANNEL'))
    .option('--json', 'one JSON document on standard output, nothing else')
    .addOption(
      new Option('--smoke <mode>', "the gate's headless browser")
        .choices(['auto', 'required', 'off'])
        .default('auto')
        .env('RELEASES_SMOKE'),
    )
    .configureHelp({ showGlobalOptions: true })
    .hook('preAction', (_, command) => requireValues(command))
    // no global option: it would take the `--version` of `publish`
    .addHelpText('after', '\n`pnpm release --version` prints the version.\n')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 refused, 2 wrong usage, 3 store unreachable or not permitted, 4 waiting for a second person.\n',
    );
  for (const add of VERBS) add(program);
  const commands = program.commands.flatMap((command) => [command, ...command.commands]);
  for (const command of [program, ...commands])
    command.configureOutput({ outputError: () => undefined }).exitOverride((cause) => {
      if (HELP_CODES.includes(cause.code)) throw cause;
      const words = nameFrom(command);
      throw usage(
        cause.message.replace(/^error: /, '').replaceAll('\n', ' '),
        `Usage: ${words} ${command.usage()}. More: ${words} --help`,
      );
    });
  return program;
}

export async function run(words: readonly string[]): Promise<number> {
  const json = words.includes('--json');
  if (words.find((word) => word !== '--json') === '--version') {
    const version = ownVersion();
    if (json) printJson({ version });
    else printLines([version]);
    return 0;
  }
  try {
    await makeProgram().parseAsync(words, { from: 'user' });
    return 0;
  } catch (cause) {
    // help was printed, on request or because a verb is missing
    if (cause instanceof CommanderError) return cause.exitCode === 0 ? 0 : 2;
    return printFailure(json, cause);
  }
}
