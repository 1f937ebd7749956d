import type { Command } from 'commander';
import { collectGarbage } from '../../src/operations/collectGarbage.ts';
import { localStore } from '../context.ts';
import { print } from '../output.ts';
import { examples, options } from '../shared.ts';

export const addGc = (program: Command) =>
  program
    .command('gc')
    .description('remove builds that nothing reaches any more, none younger than 7 days')
    .option('--dry-run', 'only say which')
    .addHelpText('after', examples('gc --dry-run', 'gc'))
    .action(async (_, command: Command) => {
      const { json, dryRun = false, ...rest } = options<{ dryRun?: boolean }>(command);
      const { writer } = await localStore(rest);
      const ended = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ended.abort());
      const { signal } = ended;
      const { removed, kept } = await collectGarbage(writer.store, writer.key.publicKey, { dryRun, signal });
      const did = dryRun ? 'would be removed' : 'removed';
      print(json, { dryRun, removed, kept }, [...removed, `${removed.length} ${did}, ${kept} kept.`]);
    });
