import { Argument, type Command } from 'commander';
import { print } from './context.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** What may stand after these words: verbs and options, each with its description. */
interface Level {
  words: string[];
  next: { word: string; about: string }[];
}

/** Every verb of a program, and every verb of a verb, with what may follow. */
function levelsOf(program: Command): Level[] {
  const optionsOf = ({ options }: Command) =>
    options.flatMap(({ long, description }) => (long ? [{ word: long, about: description }] : []));
  const level = (words: string[], command: Command): Level => ({
    words,
    next: [
      ...command.commands.map((each) => ({ word: each.name(), about: each.description() })),
      ...optionsOf(command),
      ...(command === program ? [{ word: '--version', about: 'print the version' }] : optionsOf(program)),
      { word: '--help', about: 'how it is used' },
    ],
  });
  return [
    level([], program),
    ...program.commands.flatMap((verb) => [
      level([verb.name()], verb),
      ...verb.commands.map((each) => level([verb.name(), each.name()], each)),
    ]),
  ];
}

/** The longest row of words that has a level decides. */
const bash = (name: string, levels: readonly Level[]): string => `_liaozhai_release() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" verbs=() word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) verbs+=("$word") ;; esac
  done
  local next
  for next in "\${verbs[0]} \${verbs[1]}" "\${verbs[0]} " " "; do
    case "$next" in
${levels
  .map(
    ({ words: [verb = '', more = ''], next }) =>
      `      "${verb} ${more}") COMPREPLY=($(compgen -W "${next.map(({ word }) => word).join(' ')}" -- "$cur")); return ;;`,
  )
  .join('\n')}
    esac
  done
}
complete -o default -F _liaozhai_release ${name}
`;

const zsh = (name: string, levels: readonly Level[]): string =>
  `autoload -Uz compinit bashcompinit\ncompinit\nbashcompinit\n${bash(name, levels)}`;

const quoted = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`;

function fish(name: string, levels: readonly Level[]): string {
  const verbs = (levels[0]?.next ?? []).map(({ word }) => word).filter((word) => !word.startsWith('-'));
  const lines = levels.flatMap(({ words: [verb, more], next }) => {
    const seen = verb ? `__fish_seen_subcommand_from ${verb}` : `not __fish_seen_subcommand_from ${verbs.join(' ')}`;
    const where = more ? `${seen}; and __fish_seen_subcommand_from ${more}` : seen;
    return next.map(({ word, about }) => {
      const what = word.startsWith('--') ? `-l ${word.slice(2)}` : `-a ${word}`;
      return `complete -c ${name} -n ${quoted(where)} ${what} -d ${quoted(about)}`;
    });
  });
  return `${lines.join('\n')}\n`;
}

const SCRIPTS: Record<Shell, typeof bash> = { bash, zsh, fish };

export const addCompletion = (program: Command) =>
  program
    .command('completion')
    .description('print what a shell needs to complete verbs and options')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .option('--name <command>', 'the command or alias that is completed', 'liaozhai-release')
    .addHelpText(
      'after',
      '\nbash, zsh: eval "$(liaozhai-release completion bash)"    fish: liaozhai-release completion fish | source\nIn this repository: alias release="pnpm --silent release"; eval "$(release completion bash --name release)"\n',
    )
    .action((shell: Shell, { name }: { name: string }) =>
      print(false, null, [SCRIPTS[shell](name, levelsOf(program)).trimEnd()]),
    );
