import { execFileSync, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@rstest/core';
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

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const command = ['--import', 'tsx', main];
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
  expect(lines[2]).toMatch(/^chat 1\.0\.0: 1 of 1 visitors, all Safari 17, on \/chat, uncaught, since /);
  expect(lines.join('\n')).toMatch(/\d lines more: `status --all`/);
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

test.each([
  [['sta'], ['status']],
  [['token', 're'], ['revoke']],
  [['--json', 'health', '--wa'], ['--watch']],
  [['token', 'create', '--la'], ['--label']],
])('bash completes %j', (words, expected) => {
  const script = `${release('completion', 'bash')}
    COMP_WORDS=(liaozhai-release ${words.join(' ')}); COMP_CWORD=${words.length}
    _liaozhai_release; echo "\${COMPREPLY[@]}"`;
  expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ')).toEqual(expected);
});

test.each([
  [['rollback', 'st'], ['stories']],
  [['withdraw', 'g'], ['gifts']],
  [['activate', 'stories@1.1'], [expect.stringMatching(/^stories@1\.1\.0\+[0-9a-f]{12}$/)]],
])('bash completes %j with what the store holds', (words, expected) => {
  const script = `${release('completion', 'bash')}
    liaozhai-release() { '${process.execPath}' ${command.map((word) => `'${word}'`).join(' ')} "$@"; }
    COMP_WORDS=(liaozhai-release ${words.join(' ')}); COMP_CWORD=${words.length}
    _liaozhai_release; echo "\${COMPREPLY[@]}"`;
  const env = { ...process.env, RELEASES_STORE: at.url };
  expect(execFileSync('bash', ['-c', script], { encoding: 'utf8', env }).trim().split(' ')).toEqual(expected);
});

test('zsh and fish get the same verbs; another shell is refused', () => {
  expect(release('completion', 'zsh', '--name', 'release')).toMatch(/bashcompinit[\s\S]* release$/m);
  expect(release('completion', 'fish')).toMatch(
    /^complete -c liaozhai-release -n '__fish_seen_subcommand_from health' -l watch -d '/m,
  );
  expect(() => release('completion', 'csh')).toThrow();
});
