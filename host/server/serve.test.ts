import { type ChildProcessByStdio, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { publishLocal } from '@liaozhai/releases';
import { afterAll, expect, test } from '@rstest/core';
import { childrenOf } from './processTable.mjs';
import { testPackages } from './testing/testPackages.ts';

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-serve-'));
const store = join(folder, 'store');
type Child = ChildProcessByStdio<null, Readable, Readable>;

const children: Child[] = [];

afterAll(async () => {
  for (const child of children) if (child.kill('SIGTERM')) await once(child, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

const elsewhere = { BACKEND_URL: 'http://127.0.0.1:9' };

/** Runs a production server as an operator does. */
function run(releases: string, settings: Record<string, string>) {
  const kept = { PORT: '0', DATA_DIR: join(folder, 'data'), RELEASES_STORE: `file:${releases}` };
  const { PATH, LIAOZHAI_TEST_RUN } = process.env;
  const env = { PATH, LIAOZHAI_TEST_RUN, ...kept, ...settings };
  const streams: StdioOptions = ['ignore', 'pipe', 'pipe', 'ipc'];
  const child = spawn(process.execPath, ['host/server/run.mjs', 'host/server/main.ts', '--serve'], {
    env,
    stdio: streams,
  }) as Child;
  children.push(child);
  let said = '';
  /** Resolves with all output once it contains the words, or once server and backend have closed it. */
  const hears = (words: string) =>
    new Promise<string>((resolve) => {
      const hear = (bytes: Buffer) => {
        said += bytes.toString();
        if (said.includes(words)) resolve(said);
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.once('close', () => resolve(said));
    });
  return { child, hears };
}

const start = (releases: string, settings: Record<string, string> = elsewhere) =>
  run(releases, settings).hears('is ready at');

/** The public copy of the channel's document; every change re-signs it. */
const channel = () => readFileSync(join(store, 'channels/production.json'), 'utf8');

test('a production server needs no key and does not change the live set', async () => {
  await publishLocal({ dists: testPackages(folder), store: `file:${store}` });
  rmSync(join(store, 'keys'), { recursive: true });
  const live = channel();
  const said = await start(store);
  expect(said).toMatch(/^聊斋 is ready at http/);
  const page = await fetch(`${/http:\S+/.exec(said)?.[0]}/explore`);
  expect([page.status, (await page.text()).includes('id="liaozhai-set"')]).toEqual([200, true]);
  expect(channel()).toEqual(live);
});

test('a production server with a public key refuses a store with another one', async () => {
  const other = join(folder, 'other');
  await publishLocal({ dists: testPackages(folder), store: `file:${other}` });
  const { publicKey } = JSON.parse(readFileSync(join(store, 'store.json'), 'utf8'));
  const settings = { ...elsewhere, RELEASES_PUBLIC_KEY: publicKey };
  expect(await start(store, settings)).toContain('is ready at');
  expect(await start(other, settings)).toContain('is not signed by');
});

test('a production server without a store explains how to create one', async () => {
  expect(await start(join(folder, 'nowhere'))).toContain('Make it with `pnpm release init`');
});

test('storage.damaged: a damaged set is logged at the start and per page in one line with a cure, until another state is live', async () => {
  const damaged = join(folder, 'damaged');
  cpSync(store, damaged, { recursive: true });
  for (const name of readdirSync(join(damaged, 'sets'))) writeFileSync(join(damaged, 'sets', name), 'garbage');
  const { hears } = run(damaged, elsewhere);
  const said = await hears('is ready at');
  const told = /^set [0-9a-f]{40} is damaged: .*\. Roll back to another state\.$/m;
  expect(said).toMatch(told);
  const ready = await fetch(`${/http:\S+/.exec(said)?.[0]}/readyz`);
  expect(await ready.json()).toMatchObject({ pages: false, why: expect.stringContaining('the release store') });
  const logged = hears('"msg":"request"');
  const page = await fetch(`${/http:\S+/.exec(said)?.[0]}/explore`);
  expect(page.status).toBe(503);
  expect(Number(page.headers.get('retry-after'))).toBeGreaterThan(0);
  // each listener appends the output
  const lines = [...new Set((await logged).trim().split('\n'))].filter((line) => line.includes('"level":"error"'));
  const requestId = page.headers.get('x-request-id');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ msg: expect.stringMatching(told), requestId }]);
  // the reader gets the id, too, for support
  expect(await page.text()).toBe(`聊斋暂时打不开，请稍后再试（问题编号 ${requestId}）`);
  expect(lines.join()).not.toContain('stack');
});

test('an invalid field of the configuration is refused by name at the start', async () => {
  const file = join(folder, 'wrong.json');
  writeFileSync(file, '{ "realtime": { "port": "8080" } }');
  const said = await start(store, { ...elsewhere, HOST_CONFIG: file });
  expect(said).toContain(`HOST_CONFIG=${file} is no configuration of a site`);
  expect(said).toContain('realtime.port');
});

test('the page’s configuration contains the key of the Reverb app', async () => {
  const said = await start(store, { ...elsewhere, REVERB_URL: 'http://127.0.0.1:9/', REVERB_APP_KEY: 'key-7' });
  const page = await (await fetch(`${/http:\S+/.exec(said)?.[0]}/explore`)).text();
  expect(page).toContain('"realtime":{"key":"key-7","channel":"private-App.Models.User.{id}"}');
});

test('invalid settings are refused at the start, each in one line', async () => {
  const said = await start(store, { ...elsewhere, REVERB_URL: 'ws://127.0.0.1:8080', SECURITY_EXPIRES: '2027-06-30' });
  expect(said.trim().split('\n').sort()).toEqual([
    expect.stringMatching(/^REVERB_URL="ws:.*must be .*Correct or unset it\.$/),
    expect.stringMatching(/^SECURITY_EXPIRES=".*must be .*Correct or unset it\.$/),
  ]);
});

test('a refused start ends the backend that it started', async () => {
  expect(await start(join(folder, 'nowhere'), {})).toContain('Make it with `pnpm release init`');
});

test('a start that ends before it is ready leaves no process', async () => {
  const { child, hears } = run(store, {});
  await expect.poll(() => childrenOf(child.pid ?? 0).length).toBe(1);
  const ended = hears('is ready at');
  child.kill('SIGTERM');
  expect(await ended).not.toContain('is ready at');
});

test('a server that is stopped while its backend is down ends without a restart', async () => {
  const { child, hears } = run(store, {});
  await hears('is ready at');
  const told = hears('starting it again');
  const over = once(child, 'close');
  for (const backend of childrenOf(child.pid ?? 0)) process.kill(backend, 'SIGKILL');
  await told;
  child.kill('SIGTERM');
  expect(await over).toEqual([0, null]);
});
