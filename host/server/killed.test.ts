import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishLocal } from '@liaozhai/releases';
import { repoRoot } from '@liaozhai/shared/build/facts';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { processesWith } from './processTable.mjs';
import { testPackages } from './testing/testPackages.ts';

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-killed-'));
const store = join(folder, 'store');
const runs: Run[] = [];
let port = 0;

beforeAll(async () => {
  await publishLocal({ dists: testPackages(folder), store: `file:${store}` });
  const probe = createServer().listen(0);
  await once(probe, 'listening');
  port = Number(Object(probe.address()).port);
  probe.close();
});

afterAll(async () => {
  // a failed test may leave some
  for (const { pid } of runs.flatMap(({ tree }) => tree())) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

interface Run {
  child: ChildProcess;
  /** Resolves with all output once it contains the words, or once its streams are closed. */
  hears(words: string): Promise<string>;
  /** Its running processes, the first launched first. */
  tree(): { pid: number; command: string }[];
}

const withoutNpm = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)));

/** Starts a server as its operator does, always with the same port and data. */
function launch(command: string, ...words: string[]): Run {
  const mark = `LIAOZHAI_RUN=${process.pid}-${runs.length}`;
  const [, value] = mark.split('=');
  const settings = { PORT: String(port), DATA_DIR: join(folder, 'data'), RELEASES_STORE: `file:${store}` };
  // the guard ends what a killed test would leave behind
  const guard = join(import.meta.dirname, 'guard.mjs');
  const env = { ...withoutNpm, ...settings, LIAOZHAI_RUN: value, GUARDED: command };
  const child = spawn(process.execPath, [guard, ...words], { cwd: repoRoot, env });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes) => {
      said += bytes;
      child.emit('said');
    });
  const hears = async (wanted: string) => {
    const closed = once(child, 'close').then(() => true);
    while (!said.includes(wanted)) if (await Promise.race([once(child, 'said').then(() => false), closed])) break;
    return said;
  };
  const run = { child, hears, tree: () => processesWith(mark).sort((one, other) => one.pid - other.pid) };
  runs.push(run);
  return run;
}

const npmStart = () => launch('npm', 'start', '--', '--serve');

/** Kills one level of a run and immediately starts the same again. Resolves with the output of the second. */
async function killedThenStarted(level: RegExp): Promise<string> {
  const first = npmStart();
  expect(await first.hears('is ready at')).toContain('is ready at');
  const [victim] = first.tree().filter(({ command }) => level.test(command));
  process.kill(victim?.pid ?? Number.NaN, 'SIGKILL');
  const second = npmStart();
  const said = await second.hears('is ready at');
  expect((await fetch(`http://127.0.0.1:${port}/api/v1/stories`)).status).toBe(200);
  await expect.poll(first.tree).toEqual([]);
  const ended = once(second.child, 'close');
  second.child.kill('SIGTERM');
  await ended;
  expect(second.tree()).toEqual([]);
  return said;
}

describe('start.killed: a start immediately after kill -9', () => {
  test.each([
    ['npm', /^(npm start|\S*node \S*npm)/],
    ['the shell of npm', /^\S*sh -c/],
    ['start.mjs', /^\S*node \S*start\.mjs/],
    ['the server', /server\/main\.ts/],
  ])('is ready if %s was killed, and no process of the first start remains', async (_, level) => {
    expect(await killedThenStarted(level)).toContain('is ready at');
  });
});

test('a server in the background outlives the shell that started it', async () => {
  const script = `"${process.execPath}" host/server/start.mjs --serve & echo in the background`;
  const run = launch('sh', '-c', script);
  await once(run.child, 'exit');
  await run.hears('is ready at');
  expect((await fetch(`http://127.0.0.1:${port}/explore`)).status).toBe(200);
  const start = run.tree().find(({ command }) => command.includes('start.mjs'));
  process.kill(start?.pid ?? Number.NaN, 'SIGTERM');
  await expect.poll(run.tree).toEqual([]);
});
