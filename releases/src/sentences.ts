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

  // previews
  noBrowser: 'the request names no browser',
  noBrowserCure: 'Take it whole, as the page shows it that asks for leave.',
  forNobody: 'a preview is opened for somebody',
  forNobodyCure: 'Say for whom, in 1 to {most} characters: --person "Li Hua".',
  tooLong: 'a preview lasts up to {most} hours',
  tooLongCure: 'Use e.g. --for 4h.',

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
      const found = pattern.exec(text);
      if (found) return { kind, values: Object.fromEntries(names.map((name, at) => [name, found[at + 1] ?? ''])) };
    }
    return null;
  };
}
