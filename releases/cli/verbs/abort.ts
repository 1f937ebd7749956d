import type { Command } from 'commander';
import { clientFor } from '../context.ts';
import { examples, options, printChange, type SwitchOptions, withReason } from '../shared.ts';

export const addAbort = (program: Command) =>
  withReason(program.command('abort').description("the candidate's visitors back to stable"))
    .addHelpText('after', examples('abort --why "covers are missing"'))
    .action(async (_, command: Command) => {
      const { json, why, seq, ...rest } = options<SwitchOptions>(command);
      printChange(json, await (await clientFor(rest)).abort({ why, seq }));
    });
