import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { Command } from 'commander';
import type { ExposedTypes } from '../src/builds/exposedTypes.ts';
import { usage } from '../src/errors.ts';
import { nameOf } from '../src/model/build.ts';
import { clientFor, examples, print } from './context.ts';

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
  program
    .command('types <name...>')
    .description('fetch the types of what live remotes expose')
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
