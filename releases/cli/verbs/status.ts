import type { Command } from 'commander';
import type { ChannelDocument } from '../../src/model/channel.ts';
import { clientFor } from '../context.ts';
import { localTime, print } from '../output.ts';
import { examples, options } from '../shared.ts';

function lines({ channel, seq, stable, candidate, lastGood, killed, expires, action }: ChannelDocument): string[] {
  const everyone = stable
    ? [`Live for everyone since ${localTime(stable.since)}, by ${stable.by}:`, ...stable.builds.map((id) => `  ${id}`)]
    : ['Nothing is live yet.'];
  const some = candidate
    ? [
        `For ${candidate.percent} % of visitors since ${localTime(candidate.since)}, by ${candidate.by}:`,
        ...candidate.builds.map((id) => `  ${id}`),
      ]
    : [];
  const good = Object.values(lastGood);
  return [
    `${channel}, state ${seq}: ${action.verb} ${action.what} (${action.who}, ${localTime(action.at)}${action.why ? `, "${action.why}"` : ''})`,
    ...everyone,
    ...some,
    ...(good.length > 0 ? ['Last good builds, tried when one of these fails:', ...good.map((id) => `  ${id}`)] : []),
    ...(killed.length > 0 ? ['Killed:', ...killed.map((id) => `  ${id}`)] : []),
    `Signed until ${localTime(expires)}`,
  ];
}

export const addStatus = (program: Command) =>
  program
    .command('status')
    .description('what is live for whom')
    .addHelpText('after', examples('status', 'status --channel preview --json'))
    .action(async (_, command: Command) => {
      const { json, ...rest } = options(command);
      const document = await (await clientFor(rest)).status();
      print(json, document, lines(document));
    });
