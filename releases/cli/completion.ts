import { Argument, type Command } from 'commander';
import { nameOf } from '../src/model/build.ts';
import { clientFor, printLines } from './context.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

interface Suggestion {
  word: string;
  about: string;
  /** Allowed values of an option with a value; empty if any value is allowed. */
  values?: readonly string[];
}

/** What may follow these words: verbs, options, and arguments with fixed values. */
interface Level {
  words: string[];
  suggestions: Suggestion[];
  takesFolder: boolean;
}

/** Verbs for people. Only the shell calls `words`. */
const verbsOf = ({ commands }: Command) => commands.filter((verb) => verb.name() !== 'words');

/** The program and each of its verbs, with what may follow. */
function levelsOf(program: Command): Level[] {
  const optionsOf = ({ options }: Command): Suggestion[] =>
    options.flatMap(({ long, description, required, argChoices = [] }) =>
      long ? [{ word: long, about: description, values: required ? argChoices : undefined }] : [],
    );
  const choicesOf = ({ registeredArguments }: Command): Suggestion[] =>
    registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((word) => ({ word, about: description })),
    );
  const level = (words: string[], command: Command): Level => ({
    words,
    suggestions: [
      ...verbsOf(command).map((each) => ({ word: each.name(), about: each.description() })),
      ...choicesOf(command),
      ...optionsOf(command),
      ...(command === program ? [{ word: '--version', about: 'print the version' }] : optionsOf(program)),
      { word: '--help', about: 'how it is used' },
    ],
    takesFolder: command.registeredArguments.some((argument) => argument.name() === 'dir'),
  });
  return [
    level([], program),
    ...verbsOf(program).flatMap((verb) => [
      level([verb.name()], verb),
      ...verb.commands.map((each) => level([verb.name(), each.name()], each)),
    ]),
  ];
}

/** Verbs whose argument is a name or a published build. Completion fetches these from the store. */
const DYNAMIC_VERBS = {
  names: ['rollback', 'withdraw', 'abort', 'promote', 'builds', 'types'],
  builds: ['activate', 'canary', 'check', 'kill', 'override', 'compare'],
} as const;
const KINDS = ['names', 'builds'] as const;

/** Options with a value, which must not be read as a verb, and their allowed values. */
const valuedOptions = (levels: readonly Level[]) =>
  new Map(
    levels.flatMap(({ suggestions }) =>
      suggestions.flatMap(({ word, values }) => (values ? [[word, values] as const] : [])),
    ),
  );

/** The longest matching sequence of words decides. `@` counts as part of a word, for build ids. zsh runs this script, too. */
const bash = (name: string, levels: readonly Level[]): string => `COMP_WORDBREAKS="\${COMP_WORDBREAKS//@}"
_liaozhai_release() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" verbs=() word before=
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$before $word" in
      ${[...valuedOptions(levels).keys()].map((option) => `"${option} "*|`).join('')}*" "-*) ;;
      *) verbs+=("$word") ;;
    esac
    before="$word"
  done
  COMPREPLY=()
  case "$before" in
${[...valuedOptions(levels)]
  .filter(([, values]) => values.length > 0)
  .map(([option, values]) => `    ${option}) COMPREPLY=($(compgen -W "${values.join(' ')}" -- "$cur")); return ;;`)
  .join('\n')}
    ${[...valuedOptions(levels).keys()].join('|')}) return ;;
  esac
  local next
  for next in "\${verbs[0]} \${verbs[1]}" "\${verbs[0]} " " "; do
    case "$next" in
${levels
  .map(
    ({ words: [verb = '', more = ''], suggestions }) =>
      `      "${verb} ${more}") COMPREPLY=($(compgen -W "${suggestions.map(({ word }) => word).join(' ')}" -- "$cur")); break ;;`,
  )
  .join('\n')}
    esac
  done
  case "$cur \${verbs[0]}" in
    -*) ;;
${KINDS.map(
  (kind) =>
    `    *" "${DYNAMIC_VERBS[kind].join('|*" "')}) COMPREPLY+=($(compgen -W "$(${name} words ${kind} 2>/dev/null)" -- "$cur")) ;;`,
).join('\n')}
  esac
}
complete -o default -F _liaozhai_release ${name}
`;

const zsh = (name: string, levels: readonly Level[]): string =>
  `autoload -Uz compinit bashcompinit\ncompinit\nbashcompinit\n${bash(name, levels)}`;

const quote = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;

function fish(name: string, levels: readonly Level[]): string {
  const verbs = (levels[0]?.suggestions ?? []).map(({ word }) => word).filter((word) => !word.startsWith('-'));
  const lines = levels.flatMap(({ words: [verb, more], suggestions }) => {
    const verbCondition = verb
      ? `__fish_seen_subcommand_from ${verb}`
      : `not __fish_seen_subcommand_from ${verbs.join(' ')}`;
    const condition = more ? `${verbCondition}; and __fish_seen_subcommand_from ${more}` : verbCondition;
    return suggestions.map(({ word, about, values }) => {
      const value = values && (values.length > 0 ? ` -x -a ${quote(values.join(' '))}` : ' -r');
      const target = word.startsWith('--') ? `-l ${word.slice(2)}${value ?? ''}` : `-a ${word}`;
      return `complete -c ${name} -n ${quote(condition)} ${target} -d ${quote(about)}`;
    });
  });
  const dynamicLines = KINDS.map(
    (kind) =>
      `complete -c ${name} -n ${quote(`__fish_seen_subcommand_from ${DYNAMIC_VERBS[kind].join(' ')}`)} -a ${quote(`(${name} words ${kind} 2>/dev/null)`)}`,
  );
  const folderLines = levels.flatMap(({ words: [verb], takesFolder }) =>
    verb && takesFolder ? [`complete -c ${name} -F -n ${quote(`__fish_seen_subcommand_from ${verb}`)}`] : [],
  );
  return `${[`complete -c ${name} -f`, ...lines, ...dynamicLines, ...folderLines].join('\n')}\n`;
}

/** Words for completion, called by the shell scripts. */
export const addWords = (program: Command) =>
  program
    .command('words', { hidden: true })
    .addArgument(new Argument('<kind>').choices(KINDS))
    .action(async (kind: (typeof KINDS)[number], _, command: Command) => {
      const ids = (await (await clientFor(command)).builds()).map(({ id }) => id);
      printLines(kind === 'builds' ? ids : [...new Set(ids.map(nameOf))]);
    });

const SCRIPTS: Record<Shell, typeof bash> = { bash, zsh, fish };

export const addCompletion = (program: Command) =>
  program
    .command('completion')
    .description('print what a shell needs to complete verbs and options')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .option('--name <command>', 'the command that is completed', 'liaozhai-release')
    .addHelpText(
      'after',
      // a function, because zsh completes an alias as its expansion
      '\nbash: eval "$(liaozhai-release completion bash)"    zsh: eval "$(liaozhai-release completion zsh)"    fish: liaozhai-release completion fish | source\nIn this repository: release() { pnpm --silent release "$@"; }; eval "$(release completion bash --name release)"\nfish there: alias release "pnpm --silent release"; release completion fish --name release | source\n',
    )
    .action((shell: Shell, { name }: { name: string }) =>
      printLines(SCRIPTS[shell](name, levelsOf(program)).trimEnd().split('\n')),
    );
