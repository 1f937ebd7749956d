import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publishLocal } from '@liaozhai/releases';
import { afterAll, expect, test } from '@rstest/core';
import { testPackages } from './testPackages.ts';

const folder = mkdtempSync(join(tmpdir(), 'liaozhai-serve-'));
const store = join(folder, 'store');
const children: ChildProcess[] = [];

afterAll(async () => {
  for (const child of children) if (child.kill('SIGTERM')) await once(child, 'exit');
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a production server as an operator does. Resolves with its first lines once it is ready or has ended. */
async function start(releases: string): Promise<string> {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', main, '--serve'], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: join(folder, 'data'),
      BACKEND_URL: 'http://127.0.0.1:9',
      RELEASES_STORE: `file:${releases}`,
    },
  });
  children.push(child);
  let said = '';
  return new Promise((resolve) => {
    const hear = (bytes: Buffer) => {
      said += bytes.toString();
      if (said.includes('is ready at')) resolve(said);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('close', () => resolve(said));
  });
}

/** The public copy of the channel's document; every change signs it anew. */
const channel = () => readFileSync(join(store, 'channels/production.json'), 'utf8');

test('a production server needs no key and leaves what is live as it is', async () => {
  await publishLocal({ dists: testPackages(folder), store: `file:${store}` });
  rmSync(join(store, 'keys'), { recursive: true });
  const live = channel();
  const said = await start(store);
  expect(said).toMatch(/^聊斋 is ready at http/);
  const page = await fetch(`${/http:\S+/.exec(said)?.[0]}/explore`);
  expect([page.status, (await page.text()).includes('id="liaozhai-set"')]).toEqual([200, true]);
  expect(channel()).toEqual(live);
});

test('a production server without a store says how to make one', async () => {
  expect(await start(join(folder, 'nowhere'))).toContain('Make it with `pnpm release init`');
});
