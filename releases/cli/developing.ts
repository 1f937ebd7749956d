import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { type Command, Option } from 'commander';
import type { ExposedTypes } from '../src/builds/exposedTypes.ts';
import type { ChangeOptions } from '../src/channel/writer.ts';
import { usage } from '../src/errors.ts';
import { nameOf } from '../src/model/build.ts';
import { addVerb, clientFor, examples, localTime, parseCount, print, printList, spanOption } from './context.ts';
import { printChange } from './switching.ts';

// Verbs for developers of remotes: types of other remotes, and builds and dev servers in one browser.

const DECLARATION = /\.d\.ts$/;
/** Declarations that only other declarations import. */
const INTERNAL_DECLARATION = /^(?:compiled-types|node_modules)\//;

/** Name for imports by other remotes, such as `stories/Badge`. */
const moduleName = (name: string, file: string): string =>
  posix.join(name, file.replace(DECLARATION, '').replace(/^index$/, ''));

/** Declares the type of `loadRemote('stories/Badge')`. */
const loadRemoteTypes = (name: string, files: readonly string[]): string => {
  const overloads = files.map(
    (file) =>
      `  export function loadRemote(id: '${moduleName(name, file)}', options?: object): Promise<typeof import('../${name}/${file.replace(DECLARATION, '.js')}') | null>;`,
  );
  return `export {};\ndeclare module '@module-federation/runtime' {\n${overloads.join('\n')}\n}\n`;
};

/** Replaces a remote's types. Throws usage if the folder was not written by this command. */
async function writeTypes(out: string, { id, files }: ExposedTypes): Promise<string[]> {
  const name = nameOf(id);
  const loadRemoteFile = `loadRemote/${name}.d.ts`;
  if (existsSync(join(out, name)) && !existsSync(join(out, loadRemoteFile)))
    throw usage(`${join(out, name)} was not written by this command`, 'Name another folder with --out, or remove it.');
  await rm(join(out, name), { recursive: true, force: true });
  const modules = Object.keys(files).filter((file) => !INTERNAL_DECLARATION.test(file));
  const texts = { [loadRemoteFile]: loadRemoteTypes(name, modules) };
  for (const [file, text] of Object.entries(files)) texts[`${name}/${file}`] = text;
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(out, path)), { recursive: true });
    await writeFile(join(out, path), text);
  }
  return modules.map((file) => moduleName(name, file));
}

export const addTypes = (program: Command) =>
  addVerb(program, 'types <name...>', 'fetch the types of what live remotes expose')
    .option('--out <dir>', 'where they are written, a folder for each remote', '@mf-types')
    .addHelpText(
      'after',
      `${examples('types stories', 'types stories@1.4.2 --out @mf-types')}\ntsconfig.json needs "paths": { "*": ["./@mf-types/*"] } and "@mf-types" in "include".\n`,
    )
    .action(async (names: string[], { out }: { out: string }, command: Command) => {
      const client = await clientFor(command);
      const answers = await Promise.all(names.map((name) => client.types(name)));
      const writtenTypes = [];
      for (const types of answers) writtenTypes.push({ id: types.id, modules: await writeTypes(out, types) });
      print(
        command,
        writtenTypes,
        writtenTypes.map(({ id, modules }) => `${id}: ${modules.join(', ')}`),
      );
    });

export const addOverride = (program: Command) =>
  addVerb(program, 'override <builds...>', 'a recorded, expiring link that runs these builds in one browser')
    .addOption(spanOption('--for <span>', '30m, 2h, 3d; a week at most', '2h'))
    .option('--why <text>', 'kept with the record')
    .addHelpText('after', examples('override stories@1.4.2+3f9c1a7b20de --for 2h'))
    .action(async (builds: string[], { for: hours, why }: { for: number; why?: string }, command: Command) => {
      const result = await (await clientFor(command)).override({ builds, hours, why });
      print(command, result, [
        result.address ??
          `Open any page of the app with ${result.query} (with the site's address in RELEASES_SITE the whole link stands here)`,
        `Ends ${localTime(result.expires)}; ?override=off ends it before.`,
      ]);
    });

/** Accepted for older scripts: a preview permission does not depend on a state. */
const unusedSeq = () => new Option('--seq <n>').argParser(parseCount).hideHelp();

export function addPreview(program: Command) {
  const preview = addVerb(
    program,
    'preview',
    'remotes from dev servers inside the deployed host, for one person and a time',
  ).addHelpText(
    'after',
    examples(
      `preview open 'stories@http://localhost:3101 <browser>' --person "Li Hua" --for 4h`,
      'preview list',
      'preview end <browser>',
    ),
  );
  addVerb(
    preview,
    'open <request...>',
    'lets one browser run remotes from a dev server; the request is what its page shows',
  )
    .option('--why <text>', 'kept in the audit')
    .addOption(unusedSeq())
    .requiredOption('--person <name>', 'whose browser it is; kept in the log')
    .addOption(spanOption('--for <span>', '30m, 4h, 3d; a week at most', '4h'))
    .action(async (words: string[], own: ChangeOptions & { person: string; for: number }, command: Command) => {
      const { person, why, for: hours } = own;
      printChange(command, await (await clientFor(command)).preview({ request: words.join(' '), person, hours, why }));
    });
  addVerb(preview, 'list', 'what is open now, for whom and until when').action(async (_, command: Command) => {
    const previews = await (await clientFor(command)).previews();
    const cellsOf = ({ browser, person, remotes, expires, who }: (typeof previews)[number]) => [
      browser,
      person,
      remotes.join(' '),
      `until ${localTime(expires)}, by ${who}`,
    ];
    printList(command, previews, cellsOf, 'No preview is open.');
  });
  addVerb(preview, 'end <browser>', 'takes the leave back; open pages notice within seconds')
    .option('--why <text>', 'kept in the audit')
    .addOption(unusedSeq())
    .action(async (browser: string, { why }: ChangeOptions, command: Command) =>
      printChange(command, await (await clientFor(command))['preview-end']({ browser, why })),
    );
}
