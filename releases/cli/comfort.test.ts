import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import type { Command } from 'commander';
import { HealthRecorder } from '../src/health/healthRecord.ts';
import { canary } from '../src/operations/switching.ts';
import { openGate, openTestStore, type TestStore } from '../src/testing/openTestStore.ts';
import { runCommand } from '../src/testing/runCommand.ts';
import { recordVisits } from '../src/testing/visits.ts';
import { makeProgram } from './run.ts';

let at: TestStore;
let live = '';
beforeAll(async () => {
  at = await openTestStore();
  const remotes = [];
  for (const name of ['account', 'chat', 'gifts', 'stories', 'tasks', 'wallet']) remotes.push(await at.remote(name));
  live = remotes[1] ?? '';
  await at.remote('gifts', '0.9.0');
  await at.activate(await at.host(), ...remotes);
  for (const name of ['account', 'chat', 'gifts', 'stories', 'tasks', 'wallet'])
    await canary(at.writer, [await at.remote(name, '1.1.0')], 5, { gate: openGate });
});
afterAll(() => at.remove());

const command = ['host/server/run.mjs', 'releases/cli/main.ts'];
const release = (...words: string[]) =>
  execFileSync(process.execPath, [...command, ...words], {
    encoding: 'utf8',
    env: { ...process.env, RELEASES_STORE: at.url },
  });

async function fail(visitor: string) {
  const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
  const error = {
    build: live,
    kind: 'uncaught',
    name: 'TypeError',
    message: null,
    frames: [],
    route: '/chat',
  } as const;
  recorder.recordError({ ...error, frames: [] }, { visitor, browser: 'Safari 17' });
  await recorder.flush();
}

test('says its version', () => {
  expect(release('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
});

const commandsIn = (command: Command): Command[] => [command, ...command.commands.flatMap(commandsIn)];
const defaults = commandsIn(makeProgram()).flatMap((command) =>
  command.options
    .filter(({ defaultValue }) => defaultValue !== undefined)
    .map((option) => ({
      command: command.name(),
      option,
      printed: option.defaultValueDescription ?? option.defaultValue,
    })),
);

test.each(defaults)(
  '$command: the default $printed that its help prints is the one that counts',
  ({ option, printed }) => {
    expect(String(printed)).not.toBe('');
    expect(option.parseArg?.(String(printed), undefined) ?? printed).toEqual(option.defaultValue);
  },
);

const run = (words: readonly string[], variables: Record<string, string | undefined> = {}) =>
  runCommand(words, { RELEASES_STORE: at.url, RELEASES_SMOKE: 'off', RELEASES_TOKEN: undefined, ...variables });

test.each([
  [['canary', '--name', 'stories', '--schedule', ''], '--schedule'],
  [['canary', '--name', ' ', '--percent', '9'], '--name'],
  [['abort', 'stories', '--why', ''], '--why'],
  [['abort', 'stories', '--channel', ''], '--channel'],
  [['status', '--store', ''], '--store'],
  [['export', 'site', '--img', 'https://a.example', '--img', ''], '--img'],
  [['token', 'create', 'viewer', '--label', ''], '--label'],
  [['publish', 'dist', '--version', ''], '--version'],
  [['builds', ''], 'the argument name'],
  [['activate', 'stories@1.1.0', ''], 'the argument builds'],
])('%j has an empty value, and is refused before anything changes', async (words, name) => {
  const before = await at.current();
  const { code, err } = await run(words);
  expect([code, err]).toEqual([2, expect.stringMatching(new RegExp(`^usage: ${name} is empty\n.*variable`))]);
  expect(await at.current()).toEqual(before);
});

test.each([
  ['RELEASES_SMOKE', 'Required', 'auto, required, off'],
  ['RELEASES_SMOKE', '', 'auto, required, off'],
  ['RELEASES_CHANNEL', '', 'RELEASES_CHANNEL is empty'],
  ['RELEASES_WHO', '', 'RELEASES_WHO is empty'],
  ['RELEASES_STORE', ' ', 'RELEASES_STORE is empty'],
  ['RELEASES_TOKEN', '', 'RELEASES_TOKEN is empty'],
])('%s=%j is refused, not taken as another value', async (name, value, message) => {
  const { code, err } = await run(['status'], { [name]: value });
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test('a browser that CHROMIUM_PATH misspells is refused, not left out of the gate', async () => {
  const { code, err } = await run(['check', '--smoke', 'auto'], { CHROMIUM_PATH: '/nothing' });
  expect([code, err]).toEqual([2, 'usage: CHROMIUM_PATH=/nothing does not exist\nCorrect it, or unset it.\n']);
});

test.each([
  [['rollback', 'walet']],
  [['rollback', 'walet', '--to', '2']],
  [['abort', 'walet']],
  [['canary', '--name', 'walet', '--percent', '9']],
  [['promote', 'walet']],
  [['withdraw', 'walet', '--yes']],
  [['schedule', 'pause', 'walet']],
  [['builds', 'walet']],
])('%j names the remotes that there are', async (words) => {
  const before = await at.current();
  const { code, err } = await run(words);
  expect([code, err]).toEqual([
    1,
    'refused: there is no remote "walet"\nName one of these: account, chat, gifts, host, stories, tasks, wallet.\n',
  ]);
  expect(await at.current()).toEqual(before);
});

test.each([
  [['builds', 'chat@1.1.0']],
  [['rollback', 'chat@1.1.0']],
  [['abort', 'chat@1.1.0']],
  [['promote', 'chat@1.1.0']],
  [['withdraw', 'chat@1.1.0', '--yes']],
  [['canary', '--name', 'chat@1.1.0', '--percent', '9']],
  [['schedule', 'pause', 'chat@1.1.0']],
])('%j names the remotes that there are, in place of a build', async (words) => {
  const { code, err } = await run(words);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/no remote "chat@1\.1\.0"\nName one of these: account, chat, /),
  ]);
});

test('status has ten lines at most, however much goes on; --all has the rest', async () => {
  await fail('a');
  release('freeze', 'add', '--to', new Date(Date.now() + 86_400_000).toISOString(), '--why', 'spring fair');
  const lines = release('status').trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(lines[2]).toMatch(/^chat 1\.0\.0: 1 of 1 visitors, all Safari 17, on \/chat, uncaught, since [\d:-]+/);
  expect(lines.join('\n')).toMatch(/\d lines more: `status --all`/);
  expect(lines.at(-1)).toBe('Last day: chat 1.0.0 1 of 1 visitors failed');
  expect(release('status', '--all')).toContain(live);
});

test.each([
  [
    [60, 20],
    /^FAILING candidate stories@1\.1\.0\S*: 20 of 60 visitors failed, of stable 6 of 600 \(.*ends it now\. `abort stories`/m,
  ],
  [
    [20, 6],
    /^FAILING candidate stories@1\.1\.0\S*: 6 of 20 .* too little for the automatic stop yet\. `abort stories`/m,
  ],
] as const)('a candidate whose %j visitors and failures are beyond chance is said to fail', async (tried, line) => {
  const own = await openTestStore();
  await own.activate(await own.host(), await own.remote('stories'));
  await canary(own.writer, [await own.remote('stories', '1.1.0')], 5, { gate: openGate });
  await recordVisits(own, { tried: [...tried], control: [600, 6] });
  for (const words of [['status'], ['status', '--all'], ['health']])
    expect((await run(words, { RELEASES_STORE: own.url })).out).toMatch(line);
  await own.remove();
});

test('watched health is printed again when it changes, until it is interrupted', async () => {
  const watching = spawn(process.execPath, [...command, '--store', at.url, 'health', '--watch']);
  watching.stdout.setEncoding('utf8');
  let seen = '';
  const said = (words: string) =>
    new Promise<void>((resolve) => {
      const look = () => seen.includes(words) && resolve();
      watching.stdout.on('data', look);
      look();
    });
  watching.stdout.on('data', (text: string) => {
    seen += text;
  });
  const ended = new Promise((resolve) => watching.on('exit', resolve));
  await said('1 of 1 visitors');
  await fail('b');
  await said('2 of 2 visitors');
  watching.kill('SIGINT');
  await ended;
  expect(seen.match(/on \/chat, uncaught/g)).toHaveLength(2);
});

test('what waiting cannot mend ends a watch, with its cure', () => {
  const words = ['--store', at.url, '--channel', 'nope', 'status', '--watch'];
  const { status, stderr } = spawnSync(process.execPath, [...command, ...words], { encoding: 'utf8', timeout: 20_000 });
  expect([status, stderr]).toEqual([1, expect.stringContaining('name one with --channel')]);
});

const posix = {
  args: [] as string[],
  define: (program: string) => `liaozhai-release() { ${program} "$@"; }`,
  ask: (words: readonly string[]) =>
    `COMP_WORDS=(liaozhai-release ${words.join(' ')}); COMP_CWORD=${words.length}
    _liaozhai_release; printf '%s\\n' "\${COMPREPLY[@]}"`,
};
const SHELLS: Record<string, typeof posix> = {
  bash: posix,
  // bashcompinit calls the function and leaves the filtering to zsh
  zsh: {
    ...posix,
    args: ['-f'],
    ask: (words) => `emulate sh\n${posix.ask(words)} | grep -e '^${words.at(-1)}' || true`,
  },
  fish: {
    args: ['--no-config'],
    define: (program) => `function liaozhai-release; ${program} $argv; end`,
    ask: (words) => `complete -C 'liaozhai-release ${words.join(' ')}'`,
  },
};
const isHere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0;

describe.each(Object.keys(SHELLS).filter((shell) => shell === 'bash' || isHere(shell)))('%s completes', (shell) => {
  const { args, define, ask } = SHELLS[shell] ?? posix;
  let completion = '';
  beforeAll(() => {
    completion = release('completion', shell);
  });

  test.each([
    [['sta'], ['status']],
    [['token', 're'], ['revoke']],
    [['--json', 'health', '--wa'], ['--watch']],
    [['token', 'create', '--la'], ['--label']],
    [['completion', 'z'], ['zsh']],
    [['rollback', 'st'], ['stories']],
    [['withdraw', 'g'], ['gifts']],
    [['--channel', 'production', 'withdraw', 'g'], ['gifts']],
    [['freeze', 'nothing-begins-so'], []],
    [['--channel', 'stat'], []],
    [['rollback', '--why', 'stor'], []],
    [['--smoke', 're'], ['required']],
    [['activate', 'stories@1.1'], [expect.stringMatching(/^stories@1\.1\.0\+[0-9a-f]{12}$/)]],
  ])('%j', (words, expected) => {
    const program = [process.execPath, ...command].map((word) => `'${word}'`).join(' ');
    const script = [completion, define(program), ask(words)].join('\n');
    const env = { ...process.env, RELEASES_STORE: at.url };
    const offered = execFileSync(shell, [...args, '-c', script], { encoding: 'utf8', env });
    expect(offered.split('\n').flatMap((line) => line.split('\t')[0] || [])).toEqual(expected);
  });
});

test.each(['bash', 'zsh'].filter(isHere))(
  '%s completes the command that the help defines for this repository',
  (shell) => {
    const [, line = ''] = /In this repository: (.*)$/m.exec(release('completion', '--help')) ?? [];
    const program = [process.execPath, ...command].map((word) => `'${word}'`).join(' ');
    const { args } = SHELLS[shell] ?? posix;
    const script = `${line.replace('pnpm --silent release', program).replace('completion bash', `completion ${shell}`)}
    COMP_WORDS=(release rollback st); COMP_CWORD=2; ${shell === 'zsh' ? 'emulate sh;' : ''} _liaozhai_release
    printf '%s\\n' "\${COMPREPLY[@]}"; type release`;
    const offered = execFileSync(shell, [...args, '-c', script], {
      encoding: 'utf8',
      env: { ...process.env, RELEASES_STORE: at.url },
    });
    expect(offered).toMatch(/^stories$[\s\S]*^release is a .*function/m);
  },
);

test('fish offers files where a folder is expected, and nowhere else', () => {
  const script = release('completion', 'fish');
  expect(script).toMatch(/^complete -c liaozhai-release -f$/m);
  expect(script.match(/ -F -n '__fish_seen_subcommand_from \w+'$/gm)).toHaveLength(2);
  expect(release('words', '--about', '--', 'health')).toMatch(/^--watch\tprint it again/m);
});

test('zsh gets what it needs to run the script of bash; another shell is refused', () => {
  expect(release('completion', 'zsh', '--name', 'release')).toMatch(/bashcompinit[\s\S]* release$/m);
  expect(() => release('completion', 'csh')).toThrow();
});

/** Runs a command at a terminal at which these keys are typed. */
async function runAtTerminal(keys: string, ...words: string[]) {
  const input = new PassThrough();
  input.write(keys);
  const { stdin } = Object.getOwnPropertyDescriptors(process);
  const isErrorTTY = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY') ?? { value: undefined };
  Object.defineProperty(process, 'stdin', { value: Object.assign(input, { isTTY: true }), configurable: true });
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true, writable: true });
  try {
    return await run(words);
  } finally {
    Object.defineProperty(process, 'stdin', stdin);
    Object.defineProperty(process.stderr, 'isTTY', { ...isErrorTTY, configurable: true });
  }
}

test.each([
  ['Ctrl-C', '\u0003', ['kill', 'gifts@1.0.0'], 'everybody loses /gifts.'],
  ['Ctrl-D', '\u0004', ['kill', 'gifts@1.0.0'], 'everybody loses /gifts.'],
  ['Ctrl-C', '\u0003', ['kill', 'gifts@1.1.0'], 'The candidate it belongs to ends.'],
  ['Ctrl-C', '\u0003', ['kill', 'gifts@0.9.0'], 'will never run again.'],
  ['Ctrl-C', '\u0003', ['withdraw', 'gifts'], 'Everybody loses /gifts.'],
])('%s at the question (%j) ends %j with one line', async (_, key, words, said) => {
  const before = await at.current();
  const { code, err } = await runAtTerminal(key, ...words);
  const [effect, answer = ''] = err.split('it all the same: ');
  expect(effect).toContain(said);
  expect([code, answer]).toEqual([
    1,
    expect.stringMatching(/^\S*\nrefused: nothing was changed, because the question was not answered\n$/),
  ]);
  expect(await at.current()).toEqual(before);
});

test('what a change takes away is printed once it is done, and not with a refusal', async () => {
  const EFFECT = /Everybody loses|A kill is for good/;
  for (const words of [
    ['withdraw', 'gifts', '--yes', '--seq', '1'],
    ['kill', 'gifts@1.0.0', '--yes', '--seq', '1'],
    ['kill', 'gifts@1.0.0', '--confirm', 'gitfs'],
    ['kill', 'gifts@1.1.0', '--confirm', 'gitfs'],
  ]) {
    const { code, err } = await run(words);
    expect([words, code, EFFECT.test(err)]).toEqual([words, 1, false]);
  }
  expect((await run(['kill', 'gifts@1.1.0'])).err).toContain('A kill is for good: gifts@1.1.0');
  expect((await run(['kill', 'gifts@1.1.0'])).err).toBe('');
  expect((await run(['withdraw', 'gifts', '--yes'])).err).toContain('Everybody loses /gifts.');
  const asked = await runAtTerminal('chat\r', 'kill', 'chat@1.0.0');
  expect([asked.code, asked.err]).toEqual([0, expect.stringMatching(/^A kill is for good[\s\S]*Type chat to kill it/)]);
  expect(asked.err.match(/A kill is for good/g)).toHaveLength(1);
});
