import { Argument, type Command } from 'commander';
import { nameOf } from '../src/model/build.ts';
import { addVerb, clientFor, printLines } from './context.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Verbs whose argument is a name or a published build. Completion fetches these from the store. */
const NAME_VERBS = ['rollback', 'withdraw', 'abort', 'promote', 'builds', 'types'];
const BUILD_VERBS = ['activate', 'canary', 'check', 'kill', 'override', 'compare'];

interface Suggestion {
  word: string;
  about: string;
}

/** What may follow the words of a command line: verbs, options, and arguments or options with fixed values. */
async function suggestionsFor(program: Command, words: readonly string[]): Promise<Suggestion[]> {
  const optionsOf = (command: Command) => [...new Set([...command.options, ...program.options])];
  let command = program;
  let valued: Command['options'][number] | undefined;
  for (const word of words) {
    const isValue = valued !== undefined;
    valued = isValue ? undefined : optionsOf(command).find(({ long, required }) => required && long === word);
    if (!isValue && valued === undefined) command = command.commands.find((each) => each.name() === word) ?? command;
  }
  if (valued) return (valued.argChoices ?? []).map((word) => ({ word, about: '' }));
  const values = [...(command.registeredArguments[0]?.argChoices ?? []), ...(await publishedFor(command))];
  return [
    // only the scripts of the shells call `words`
    ...command.commands
      .filter((verb) => verb.name() !== 'words')
      .map((verb) => ({ word: verb.name(), about: verb.description() })),
    ...values.map((word) => ({ word, about: '' })),
    ...optionsOf(command).flatMap(({ long, description }) => (long ? [{ word: long, about: description }] : [])),
    ...(command === program ? [{ word: '--version', about: 'print the version' }] : []),
    { word: '--help', about: 'how it is used' },
  ];
}

/** Names or builds of the store that a verb takes; none without the store. */
async function publishedFor(command: Command): Promise<string[]> {
  const takesNames = NAME_VERBS.includes(command.name());
  if (!takesNames && !BUILD_VERBS.includes(command.name())) return [];
  const builds = await clientFor(command)
    .then((client) => client.builds())
    .catch(() => []);
  const ids = builds.map(({ id }) => id);
  return takesNames ? [...new Set(ids.map(nameOf))] : ids;
}

/** Words for completion, called by the shell scripts: what was typed before, of which fish shows the descriptions. */
export const addWords = (program: Command) =>
  program
    .command('words', { hidden: true })
    .argument('[typed...]')
    .option('--about')
    .action(async (typed: string[], { about }: { about?: true }) =>
      printLines(
        (await suggestionsFor(program, typed)).map((each) => (about ? Object.values(each).join('\t') : each.word)),
      ),
    );

/** `@` counts as part of a word, for build ids. zsh runs this script, too. */
const bash = (name: string): string => `COMP_WORDBREAKS="\${COMP_WORDBREAKS//@}"
_liaozhai_release() {
  local offered="$(${name} words -- "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}" 2>/dev/null)"
  COMPREPLY=($(compgen -W "$offered" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _liaozhai_release ${name}
`;

const SCRIPTS: Record<Shell, (name: string, folderVerbs: readonly string[]) => string> = {
  bash,
  zsh: (name) => `autoload -Uz compinit bashcompinit\ncompinit\nbashcompinit\n${bash(name)}`,
  fish: (name, folderVerbs) =>
    [
      `complete -c ${name} -f`,
      `complete -c ${name} -a '(${name} words --about -- (commandline -opc)[2..] 2>/dev/null)'`,
      ...folderVerbs.map((verb) => `complete -c ${name} -F -n '__fish_seen_subcommand_from ${verb}'`),
    ].join('\n'),
};

export const addCompletion = (program: Command) =>
  addVerb(program, 'completion', 'print what a shell needs to complete verbs and options')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .option('--name <command>', 'the command that is completed', 'liaozhai-release')
    .addHelpText(
      'after',
      // a function, because zsh completes an alias as its expansion
      '\nbash: eval "$(liaozhai-release completion bash)"    zsh: eval "$(liaozhai-release completion zsh)"    fish: liaozhai-release completion fish | source\nIn this repository: release() { pnpm --silent release "$@"; }; eval "$(release completion bash --name release)"\nfish there: alias release "pnpm --silent release"; release completion fish --name release | source\n',
    )
    .action((shell: Shell, { name }: { name: string }) => {
      const takesFolder = ({ registeredArguments }: Command) =>
        registeredArguments.some((each) => each.name() === 'dir');
      const folderVerbs = program.commands.filter(takesFolder).map((verb) => verb.name());
      printLines(SCRIPTS[shell](name, folderVerbs).trimEnd().split('\n'));
    });
