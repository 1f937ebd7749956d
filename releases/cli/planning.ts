import type { Command } from 'commander';
import type { ChangeOptions } from '../src/channel/writer.ts';
import { formatHours, waitingLine } from '../src/english.ts';
import { usage } from '../src/errors.ts';
import { type FreezeWindow, instantIn, weeklyWindow, windowText } from '../src/model/agenda.ts';
import { stepsText } from '../src/model/steps.ts';
import type { AgendaView, ScheduleView } from '../src/policies/agendaView.ts';
import type { ProposalView } from '../src/policies/approval.ts';
import type { ListedWebhook } from '../src/policies/webhooks.ts';
import { unsupportedByConsole } from '../src/releaseClient.ts';
import { addVerb, clientFor, examples, localTime, print, printList, spanOption, table } from './context.ts';
import { printChange, proposalLines, withReason } from './switching.ts';

const nextLine = ({ next, paused, waiting }: ScheduleView): string => {
  const share = next.percent < 100 ? `${next.percent} %` : 'everyone';
  if (paused?.refusal) return `${share} was refused, ${localTime(paused.at)}: ${paused.refusal}`;
  if (paused) return `${share} next; paused by ${paused.by}, ${localTime(paused.at)}`;
  return `${share} at ${localTime(next.due)}${waiting ? `, ${waitingLine(waiting)}` : ''}`;
};

const scheduleLines = (schedule: ScheduleView): string[] => {
  const { builds, steps, taken, by, why } = schedule;
  return [
    `  ${builds.join(' ')}: ${stepsText(steps)}, ${taken} of ${steps.length} taken (${by}${why ? `, "${why}"` : ''})`,
    `    ${nextLine(schedule)}`,
  ];
};

function undeliveredLines({ id, shown, attempts, problem, undelivered }: ListedWebhook): string[] {
  const last = undelivered.at(-1);
  return [
    ...(attempts > 0 ? [`Webhook ${id} (${shown}) failed ${attempts} times and is tried again: ${problem}`] : []),
    ...(last
      ? [`Webhook ${id} (${shown}) never got ${undelivered.length} events, ${last.id} the last: ${last.problem}`]
      : []),
  ];
}

export function agendaLines(agenda: AgendaView | undefined): string[] {
  if (!agenda) return [];
  const { schedules, frozen, watched, webhooks, problem, approval, proposals = [] } = agenda;
  return [
    ...(approval ? [`Two persons decide what goes forward; a proposal waits ${formatHours(approval.hours)}.`] : []),
    ...proposals.flatMap(pendingLines),
    ...(problem ? [`PROBLEM: ${problem}`] : []),
    ...webhooks.flatMap(undeliveredLines),
    ...(frozen ? [`Frozen until ${localTime(frozen.until)}: ${frozen.reason}`] : []),
    ...(schedules.length > 0 ? ['Scheduled:', ...schedules.flatMap(scheduleLines)] : []),
    ...(schedules.length + webhooks.length > 0 && !watched
      ? ['No console runs, which would take the steps and tell the webhooks: start one.']
      : []),
  ];
}

function pendingLines(proposal: ProposalView): string[] {
  const { id, by, at, expires, own, outdated } = proposal;
  const advice = outdated
    ? 'the channel has moved on: propose it again'
    : own
      ? 'yours, for another manager to approve'
      : `let it through with \`approve ${id}\``;
  return [
    `Proposal ${id} of ${by}, ${localTime(at)}, waits until ${localTime(expires)}: ${advice}`,
    ...proposalLines(proposal).map((line) => `    ${line}`),
  ];
}

const DECISIONS = [
  ['approve', 'carry out what another person proposed: judged by the gate again, upon the very state it was made for'],
  ['reject', 'take a proposal of another person off the list'],
  ['retract', 'take your own proposal back'],
] as const;

export function addApproval(program: Command): void {
  const approval = addVerb(
    program,
    'approval',
    'whether two persons decide what goes forward in a channel; ways back never wait',
  ).addHelpText('after', examples('approval on --why "four eyes"', 'approval on --expires 8h', 'approval off'));
  withReason(addVerb(approval, 'on', 'what goes forward waits as a proposal; changing that needs two, too'))
    .addOption(spanOption('--expires <span>', 'how long a proposal waits: 30m, 8h, 3d; a week at most', '24h'))
    .action(async ({ expires: hours, ...own }: ChangeOptions & { expires: number }, command: Command) =>
      printChange(command, await (await clientFor(command)).approval({ hours, ...own })),
    );
  withReason(addVerb(approval, 'off', 'one person decides; this waits for a second one')).action(
    async (own: ChangeOptions, command: Command) =>
      printChange(command, await (await clientFor(command)).approval({ hours: null, ...own })),
  );
  addVerb(program, 'proposals', 'what waits for a second person')
    .addHelpText('after', examples('proposals', 'proposals --channel preview --json'))
    .action(async (_, command: Command) => {
      const { agenda } = await (await clientFor(command)).status();
      // a store's status has the list, even if it is empty
      if (!agenda || !('proposals' in agenda)) throw unsupportedByConsole('proposals');
      const { proposals } = agenda;
      print(command, proposals, proposals.length > 0 ? proposals.flatMap(pendingLines) : ['Nothing waits.']);
    });
  for (const [verb, description] of DECISIONS)
    addVerb(program, `${verb} <id>`, description)
      .option('--why <text>', 'kept in the audit')
      .addHelpText('after', examples(`${verb} 3f9c1a7b --why "looked at it with Li"`))
      .action(async (id: string, own: ChangeOptions, command: Command) =>
        printChange(command, await (await clientFor(command, verb === 'approve'))[verb]({ id, ...own })),
      );
}

const STEERING = [
  ['pause', 'take no further step until it is continued; the share stays'],
  ['continue', 'go on with the time that was left; also after a step was refused'],
  ['cancel', 'drop the steps to come; the candidate keeps its share'],
] as const;

export function addSchedule(program: Command): void {
  const schedule = addVerb(
    program,
    'schedule',
    'the steps to come of candidates, made with `canary --schedule`',
  ).addHelpText('after', examples('schedule list', 'schedule pause stories --why "support is off"', 'schedule cancel'));
  addVerb(schedule, 'list', 'what comes next, when, and why it waits').action(async (_, command: Command) => {
    const { agenda } = await (await clientFor(command)).status();
    const lines = agendaLines(agenda);
    print(command, agenda?.schedules ?? [], lines.length > 0 ? lines : ['Nothing is scheduled.']);
  });
  for (const [verb, description] of STEERING)
    withReason(addVerb(schedule, `${verb} [name]`, description)).action(
      async (name: string | undefined, own: ChangeOptions, command: Command) =>
        printChange(command, await (await clientFor(command))[verb]({ name, ...own })),
    );
}

interface FreezeFlags extends ChangeOptions {
  from?: string;
  to?: string;
  weekly?: string;
  zone: string;
}

/** Parses the window's options. Throws usage unless they describe exactly one kind. */
function windowOf({ from, to, weekly, zone }: Omit<FreezeFlags, 'why' | 'seq'>): FreezeWindow {
  if (weekly && !from && !to) return weeklyWindow(weekly, zone);
  if (weekly || !to)
    throw usage('a window is --weekly, or --from and --to', 'Use e.g. --weekly "Fri 18:00-Mon 08:00".');
  const start = from ? instantIn(from, zone) : new Date();
  return { kind: 'once', from: start.toISOString(), to: instantIn(to, zone).toISOString() };
}

/** `2026-12-24 18:00 UTC+8 to …`, or a weekly span with its zone. */
const windowLine = (window: FreezeWindow): string =>
  window.kind === 'once' ? `${localTime(window.from)} to ${localTime(window.to)}` : windowText(window);

export function addFreeze(program: Command): void {
  const freeze = addVerb(
    program,
    'freeze',
    'windows in which nothing is switched forward; ways back are always open',
  ).addHelpText(
    'after',
    examples(
      'freeze add --weekly "Fri 18:00-Mon 08:00" --zone Asia/Shanghai --why "nobody on call"',
      'freeze add --from "2026-12-24 18:00" --to "2027-01-02 08:00" --zone Europe/Berlin --why holidays',
      'freeze list',
      'freeze remove 3f9c1a7b',
      'activate stories@1.4.3 --despite-freeze "login is broken for everybody"',
    ),
  );
  withReason(addVerb(freeze, 'add', 'add a window; refusals show its reason'))
    .option('--weekly <span>', 'every week: "Fri 18:00-Mon 08:00"')
    .option('--from <time>', 'once: "2026-12-24 18:00"; now if left out')
    .option('--to <time>', 'once: its end')
    .option('--zone <name>', 'whose clocks are meant', Intl.DateTimeFormat().resolvedOptions().timeZone)
    .action(async ({ why = '', seq, ...flags }: FreezeFlags, command: Command) => {
      const window = windowOf(flags);
      const { id } = await (await clientFor(command)).freeze({ window, why, seq });
      print(command, { id, window, reason: why }, [`${id}  ${windowLine(window)}  ${why}`]);
    });
  addVerb(freeze, 'list', 'all windows').action(async (_, command: Command) => {
    const { freezes = [] } = (await (await clientFor(command)).status()).agenda ?? {};
    const cellsOf = ({ id, window, reason, by, open }: (typeof freezes)[number]) => [
      id,
      windowLine(window),
      open ? 'OPEN' : '',
      reason,
      by,
    ];
    printList(command, freezes, cellsOf, 'No windows: `freeze add`.');
  });
  withReason(addVerb(freeze, 'remove <id>', 'take a window away')).action(
    async (id: string, own: ChangeOptions, command: Command) =>
      printChange(command, await (await clientFor(command)).unfreeze({ id, ...own })),
  );
}

export function addWebhook(program: Command): void {
  const webhook = addVerb(
    program,
    'webhook',
    'receivers of switches, ramp steps, stops, rollbacks and waiting schedules; signed, with retries',
  ).addHelpText(
    'after',
    examples('webhook add https://chat.example/hooks/releases', 'webhook test 3f9c1a7b20de', 'webhook list'),
  );
  addVerb(webhook, 'add <url>', 'an https address; the secret of its signatures is shown once').action(
    async (url: string, _, command: Command) => {
      const { webhook: addedWebhook, secret } = await (await clientFor(command)).webhook({ url });
      print(command, { id: addedWebhook.id, address: addedWebhook.shown, secret }, [
        secret,
        `Shown only now, for the receiver that checks the signatures. Try it: webhook test ${addedWebhook.id}`,
      ]);
    },
  );
  addVerb(webhook, 'list', 'all of them, with what did not arrive; never secrets').action(
    async (_, command: Command) => {
      const { webhooks = [] } = (await (await clientFor(command)).status()).agenda ?? {};
      const rows = webhooks.map(({ id, shown, at, by }) => [id, shown, `${localTime(at)} by ${by}`]);
      const lines = [...table(rows), ...webhooks.flatMap(undeliveredLines)];
      print(command, webhooks, rows.length > 0 ? lines : ['No webhooks: `webhook add`.']);
    },
  );
  withReason(addVerb(webhook, 'remove <id>', 'nothing is sent there any more')).action(
    async (id: string, own: ChangeOptions, command: Command) =>
      printChange(command, await (await clientFor(command))['webhook-remove']({ id, ...own })),
  );
  addVerb(webhook, 'test <id>', 'send a test now; says what is wrong').action(
    async (id: string, _, command: Command) => {
      const event = await (await clientFor(command))['webhook-test']({ id });
      print(command, event, [`Delivered ${event.id}.`]);
    },
  );
}
