import { type Command, Option } from 'commander';
import type { ChangeOptions } from '../src/channel/writer.ts';
import { clientFor, examples, localTime, parseCount, print, printList, spanOption } from './context.ts';
import { printChange } from './switching.ts';

export const addOverride = (program: Command) =>
  program
    .command('override <builds...>')
    .description('a recorded, expiring link that runs these builds in one browser')
    .addOption(spanOption('--for <span>', '30m, 2h, 3d; a week at most', '2h'))
    .option('--why <text>', 'kept with the record')
    .addHelpText('after', examples('override stories@1.4.2+3f9c1a7b20de --for 2h'))
    .action(async (builds: string[], { for: hours, why }: { for: number; why?: string }, command: Command) => {
      const result = await (await clientFor(command)).override({ builds, hours, why });
      print(command, result, [
        result.address ??
          `Open any page of the app with ${result.query} (with the site's address in RELEASES_SITE the whole link stands here)`,
        `Ends ${localTime(result.expires)}; ?override=off ends it before.`,
      ]);
    });

/** Accepted for older scripts: a preview permission does not depend on a state. */
const unusedSeq = () => new Option('--seq <n>').argParser(parseCount).hideHelp();

const addPreviewOpen = (preview: Command) =>
  preview
    .command('open <request...>')
    .description('lets one browser run remotes from a dev server; the request is what its page shows')
    .option('--why <text>', 'kept in the audit')
    .addOption(unusedSeq())
    .requiredOption('--person <name>', 'whose browser it is; kept in the log')
    .addOption(spanOption('--for <span>', '30m, 4h, 3d; a week at most', '4h'))
    .action(async (words: string[], own: ChangeOptions & { person: string; for: number }, command: Command) => {
      const { person, why, for: hours } = own;
      printChange(command, await (await clientFor(command)).preview({ request: words.join(' '), person, hours, why }));
    });

const addPreviewEnd = (preview: Command) =>
  preview
    .command('end <browser>')
    .description('takes the leave back; open pages notice within seconds')
    .option('--why <text>', 'kept in the audit')
    .addOption(unusedSeq())
    .action(async (browser: string, { why }: ChangeOptions, command: Command) =>
      printChange(command, await (await clientFor(command))['preview-end']({ browser, why })),
    );

export function addPreview(program: Command) {
  const preview = program
    .command('preview')
    .description('remotes from dev servers inside the deployed host, for one person and a time')
    .addHelpText(
      'after',
      examples(
        `preview open 'stories@http://localhost:3101 <browser>' --person "Li Hua" --for 4h`,
        'preview list',
        'preview end <browser>',
      ),
    );
  addPreviewOpen(preview);
  preview
    .command('list')
    .description('what is open now, for whom and until when')
    .action(async (_, command: Command) => {
      const previews = await (await clientFor(command)).previews();
      const cellsOf = ({ browser, person, remotes, expires, who }: (typeof previews)[number]) => [
        browser,
        person,
        remotes.join(' '),
        `until ${localTime(expires)}, by ${who}`,
      ];
      printList(command, previews, cellsOf, 'No preview is open.');
    });
  addPreviewEnd(preview);
}
