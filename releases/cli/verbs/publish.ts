import type { Command } from 'commander';
import { clientFor } from '../context.ts';
import { print } from '../output.ts';
import { examples, options } from '../shared.ts';

export const addPublish = (program: Command) =>
  program
    .command('publish <dir>')
    .description('check, hash and store a built package; prints the build id')
    .option('--version <v>', 'another version than the one in package.json')
    .addHelpText('after', examples('publish remotes/stories/dist', 'publish remotes/stories/dist --version 1.4.2'))
    .action(async (folder: string, _, command: Command) => {
      const { json, version, ...rest } = options<{ version?: string }>(command);
      const result = await (await clientFor(rest)).publish(folder, version);
      print(json, result, [result.id, ...(result.created ? [] : ['(was there already, byte for byte)'])]);
    });
