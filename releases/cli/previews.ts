import { type Command, Option } from 'commander';
import type { ChangeOptions } from '../src/channel/writer.ts';
import { clientFor, examples, localTime, options, parseCount, print, spanOption, table } from './context.ts';
import { printChange } from './switching.ts';

export const addOverride = (program: Command) =>
  program
    .command('override <builds...>')
    .description('a recorded, expiring link that runs these builds in one browser')
    .addOption(spanOption('--for <span>', '30m, 2h, 3d; a week at most', '2h'))
    .option('--why <text>', 'kept with the record')
    .addHelpText('after', examples('override stories@1.4.2+3f9c1a7b20de --for 2h'))
    .action(async (builds: string[], _, command: Command) => {
      const { json, for: span, why, ...rest } = options<{ for: number; why?: string }>(command);
      const result = await (await clientFor(rest)).override({ builds, hours: span, why });
      print(json, result, [
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
    .action(async (words: string[], _, command: Command) => {
      const { json, for: span, ...rest } = options<ChangeOptions & { person: string; for: number }>(command);
      const { person, why } = rest;
      const request = { request: words.join(' '), person, hours: span, why };
      printChange(json, await (await clientFor(rest)).preview(request));
    });

const addPreviewEnd = (preview: Command) =>
  preview
    .command('end <browser>')
    .description('takes the leave back; open pages notice within seconds')
    .option('--why <text>', 'kept in the audit')
    .addOption(unusedSeq())
    .action(async (browser: string, _, command: Command) => {
      const { json, why, ...rest } = options<ChangeOptions>(command);
      printChange(json, await (await clientFor(rest))['preview-end']({ browser, why }));
    });

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
      const { json, ...rest } = options(command);
      const previews = await (await clientFor(rest)).previews();
      const rows = previews.map(({ browser, person, remotes, expires, who }) => [
        browser,
        person,
        remotes.join(' '),
        `until ${localTime(expires)}, by ${who}`,
      ]);
      print(json, previews, rows.length > 0 ? table(rows) : ['No preview is open.']);
    });
  addPreviewEnd(preview);
}
