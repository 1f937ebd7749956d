import type { Command } from 'commander';
import { clientFor } from '../context.ts';
import { examples, options, printChange, type SwitchOptions, withReason } from '../shared.ts';

export const addKill = (program: Command) =>
  withReason(program.command('kill <build>').description('never run this build again, open pages included'))
    .addHelpText('after', examples('kill stories@1.4.2+3f9c1a7b20de --why "leaks drafts"'))
    .action(async (build: string, _, command: Command) => {
      const { json, why, seq, ...rest } = options<SwitchOptions>(command);
      printChange(json, await (await clientFor(rest)).kill({ build, why, seq }));
    });
