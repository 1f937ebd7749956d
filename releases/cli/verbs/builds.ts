import type { Command } from 'commander';
import { clientFor } from '../context.ts';
import { bytes, localTime, print, table } from '../output.ts';
import { examples, options } from '../shared.ts';

export const addBuilds = (program: Command) =>
  program
    .command('builds [name]')
    .description('what has been published, newest first')
    .addHelpText('after', examples('builds', 'builds stories'))
    .action(async (name: string | undefined, _, command: Command) => {
      const { json, ...rest } = options(command);
      const builds = await (await clientFor(rest)).builds(name);
      const rows = builds.map(({ id, bytes: size, provenance: { at, publisher, commit }, problem }) => [
        id,
        bytes(size),
        localTime(at),
        publisher,
        problem ?? commit ?? '',
      ]);
      print(json, builds, builds.length > 0 ? table(rows) : ['Nothing published yet: `pnpm release publish <dir>`.']);
    });
