// What is said against a change, by kind. The command line prints these sentences; answers and signed documents hold them. The
// console reads kind and values out of them, to say the same in another language.

/** The names of what the gate looks at. */
const CHECKS = [
  'stored files',
  'served headers',
  'sharing',
  'contract',
  'routes',
  'globals',
  'exposes',
  'slots',
  'federation',
  'shared libraries',
  'size budget',
  'host page',
  'headless smoke',
  'promotion',
] as const;
export type Check = (typeof CHECKS)[number];

const DAYS = 'Mon|Tue|Wed|Thu|Fri|Sat|Sun';

/** Placeholders that hold no blank, so that a sentence can be told from others. */
const WORDS: Readonly<Record<string, string>> = {
  build: '[a-z][\\w-]*@\\S+',
  check: CHECKS.join('|'),
  failure: '[\\w-]+',
  file: '\\S+',
  path: '\\S+',
  visitor: 'guest|member',
  count: '\\d+',
  seq: '\\d+',
  status: '\\d+',
  instant: '[\\dTZ:.-]{20,24}',
  end: '[\\dTZ:.-]{20,24}',
  channel: '[a-z][\\w-]*',
  hash: '[0-9a-f]{8,64}',
  slotName: '[\\w.-]+',
  fromDay: DAYS,
  toDay: DAYS,
  fromTime: '\\d\\d:\\d\\d',
  toTime: '\\d\\d:\\d\\d',
  zone: '\\S+',
};

const LAZILY = 'load parts of it lazily';
const AGAIN = 'publish it again as a new version';
const FORBIDS = 'the policy forbids them';

export const SENTENCES = {
  // the gate
  gateRefused: 'the gate refused this set',
  gateCure:
    'Mend and publish again. A manager can switch against these findings at the command line: --force with --why.',
  unfit: 'these builds do not fit each other',
  unfitCure: 'To switch all the same, use --force with --why.',
  finding: '{check}: {problem}',
  ofBuild: '{build}: {problem}',
  unjudged: 'could not be judged: {cause}',
  storedMissing: `{file} is missing: ${AGAIN}`,
  storedChanged: `{file} is not what was published: ${AGAIN}`,
  servedAs: '{file} would be served as {type}, not {expected}: rename it to end in .{kind}',
  servedWithoutCors: '{file} would be served without CORS',
  servedShortly: '{file} would be served without a long life',
  servedStatus: '{file} is served with status {status}',
  servedHeader: '{file} is served with {header}: {value}',
  exposesNothing: 'exposes no "./remote": expose src/remote.ts under that name',
  moduleUnnamed: 'names no script of its exposed module in module.js',
  nothingToOpen: 'has neither a route nor a slot, so nobody could open it',
  globalMissing: 'its {file} does not contain the {field} "{name}" that its description names',
  hashesTooLarge:
    'its {count} scripts and stylesheets put {kib} KiB of hashes into every page, the budget is {limit}: merge small chunks',
  codeTooLarge: 'its code weighs {kib} KiB br in all, the budget is {limit}: leave out libraries, or split the remote',
  entryTooLarge: `the entry {file} has {kib} KiB to parse, the budget is {limit}: ${LAZILY}`,
  partTooLarge: `{part} weighs {kib} KiB br, the budget is {limit}: ${LAZILY}`,
  hostScript: 'the host script',
  pageTemplate: 'the page template',
  entry: 'the entry {file}',
  partNeeds: 'everything "{name}" needs',
  templateMissing: '{file} is missing from the store',
  templateMark: '{file} must hold {mark} exactly once',
  templateDoctype: '{file} must begin with <!doctype html>',
  templateScripts: '{file} must hold the loader and, at most, the appearance as inline scripts, not {count}',
  templateSource: '{file} must not name a script by address: the loader appends the host',
  templateHandlers: `{file} must not hold inline event handlers: ${FORBIDS}`,
  templateStyles: `{file} must not hold style attributes: ${FORBIDS}`,
  coreTooNew:
    "an entry of federation {own} cannot take the host's core of {host}: build it without experiments.externalRuntime, or with another version",
  carriesUnfit:
    'carries {library} {version}, which its own range {range} refuses: set requiredVersion to a range that allows it',
  needsUnshared: 'needs {library} {range}, which the host does not share: bundle it, or release a host that shares it',
  needsOther: 'needs {library} {range}, the host shares {version}: widen the range, or release a host that has it',
  needsContract: 'needs shared/runtime {range}, the host has {version}: release the host first',
  catchesAll: 'route {path} would catch every address: name the paths',
  ofServer: 'route {path} belongs to the server: choose another',
  likeAFile: 'route {path} looks like a file to web servers: leave out the dot',
  manyOptional: 'route {path} has more than {most} optional parts: split it',
  taken: '{place} belongs to {owner} already: choose another',
  route: 'route {path}',
  routeName: 'route name "{name}"',
  slot: 'slot "{name}"',
  slotNamed: 'slot {slotName}',
  forMembers: '{path} (members)',
  theHost: 'the host',
  sameGlobals: 'container and chunks share the global {name}: give each its own',
  sameFiles: 'has the very files of {build}, only its version is another: keep that one, or publish what you changed',
  sharesGlobal:
    "shares a global with {build}: give each build's container and chunks names of their own, made of its version or the hash of its sources",
  onPageAs: 'on {path} as a {visitor} {seen}',
  onPage: 'on {path} {seen}',
  guest: 'guest',
  member: 'member',
  tapped: '{seen} after a tap on "{name}"',
  held: '{seen} after a long press on "{name}"',
  scrolled: '{seen} after a scroll to the end',
  violated: 'the content security policy was violated: {what}',
  failedWith: 'a build failed: the page reported {failure}: {message}',
  failed: 'a build failed: the page reported {failure}',
  threw: 'an error was thrown: {message}',
  pageAnswered: 'the page answered {status}',
  answered: '{path} answered {status}',
  unchecked:
    "{path} went past the host's asset loader, unchecked and loaded twice: name it by the href of a link element",
  neverRan: 'its entry did not run: the page never saw its container',
  blank: 'the page stayed blank',
  changedScriptRan: '{path} ran with changed bytes: let the host load it, by the src of a script element',
  changedStyleHeld: '{path} took effect with changed bytes: let the host load it, by the href of a link element',
  unopened:
    'no page opened {parts}: answer what their pages ask for in {file}, or name them there under "unopened" with the reason',

  // documents and builds of the store
  theChannel: 'channel {channel}',
  theAgenda: 'the agenda of {channel}',
  theWebhooks: 'the list of webhooks of {channel}',
  theRecord: 'build.json of {build}',
  theSet: 'set {hash}',
  theClaim: 'versions/{claim} of {store}',
  notJson: '{what} is damaged: it is not JSON ({cause})',
  documentDamaged: '{what} is damaged',
  documentUnsigned: "{what} is not signed by this store's key",
  documentNewer: '{what} was written by a newer version, and has what this one does not know',
  documentNewerCure:
    'Update this command line, console or server, or do it by a newer one. Nothing was changed: leave the document as it is.',
  documentOfAnother: '{what} holds the document of {other}',
  keptChanging: '{what} kept changing',
  againCure: 'Try again.',
  channelCure: 'Restore the newest good state: see "A damaged channel" in docs/deploying/bad-days.md.',
  agendaCure:
    'Rolling back and stopping go on without it. Restore agendas/ (on a file system .generations/agendas/ as well) from a copy of the store, or remove it and set windows and schedules again.',
  webhooksCure:
    'Restore webhooks/ (on a file system .generations/webhooks/ as well) from a copy of the store, or remove it and add them again.',
  claimCure: 'Restore it from a copy of the store, or remove it and publish the build again.',
  setMissing: 'set {hash} is missing from {store}',
  setChanged: 'set {hash} was changed after it was made',
  otherStateCure: 'Roll back to another state.',
  otherBuild: '{build} is not the build the channel was signed with',
  rollBackCure: 'Roll back.',
  otherHash: 'build.json of {build} does not match its own hash',
  publishNewCure: 'Publish the build again as a new version.',
  publishAgainCure: 'Publish the build again.',
  goneMeanwhile: '{builds} is not in {store} any more',
  goneMeanwhileCure: 'Publish it again, then switch.',
  notPublished: '{build} is not in {store}',
  notPublishedCure: 'List what is there with `builds {name}`, or publish it.',
  noBuildId: '"{text}" is not a build id',
  noBuildIdCure: 'Build ids look like stories@1.4.2 or stories@1.4.2+3f9c1a7b20de. List them with `builds`.',
  misnamed: '{build} is a {buildKind}: the host build, and no other, is named "{name}"',
  misnamedCure: 'Set `kind` and `name` right in its liaozhai.json and publish it again.',
  twoHosts: 'a set has one host build, and {build} is a second one',
  twoHostsCure: 'Name only one of them.',
  noHost: 'a set needs a host build',
  noHostCure: 'Publish the host and name it too: `activate host@… stories@… …`.',
  storeFailed: '{store} failed: {problem}',
  folderCure: 'Check that the folder exists, has room and is yours to write.',
  bucketCure: 'Check the bucket, AWS_ENDPOINT_URL_S3 and the credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY).',
  unwritten: '{store} could not write {file}',
  unwrittenCure: 'Try again, and look at the store.',
  // channels and their states
  notAChannel: '"{text}" is not a channel name',
  notAChannelCure: 'Use lower-case letters, digits and dashes.',
  noChannel: '{store} has no channel "{text}"',
  noChannelCure: 'Make it with {command}.',
  otherChannelsCure: 'It has {names}: name one with --channel. Make a new one with {command}.',
  auditMissing: 'state {seq} of {channel} is missing from the audit',
  auditChanged: 'state {seq} of {channel} is not what its successor recorded',
  auditOther: 'the audit of {channel} holds state {count} in the place of state {seq}',
  auditCure: 'The audit was tampered with or partly lost: restore it from a copy of the store.',
  noState: '{channel} has no state {seq}',
  noCandidateOf: '{channel} has no candidate of {name}',
  noCandidate: '{channel} has no candidate',
  noCandidateCure: 'Start one with `canary <build…> --percent P`.',
  manyCandidates: '{channel} has several candidates: {names}',
  manyCandidatesCure: 'Name the remote whose candidate is meant.',
  noPlace: '"{text}" names no state',
  noPlaceCure:
    'Use a state number from `log`, `stable`, `candidate`, `preview:stable` or a build such as stories@1.4.2.',
  twoNames: '{one} and {other} are builds of two names',
  twoNamesCure: 'Compare builds of one name, or either of them with `stable`.',
  stateTwice: 'state {seq} of {channel} exists twice, with different contents',
  changeLost: '{store} confirmed a change and then lost it',
  lostCure:
    'The store does not keep conditional writes: stop all writers and run `init` on it, which proves or disproves this.',
  putBack: '{channel} stands at state {seq}, and its audit knows state {count}: an old document was put back',
  putBackCure: 'Put the newest state of the audit back: see "A damaged channel" in docs/deploying/bad-days.md.',
  movedOn: '{channel} is at state {seq} by now, changed by {by}',
  changedMeanwhile: '{channel} was changed meanwhile',
  lookAgainCure: 'Look at the new state and decide again.',
  secondNeeded: 'two persons decide what goes forward in {channel}, and this way asks no second one',
  secondNeededCure:
    'Propose it with `activate`, `canary` or `promote`. What another store has goes to a channel of this one first. Rolling back, withdrawing, aborting and killing need nobody.',
  proposedOnly:
    'two persons decide in {channel}: this was proposed, and nothing goes live before a second one approves it',
  proposedOnlyCure:
    'See the console, and update this command line: it knows no proposals. A program that does sends x-releases-api: 2.',
  whyNeeded: '--force needs --why',
  whyNeededCure: 'Say why the findings do not matter. The audit keeps it.',
  killedInState: 'state {seq} runs {builds}, which was killed',
  anotherStateCure: 'Go back to another state with --to, or one remote at a time.',
  stateUnfit: 'state {seq}: its builds do not fit what runs now',
  buildsUnfit: '{builds} does not fit what runs now',
  mistyped: '{build} was not killed: another name was typed',
  mistypedCure: 'Type {name} to kill it.',
  onlyBuild:
    '{build} is the only build of {name}: killing it takes its screens away from everybody, and that build never runs again',
  onlyBuildCure:
    '`withdraw {name}` takes the same away and can be undone. Or activate a mended version first. To kill it all the same: --confirm {name}.',
  notLive: '{name} is not live for everybody',
  notLiveCure: 'See `status`. A candidate is ended with `abort`.',
  hostStays: 'the host cannot be withdrawn: there is no page without it',
  hostStaysCure: 'Use `rollback host`.',
  withdraws: 'withdrawing {name} takes its screens away from everybody',
  withdrawsCure: 'To withdraw it all the same: --confirm {name}.',
  insteadCure: '`rollback {name}` makes {build} live instead. To withdraw it all the same: --confirm {name}.',
  notAShare: '{percent} is not a percentage',
  notAShareCure: 'Use a number from 0 to 100, e.g. --percent 5.',
  itself: '{channel} is the channel itself',
  itselfCure: 'Name another with --from, or the one to change with --channel.',
  runsNone: '{channel} runs no {name}',
  runsNoneCure: 'See `status --channel`.',
  killedThere: '{builds} was killed in {channel}',
  killedThereCure: 'Publish a new version and try that first.',
  missingThere: '{file} of {build} is missing from {store}',
  missingThereCure: 'Publish it there again.',
  neverHad: '{other} never had all of what {channel} runs',
  neverHadCure: 'Bring it there first. To take it back all the same, use --force with --why.',
  beginsWith: 'begins with what {channel} runs',
  inUse: 'channel {channel} is in use already',
  inUseCure: 'Bring it up to date with `promote --from {other} --channel {channel}`.',
  nothing: 'nothing',
  takesBack:
    '{channel} runs {build}, which {other} never had. It would go back to {former}. Bring it there first (`{command}`), or name the remotes to promote',
  serverSilent: 'the server of the set named no address in time',
  serverEnded: 'the server of the set ended before it listened',
  noChromium: 'there is no Chromium for the headless smoke',
  noChromiumCure: 'Install one, or name it with CHROMIUM_PATH.',

  // switching and going back
  frozen: '{channel} is frozen until {instant}: {reason}',
  frozenCure:
    'Wait until then, or let a manager switch with --override "reason". Rolling back, withdrawing, aborting and killing are always allowed.',
  frozenBy: 'its window is {window}, set by {by}',
  liveAlready: 'these builds are live for everyone already',
  liveAlreadyCure: 'See `status`.',
  killed: '{builds} was killed and never runs again',
  killedCure: 'Publish a new version and activate that.',
  damaged: 'files of these builds are missing from the store, or damaged',
  damagedCure: 'Publish the builds again.',
  nothingBefore: 'nothing else was live before that could run again',
  nothingBeforeCure: 'List what was live with `log`, or activate a published build.',
  nothingBeforeFor: 'nothing else was live before for {name} that could run again',
  nothingBeforeForCure:
    'Take a first release out of the set with `withdraw {name}`, or activate another published build.',
  notLiveIn: '{name} was not live in state {seq}',
  notLiveInCure: 'List the states with `log`.',
  onlyHost: '{build} is the only host to go on with',
  onlyHostCure: 'Activate another host first, then kill this one.',
  unfitHostsCure:
    'Former hosts do not fit what runs now: go back as a whole (`rollback`, or `rollback --to N`), or activate another host first.',
  busy: '{count} checks and switches of yours are waiting already',
  busyCure: 'Wait until they are done.',

  // schedules and freeze windows
  scheduled: '{names} has a schedule already: {steps}, set by {by}',
  scheduledCure: 'Cancel it first: `schedule cancel`.',
  runsFor: '{builds} runs for {percent} % of visitors already',
  runsForCure: 'Begin with a larger share, or lower it with `canary --percent` first.',
  nobodyJudges: 'there is no candidate to judge before everyone gets it',
  nobodyJudgesCure: 'Begin with a smaller share, e.g. 5@now,100@1h, or use `activate`.',
  manySteps: 'a schedule has 1 to 20 steps',
  stepsStay: 'the steps {steps} do not rise',
  stepOutside: 'a step has a share above 0 up to 100, within 30 days',
  stepsCure: 'Each step comes later than the one before, with a larger share: 5@now,25@1h,100@4h.',
  noWindow: '{window} is no window',
  noWindowCure: 'Use two different times and a zone such as Asia/Shanghai.',
  endsBefore: 'the window ends at {instant}, before it begins',
  endsBeforeCure: 'Give a later --to.',
  endedAlready: 'the window ended at {instant} already',
  endedAlreadyCure: 'Give a --to that is still to come.',
  windowWithoutReason: 'a freeze window needs a reason',
  windowWithoutReasonCure: 'Say it with --why: it is shown to everybody who is refused.',
  manyWindows: 'there are {count} windows already',
  manyWindowsCure: 'Remove some with `freeze remove`.',
  weekly: '{fromDay} {fromTime}-{toDay} {toTime} {zone}',
  onceOnly: '{instant} to {end}',
  noZone: '"{text}" is not a time zone',
  noZoneCure: 'Use a name such as Asia/Shanghai or Europe/Berlin.',
  noStep: '"{text}" is not a step',
  noStepCure: 'Use e.g. 5@now,25@1h,100@4h.',
  noFreeze: 'there is no freeze window {id}',
  noFreezeCure: 'List them with `freeze list`.',
  manySchedules: '{channel} has several schedules',
  manySchedulesCure: 'Name the remote whose schedule is meant.',
  noScheduleOf: '{channel} has no schedule of {name}',
  noSchedule: '{channel} has no schedule',
  noScheduleCure: 'Make one with `canary --schedule`.',
  candidateChanged: 'the candidate was changed meanwhile',
  candidateChangedCure: 'Look at `status` and decide again.',
  makerLeft: 'only a manager may take over a schedule whose maker has left',
  makerLeftCure: 'Ask one, or cancel it.',
  madeByOne: 'the schedule was made by one person, and two decide by now',
  scheduleStands: 'the log says that this schedule is {change}',
  proposeRestCure: 'Cancel it, and propose the steps that are left.',
  firstStepLater: 'what waits for a second person takes its first step when the window is over',
  firstStepLaterCure: 'Leave --override out, or propose the first share with `canary --percent --override`.',

  // webhooks
  notWeb: '"{text}" is not a web address',
  notWebCure: 'Use e.g. https://chat.example/hooks/releases.',
  withPassword: 'the address holds a password',
  withPasswordCure: 'Leave it out: what is sent is signed, which proves more.',
  overHttps: 'a webhook is called over https',
  overHttpsCure: 'Use https://, http:// is for this machine alone.',
  privateAddress: '{host} is an address of this machine or of a private network',
  privateCure: 'Use an address on the internet, or set RELEASES_WEBHOOKS_PRIVATE=true where the console runs.',
  leadsInside: '{host} leads to a private network',
  manyWebhooks: 'there are {count} webhooks already',
  manyWebhooksCure: 'Remove some with `webhook remove`.',
  noWebhook: 'there is no webhook {id}',
  noWebhookCure: 'List them with `webhook list`.',
  notReached: '{address} was not reached: {problem}',
  notReachedCure: 'Check the address, and that it answers 2xx within 10 s.',
  receiverAnswered: 'answered {status}',
  timedOut: 'gave no whole answer in time',
  // of Node
  hungUp: 'socket hang up',
  connectionRefused: 'connect ECONNREFUSED {host}',
  unknownHost: 'getaddrinfo ENOTFOUND {host}',

  // proposals
  sameWaits: 'the same was proposed by {by}, and waits as {id}',
  sameWaitsCure: 'Another person lets it through with `approve {id}`.',
  manyWait: '{count} proposals wait already',
  manyWaitCure: 'Have some of them approved or rejected first.',
  expired: 'proposal {id} expired at {instant}',
  expiredCure: 'Let {by} propose it again.',
  overtaken: '{channel} was changed since proposal {id} was made, last by {by}',
  overtakenCure: 'Let {by} propose it again, upon what runs now.',
  otherwise: 'proposal {id} would do something else by now than was proposed',
  nothingToDo: 'proposal {id} has nothing to change',
  nothingToDoCure: 'Reject it: `reject {id}`.',
  takenOff: 'proposal {id} was taken off the list meanwhile',
  takenOffCure: 'See `log` for what became of it.',
  decidedAlready: 'proposal {id} was {change} by {by} already, in state {seq}',
  decidedAlreadyCure: 'See `log` for what was done.',
  noProposal: 'there is no proposal {id}',
  noProposalCure: 'List those that wait with `proposals`. `log` says what became of others.',
  ownProposal: 'proposal {id} is your own ({by}): a second person approves it',
  ownProposalCure: 'Ask another manager. Two tokens of one person are one person.',
  othersProposal: 'proposal {id} is of {by}',
  othersProposalCure: 'Its proposer withdraws it. A manager can `reject` it.',
  waitsTooLong: 'a proposal waits up to {most} hours',
  waitsTooLongCure: 'Use e.g. --expires 24h.',
  namesNobody: 'two persons decide here, and this token names none',
  namesNobodyCure: 'Have one made that does: `pnpm release token create <grant> --person "Li Hua"`.',

  // previews
  noBrowser: 'the request names no browser',
  noBrowserCure: 'Take it whole, as the page shows it that asks for leave.',
  forNobody: 'a preview is opened for somebody',
  forNobodyCure: 'Say for whom, in 1 to {most} characters: --person "Li Hua".',
  tooLong: 'a preview lasts up to {most} hours',
  tooLongCure: 'Use e.g. --for 4h.',
  linkTooLong: 'an override lasts up to {most} hours',
  linkTooLongCure: 'Use e.g. --for 2h.',
  noPreview: 'no preview is open for {id}',
  noPreviewCure: 'List them with `preview list`.',

  namesNoRemote: '"{text}" names no remote',
  remoteCure: 'Use e.g. stories@http://localhost:3101.',
  noDevServer: '"{text}" is not the address of a dev server',
  noDevServerCure: 'Scheme, host and port only. Use e.g. stories@http://localhost:3101.',
  neitherHere: '{origin} is neither this machine nor https',
  neitherHereCure: 'Serve it over https, or locally.',
  manyRemotes: '1 to {most} remotes at a time',
  namedTwice: '{name} is named twice',
  namedTwiceCure: 'Name one dev server for each remote.',

  // who may
  forceIsManagers: 'only a manager may switch against the gate',
  frozenIsManagers: 'only a manager may switch while the channel is frozen',
  roleLacks: 'the role {role} does not include `{verb}`',
  tokenIsFor: 'this token is for {names} only',
  groupsAreFor: 'your groups are for {names} only',
  candidateShared: 'the candidate with {names} holds builds of others too: ask a manager, or wait until it has ended',
  askManagerCure: 'Ask a manager.',
  askOtherCure: 'Ask a manager who is not the proposer.',
  askRejectCure: 'Ask a manager. Your own proposal goes with `retract`.',
  otherOrigin: 'this API answers no other origin',
  manyRequests: 'too many requests',
  manyTokens: 'too many wrong tokens',
  waitCure: 'Wait a minute.',
  wrongLimit: 'limit must be a whole number',
  noEndpoint: 'there is no such endpoint',
  noEndpointCure: 'See "HTTP API" in releases/README.md.',
  tooLarge: 'this body has more than {kib} KiB',
  tooLargeCure: 'Name fewer builds at once, or say why in fewer words.',
  wrongBody: 'the body of {verb} is wrong: {problem}',
} as const;

export type SentenceKind = keyof typeof SENTENCES;
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type NamesOf<Kind extends SentenceKind> = Names<(typeof SENTENCES)[Kind]>;
type Values<Kind extends SentenceKind> = [NamesOf<Kind>] extends [never]
  ? []
  : [Record<NamesOf<Kind>, string | number>];

export const fill = (template: string, values: Readonly<Record<string, string | number>>): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]));

export const say = <Kind extends SentenceKind>(kind: Kind, ...[values]: Values<Kind>): string =>
  fill(SENTENCES[kind], values ?? {});

function patternOf(template: string) {
  const names: string[] = [];
  const source = template.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{(\w+)\}/g, (_, name: string) => {
    names.push(name);
    return `(${WORDS[name] ?? '.+?'})`;
  });
  return { names, pattern: new RegExp(`^${source}$`, 's') };
}

/** Reads kind and values out of a sentence; null for one of no kind. */
export function sentenceReader() {
  const all = Object.entries(SENTENCES).map(([kind, template]) => ({
    kind: kind as SentenceKind,
    ...patternOf(template),
  }));
  return (text: string): { kind: SentenceKind; values: Record<string, string> } | null => {
    for (const { kind, names, pattern } of all) {
      const match = pattern.exec(text);
      if (match) return { kind, values: Object.fromEntries(names.map((name, at) => [name, match[at + 1] ?? ''])) };
    }
    return null;
  };
}
