import type { Command } from 'commander';
import { clientFor } from '../context.ts';
import { examples, options, printChange, type SwitchOptions, withForce } from '../shared.ts';

export const addPromote = (program: Command) =>
  withForce(
    program.command('promote').description('the candidate for everyone, over whatever became stable in the meantime'),
  )
    .addHelpText('after', examples('promote --why "24 h without a failure"'))
    .action(async (_, command: Command) => {
      const { json, why, seq, force, ...rest } = options<SwitchOptions>(command);
      printChange(json, await (await clientFor(rest, true)).promote({ why, seq, force }));
    });
