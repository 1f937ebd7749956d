import type { Command } from 'commander';
import { clientFor } from '../context.ts';
import { count, examples, options, printChange, type SwitchOptions, withReason } from '../shared.ts';

export const addRollback = (program: Command) =>
  withReason(
    program.command('rollback [name]').description('one remote, or the whole channel, to what was live before'),
  )
    .option('--to <seq>', 'a state from `log`', count)
    .addHelpText('after', examples('rollback stories', 'rollback', 'rollback --to 41 --why "checkout broken"'))
    .action(async (name: string | undefined, _, command: Command) => {
      const { json, to, why, seq, ...rest } = options<SwitchOptions & { to?: number }>(command);
      printChange(json, await (await clientFor(rest)).rollback({ name, to, why, seq }));
    });
