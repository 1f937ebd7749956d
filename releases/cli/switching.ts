import type { Command } from 'commander';
import { Catalog } from '../src/builds/catalog.ts';
import type { Change } from '../src/channel/changeChannel.ts';
import { actionLine, evidenceLines, findingLine } from '../src/english.ts';
import { hasCode, refused, usage } from '../src/errors.ts';
import { makeGate } from '../src/gate/gate.ts';
import { AUTO_STOP } from '../src/health/autoStop.ts';
import { HOST_NAME, nameOf } from '../src/model/build.ts';
import { candidatesOf } from '../src/model/channel.ts';
import { isPublicKey } from '../src/model/signing.ts';
import type { KillEffect } from '../src/operations/goingBack.ts';
import { promoteFrom, type Source } from '../src/operations/promoteFrom.ts';
import type { SwitchRequest } from '../src/operations/switching.ts';
import type { ProposalView, RequestOutcome } from '../src/policies/approval.ts';
import { openStore, requirePublicKey } from '../src/store/store.ts';
import { addVerb, clientFor, examples, localStore, localTime, note, parseCount, print, smokeFor } from './context.ts';

export const withReason = (command: Command): Command =>
  command
    .option('--why <text>', 'kept in the audit')
    .option('--seq <n>', 'the state you saw; refuses if someone was faster', parseCount);

const withForce = (command: Command): Command =>
  withReason(command)
    .option('--force', 'switch against the gate (needs --why)')
    .option('--despite-freeze <reason>', 'switch although the channel is frozen; the reason is kept in the audit');

/** Exit code if the change needs the approval of a second person. */
const WAITS_EXIT_CODE = 4;

export function printChange(command: Command, { document, changed, proposal }: RequestOutcome): void {
  if (proposal) {
    process.exitCode = WAITS_EXIT_CODE;
    print(command, { changed, channel: document.channel, seq: document.seq, proposal }, [
      `Waiting for a second person: ${document.channel} stays as it is, and this is proposal ${proposal.id}.`,
      ...proposalLines(proposal).map((line) => `  ${line}`),
      `Another manager than ${proposal.by} lets it through until ${localTime(proposal.expires)}, in the console or with:`,
      `  pnpm release approve ${proposal.id} --channel ${document.channel}`,
    ]);
    return;
  }
  const { seq, channel, action, stable, candidate, moreCandidates, killed } = document;
  const lines = changed
    ? [`${channel} is at state ${seq}: ${actionLine(action)}`, ...evidenceLines(action).map((line) => `  - ${line}`)]
    : [`${channel} stays at state ${seq}: nothing to change`];
  print(command, { changed, channel, seq, action, stable, candidate, moreCandidates, killed }, lines);
}

const FORCED_TEXTS = { force: 'AGAINST THE GATE', despiteFreeze: 'ALTHOUGH FROZEN' } as const;

export function proposalLines({ request, changes, builds, before, after }: ProposalView): string[] {
  const { why } = request;
  return [
    requestLine(request, builds),
    ...changes.map(({ name, from, to }) => `  ${name}: ${from ?? '–'} → ${to ?? '–'}`),
    ...('force' in request && request.force ? [FORCED_TEXTS.force] : []),
    ...('despiteFreeze' in request && request.despiteFreeze
      ? [`${FORCED_TEXTS.despiteFreeze}: ${request.despiteFreeze}`]
      : []),
    ...(why ? [`"${why}"`] : []),
    `state ${before.slice(0, 12)} → ${after.slice(0, 12)}`,
  ];
}

function requestLine(request: ProposalView['request'], builds: readonly string[]): string {
  switch (request.verb) {
    case 'canary':
      return `canary ${builds.join(' ')} for ${request.percent} %`;
    case 'schedule':
      return `schedule ${builds.join(' ')}: ${request.steps}`;
    case 'promote':
      return `promote ${builds.join(' ')}${request.from ? ` from ${request.from}` : ''}`;
    case 'approval':
      return request.hours === null ? 'let one person decide' : `let proposals wait ${request.hours} h`;
    default:
      return `activate ${builds.join(' ')}`;
  }
}

export const addPublish = (program: Command) =>
  addVerb(program, 'publish <dir>', 'check, hash and store a built package; prints the build id')
    .option('--version <v>', 'another version than the one in package.json')
    .addHelpText('after', examples('publish remotes/stories/dist', 'publish remotes/stories/dist --version 1.4.2'))
    .action(async (folder: string, { version }: { version?: string }, command: Command) => {
      const result = await (await clientFor(command)).publish(folder, version);
      print(command, result, [result.id, ...(result.created ? [] : ['(was there already, byte for byte)'])]);
    });

export const addCheck = (program: Command) =>
  addVerb(
    program,
    'check [builds...]',
    "the gate, against the channel's set with these builds put in; switches nothing",
  )
    .addHelpText('after', examples('check stories@1.4.2+3f9c1a7b20de', 'check --smoke off'))
    .action(async (builds: string[], _, command: Command) => {
      const results = await (await clientFor(command, true)).check({ builds });
      const problems = results.flatMap(({ check, problems: messages }) =>
        messages.map((problem) => findingLine({ check, problem })),
      );
      if (problems.length > 0) throw refused('the gate would refuse this set', 'Mend and publish again.', problems);
      print(
        command,
        { passed: true, results },
        results.flatMap(({ check, milliseconds, notes = [] }) => [
          `passed  ${check} (${milliseconds} ms)`,
          ...notes.map((line) => `        ${line}`),
        ]),
      );
    });

export const addActivate = (program: Command) =>
  withForce(addVerb(program, 'activate <builds...>', 'gate, then one atomic switch of all named builds'))
    .addHelpText(
      'after',
      examples('activate stories@1.4.2+3f9c1a7b20de --why "new feed"', 'activate host@… stories@… chat@…'),
    )
    .action(async (builds: string[], own: SwitchRequest, command: Command) =>
      printChange(command, await (await clientFor(command, true)).activate({ builds, ...own })),
    );

function percentage(text: string): number {
  const value = Number(text);
  if (text.trim() && value >= 0 && value <= 100) return value;
  throw usage(`"${text}" is not a percentage`, 'Use a number from 0 to 100, e.g. --percent 5.');
}

interface CanaryOptions extends SwitchRequest {
  percent?: number;
  schedule?: string;
  enough?: number;
  name?: string;
}

export const addCanary = (program: Command) =>
  withForce(
    addVerb(
      program,
      'canary [builds...]',
      'run builds for a share of visitors, next to candidates of other remotes; without builds: change the share',
    ),
  )
    .option('--percent <p>', 'share of visitors, 0 to 100', percentage)
    .option('--schedule <steps>', 'shares over time, each only if the candidate is healthy by then: 5@now,25@1h,100@4h')
    .option(
      '--enough <n>',
      `with --schedule: visitors that each step asks for, of the candidate and of stable; ${AUTO_STOP.minimumVisitors} if left out`,
      parseCount,
    )
    .option('--name <name>', 'whose candidate is meant, without builds and where several run')
    .addHelpText(
      'after',
      examples(
        'canary stories@1.4.2+3f9c1a7b20de --percent 5',
        'canary --percent 25',
        'canary stories@1.4.2 --schedule 5@now,25@1h,100@4h',
        'canary --name stories --schedule 50@2h,100@1d',
      ),
    )
    .action(async (builds: string[], own: CanaryOptions, command: Command) => {
      const { percent, schedule, enough, force, ...others } = own;
      if ((percent === undefined) === (schedule === undefined))
        throw usage(
          'a canary takes --percent or --schedule',
          'Use e.g. --percent 5, or --schedule 5@now,25@1h,100@4h.',
        );
      if (schedule && force) throw usage('a schedule never goes on against the gate', 'Leave --force out.');
      const client = await clientFor(command, true);
      const request = { builds, ...others };
      if (schedule !== undefined) printChange(command, await client.schedule({ ...request, steps: schedule, enough }));
      else {
        printChange(command, await client.canary({ ...request, percent: percent ?? 0, force }));
        if (percent === 0) note('Nobody gets it until its share is raised: `pnpm release canary --percent 5`.');
      }
    });

export const addPromote = (program: Command) =>
  withForce(
    addVerb(
      program,
      'promote [name]',
      'a candidate for everyone, on top of the present stable builds; by name where several run',
    ),
  )
    .option('--from <channel>', 'what another channel runs instead of a candidate: its very set, or one remote by name')
    .option('--from-store <url>', 'the store of that channel, if it is another one: file:<dir> or s3://bucket/prefix')
    .option('--from-key <key>', "the other store's public key; without it its own record is believed")
    .addHelpText(
      'after',
      examples(
        'promote --why "24 h without a failure"',
        'promote stories',
        'promote --from preview',
        'promote chat --from preview',
      ),
    )
    .action(async (name: string | undefined, own: SwitchRequest & FromOptions, command: Command) => {
      const { from, fromStore, fromKey, ...request } = own;
      if (!fromStore) {
        if (fromKey) throw usage('--from-key is the key of another store', 'Name the store with --from-store.');
        printChange(command, await (await clientFor(command, true)).promote({ name, from, ...request }));
        return;
      }
      if (!from) throw usage('--from-store needs --from', 'Name the channel of that store, e.g. --from production.');
      const writer = await localStore(command);
      const gate = makeGate(writer, { smoke: await smokeFor(command) });
      const source = await openSource(from, fromStore, fromKey);
      const change = await promoteFrom(writer, { from: source, name, gate, ...request });
      printChange(command, change);
      if (change.changed && !source.signingKey)
        note(`The log of ${source.store.label} does not tell of it: its signing key is not here (RELEASES_FROM_KEYS).`);
    });

export interface FromOptions {
  from?: string;
  fromStore?: string;
  fromKey?: string;
}

export async function openSource(channel: string, url: string, key?: string): Promise<Source> {
  if (key !== undefined && !isPublicKey(key))
    throw usage('--from-key is no public key', 'Use the one that `init` printed; `store.json` of that store has it.');
  const keys = process.env.RELEASES_FROM_KEYS;
  const { RELEASES_KEYS: _, ...otherVariables } = process.env;
  const openedStore = await openStore(url, { ...otherVariables, ...(keys ? { RELEASES_KEYS: keys } : {}) });
  const { store } = openedStore;
  const publicKey = key ?? (await requirePublicKey(store));
  const signingKey = await openedStore.signingKey();
  const ownKey = signingKey?.publicKey === publicKey ? signingKey : null;
  return { store, catalog: new Catalog(store), channel, key: { publicKey }, signingKey: ownKey };
}

export const addAbort = (program: Command) =>
  withReason(addVerb(program, 'abort [name]', "a candidate's visitors back to stable; without a name those of all"))
    .addHelpText('after', examples('abort --why "covers are missing"'))
    .action(async (name: string | undefined, own: SwitchRequest, command: Command) =>
      printChange(command, await (await clientFor(command)).abort({ name, ...own })),
    );

const withForceBack = (command: Command): Command =>
  withReason(command).option('--force', 'go back although the builds do not fit what runs now (needs --why)');

export const addRollback = (program: Command) =>
  withForceBack(addVerb(program, 'rollback [name]', 'one remote, or the whole channel, to what was live before'))
    .option('--to <seq>', 'a state from `log`', parseCount)
    .addHelpText('after', examples('rollback stories', 'rollback', 'rollback --to 41 --why "checkout broken"'))
    .action(async (name: string | undefined, own: SwitchRequest & { to?: number }, command: Command) => {
      const client = await clientFor(command);
      // the state that the caller saw: of two concurrent rollbacks the second gets a conflict
      const seq = own.seq ?? (await client.status()).seq;
      printChange(command, await client.rollback({ name, ...own, seq }));
    });

interface ConfirmOptions extends SwitchRequest {
  confirm?: string;
  yes?: boolean;
}

const withConfirm = (command: Command): Command =>
  command
    .option('--confirm <name>', 'the name again, in place of the question')
    .option('--yes', 'for scripts: what would be asked is meant');

/** The name as typed at a terminal. Throws refused for Ctrl-C and Ctrl-D. */
async function askFor(name: string, verb: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`Type ${name} to ${verb} it all the same: `)).trim();
  } catch (cause) {
    if (!hasCode(cause, 'ABORT_ERR')) throw cause;
    // ends the line of the question
    note('');
    throw refused('nothing was changed, because the question was not answered');
  } finally {
    terminal.close();
  }
}

/**
 * Prints the effect before a question, else after the change, because a refused change has no effect. `alternatives` are null where
 * nothing needs a confirmation.
 */
async function confirmAndChange(
  command: Command,
  name: string,
  effect: readonly string[],
  alternatives: readonly string[] | null,
  change: (confirm: string | undefined) => Promise<Change>,
): Promise<void> {
  const { yes, confirm } = command.opts<ConfirmOptions>();
  const isTerminal = process.stdin.isTTY && process.stderr.isTTY;
  const isAsking = alternatives !== null && !yes && confirm === undefined && isTerminal;
  if (isAsking) for (const line of [...effect, ...alternatives]) note(line);
  const outcome = await change(isAsking ? await askFor(name, command.name()) : yes ? name : confirm);
  if (!isAsking && outcome.changed) for (const line of effect) note(line);
  printChange(command, outcome);
}

export const addWithdraw = (program: Command) =>
  withConfirm(withReason(addVerb(program, 'withdraw <name>', 'a remote leaves the set, its screens with it')))
    .addHelpText('after', examples('withdraw gifts --why "too early"', 'withdraw gifts --yes'))
    .action(async (name: string, { why, seq }: ConfirmOptions, command: Command) => {
      const client = await clientFor(command);
      const status = await client.status();
      const liveBuild = status.stable?.builds.find((id) => nameOf(id) === name);
      const needsConfirmation = liveBuild !== undefined && name !== HOST_NAME;
      const { shown, instead } = needsConfirmation
        ? await client.killEffect(liveBuild, 'withdraw')
        : { shown: [], instead: null };
      const endingCandidates = candidatesOf(status).filter(({ builds }) => builds.some((id) => nameOf(id) === name));
      const effect = [
        `Everybody loses ${shown.join(', ')}.`,
        ...endingCandidates.map(
          ({ builds, percent }) => `The candidate ${builds.join(' ')} (${percent} %) ends with it.`,
        ),
      ];
      const alternatives = instead ? [`To bring ${instead} back instead: \`pnpm release rollback ${name}\`.`] : [];
      await confirmAndChange(command, name, effect, needsConfirmation ? alternatives : null, (confirm) =>
        client.withdraw({ name, why, seq: seq ?? status.seq, confirm }),
      );
    });

const effectLines = ({ build, instead, endsCandidate, lost }: KillEffect): string[] => [
  `A kill is for good: ${build} will never run again.`,
  ...(instead ? [`Everybody gets ${instead} in its place.`] : []),
  ...(lost.length > 0 ? [`Nothing takes its place: everybody loses ${lost.join(', ')}.`] : []),
  ...(endsCandidate ? ['The candidate it belongs to ends.'] : []),
];

function alternativeLines({ name, live, instead, unfit, whole }: KillEffect): string[] {
  const gentler = instead ? `rollback ${name}` : `withdraw ${name}`;
  return [
    ...unfit.map((line) => `A former build cannot take its place, since it does not fit: ${line}`),
    ...(whole === null ? [] : [`To go back as a whole instead: \`pnpm release rollback --to ${whole}\`.`]),
    ...(live && name !== HOST_NAME
      ? [`To stop it without the ban: \`pnpm release ${gentler}\`, which can be undone.`]
      : []),
  ];
}

export const addKill = (program: Command) =>
  withConfirm(
    withForceBack(addVerb(program, 'kill <build>', 'never run this build again, open pages included; for good')),
  )
    .addHelpText('after', examples('kill stories@1.4.2+3f9c1a7b20de --why "leaks drafts"'))
    .action(async (build: string, { why, seq, force }: ConfirmOptions, command: Command) => {
      const client = await clientFor(command);
      const { seq: shownSeq, killed } = await client.status();
      const effect = await client.killEffect(build, 'kill');
      const alternatives = killed.includes(effect.build) ? null : alternativeLines(effect);
      await confirmAndChange(command, effect.name, effectLines(effect), alternatives, (confirm) =>
        client.kill({ build, why, seq: seq ?? shownSeq, confirm, force }),
      );
    });
