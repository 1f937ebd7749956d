import type { Command } from 'commander';
import { clientFor } from '../context.ts';
import { localTime, print } from '../output.ts';
import { count, examples, options } from '../shared.ts';

export const addLog = (program: Command) =>
  program
    .command('log')
    .description('who did what and why, newest first')
    .option('--limit <n>', 'how many', count, 20)
    .addHelpText('after', examples('log', 'log --limit 200 --json'))
    .action(async (_, command: Command) => {
      const { json, limit, ...rest } = options<{ limit: number }>(command);
      const entries = await (await clientFor(rest)).log(limit);
      const lines = entries.flatMap(({ seq, at, who, verb, what, why, evidence = [] }) => [
        `${String(seq).padStart(5)}  ${localTime(at)}  ${who}  ${verb} ${what}${why ? `  "${why}"` : ''}`,
        ...evidence.map((line) => `         - ${line}`),
      ]);
      print(json, entries, lines);
    });
