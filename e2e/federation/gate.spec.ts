import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { preload } from '../../host/server/endWithStarter.mjs';
import { expect, test } from '../person.ts';
import { dataFolder, root } from '../product.ts';

const MINUTE_MS = 60_000;

/** Runs `pnpm release …`, in its own process: Playwright would record each of a check's calls as a step of this test. */
const release = async (...words: string[]) => {
  const store = `file:${join(dataFolder, 'releases')}`;
  const program = ['host/server/run.mjs', 'releases/cli/main.ts', '--store', store, '--json', ...words];
  const child = spawn(process.execPath, ['--import', preload, ...program], {
    cwd: root,
    // the command ends when the IPC channel closes, so also if the test runner is killed
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const [out, err] = await Promise.all([child.stdout, child.stderr].map((stream) => stream && text(stream)));
  expect(err).toBe('');
  return JSON.parse(out ?? '');
};

test("gate: the product's own builds pass, every page, slot and late part of them opened as guest and member", async () => {
  // a visit of every page: minutes on a busy machine
  test.setTimeout(15 * MINUTE_MS);
  const { stable } = await release('status');
  expect(stable.builds).toHaveLength(5);
  const { passed, results } = await release('check', ...stable.builds);
  const smoke = results.find(({ check }: { check: string }) => check === 'headless smoke');
  expect([passed, smoke.problems]).toEqual([true, []]);
  // the remote's gate.json contains the reason
  expect(smoke.notes).toEqual([
    expect.stringMatching(/longList\.\w+\.js was not opened: comes with the sixty-first story/),
  ]);
});
