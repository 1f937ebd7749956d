import type { Command } from 'commander';
import { usage } from '../../src/errors.ts';
import { clientFor } from '../context.ts';
import { examples, options, printChange, type SwitchOptions, withForce } from '../shared.ts';

function percentage(text: string): number {
  const value = Number(text);
  if (text.trim() && value >= 0 && value <= 100) return value;
  throw usage(`"${text}" is not a percentage`, 'Use a number from 0 to 100, e.g. --percent 5.');
}

export const addCanary = (program: Command) =>
  withForce(
    program
      .command('canary [builds...]')
      .description('run builds for a share of visitors; without builds: change the share'),
  )
    .requiredOption('--percent <p>', 'share of visitors, 0 to 100', percentage)
    .addHelpText('after', examples('canary stories@1.4.2+3f9c1a7b20de --percent 5', 'canary --percent 25'))
    .action(async (builds: string[], _, command: Command) => {
      const { json, percent, why, seq, force, ...rest } = options<SwitchOptions & { percent: number }>(command);
      printChange(json, await (await clientFor(rest, true)).canary({ builds, percent, why, seq, force }));
    });
