import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { HealthRecorder } from '../src/health/healthRecord.ts';
import { canary } from '../src/operations/switching.ts';
import { openGate, openTestStore, type TestStore } from '../src/testing/openTestStore.ts';

let at: TestStore;
let live = '';
beforeAll(async () => {
  at = await openTestStore();
  const remotes = [];
  for (const name of ['account', 'chat', 'gifts', 'stories', 'tasks', 'wallet']) remotes.push(await at.remote(name));
  live = remotes[1] ?? '';
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
  expect(script).toMatch(/^complete -c liaozhai-release -n '__fish_seen_subcommand_from health' -l watch -d '/m);
});

test('zsh gets what it needs to run the script of bash; another shell is refused', () => {
  expect(release('completion', 'zsh', '--name', 'release')).toMatch(/bashcompinit[\s\S]* release$/m);
  expect(() => release('completion', 'csh')).toThrow();
});
