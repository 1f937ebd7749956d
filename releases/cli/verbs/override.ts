import type { Command } from 'commander';
import { usage } from '../../src/errors.ts';
import { clientFor } from '../context.ts';
import { localTime, print } from '../output.ts';
import { examples, options } from '../shared.ts';

/** Hours of `30m`, `2h` or `3d`. Throws usage. */
function hours(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const factor = { m: 1 / 60, h: 1, d: 24 }[unit];
  if (amount && factor) return Number(amount) * factor;
  throw usage(`"${text}" is not a span of time`, 'Use e.g. 30m, 2h or 3d.');
}

export const addOverride = (program: Command) =>
  program
    .command('override <builds...>')
    .description('a recorded, expiring link that runs these builds in one browser')
    .option('--for <span>', '30m, 2h, 3d; a week at most', hours, 2)
    .option('--why <text>', 'kept with the record')
    .addHelpText('after', examples('override stories@1.4.2+3f9c1a7b20de --for 2h'))
    .action(async (builds: string[], _, command: Command) => {
      const { json, for: span, why, ...rest } = options<{ for: number; why?: string }>(command);
      const result = await (await clientFor(rest)).override({ builds, hours: span, why });
      print(json, result, [
        `Open any page of the app with ${result.query}`,
        `Ends ${localTime(result.expires)}; ?override=off ends it before.`,
      ]);
    });
