import type { Command } from 'commander';
import { clientFor } from '../context.ts';
import { print, table } from '../output.ts';
import { examples, options } from '../shared.ts';

export const addDiff = (program: Command) =>
  program
    .command('diff <a> <b>')
    .description('what changes from a to b: state numbers, "stable", "candidate" or a build id')
    .addHelpText('after', examples('diff 11 12', 'diff stable candidate', 'diff stable stories@1.4.2+3f9c1a7b20de'))
    .action(async (a: string, b: string, _, command: Command) => {
      const { json, ...rest } = options(command);
      const differences = await (await clientFor(rest)).diff(a, b);
      const rows = differences.map(({ name, from, to }) => [name, from ?? '–', '→', to ?? '–']);
      print(json, differences, differences.length > 0 ? table(rows) : ['No difference.']);
    });
