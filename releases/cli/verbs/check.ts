import type { Command } from 'commander';
import { refused } from '../../src/errors.ts';
import { clientFor } from '../context.ts';
import { print } from '../output.ts';
import { examples, options } from '../shared.ts';

export const addCheck = (program: Command) =>
  program
    .command('check [builds...]')
    .description("the gate, against the channel's set with these builds put in; switches nothing")
    .addHelpText('after', examples('check stories@1.4.2+3f9c1a7b20de', 'check --smoke off'))
    .action(async (builds: string[], _, command: Command) => {
      const { json, ...rest } = options(command);
      const results = await (await clientFor(rest, true)).check(builds);
      const problems = results.flatMap(({ check, problems: found }) => found.map((problem) => `${check}: ${problem}`));
      if (problems.length > 0) throw refused('the gate would refuse this set', 'Mend and publish again.', problems);
      print(
        json,
        { passed: true, results },
        results.map(({ check, milliseconds }) => `passed  ${check} (${milliseconds} ms)`),
      );
    });
