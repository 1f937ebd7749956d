import type { Command } from 'commander';
import { clientFor } from '../context.ts';
import { examples, options, printChange, type SwitchOptions, withForce } from '../shared.ts';

export const addActivate = (program: Command) =>
  withForce(program.command('activate <builds...>').description('gate, then one atomic switch of all named builds'))
    .addHelpText(
      'after',
      examples('activate stories@1.4.2+3f9c1a7b20de --why "new feed"', 'activate host@… stories@… chat@…'),
    )
    .action(async (builds: string[], _, command: Command) => {
      const { json, why, seq, force, ...rest } = options<SwitchOptions>(command);
      printChange(json, await (await clientFor(rest, true)).activate({ builds, why, seq, force }));
    });
