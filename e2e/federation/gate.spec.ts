import { join } from 'node:path';
import { runCommand } from '../../releases/src/testing/runCommand.ts';
import { expect, test } from '../person.ts';
import { dataFolder } from '../product.ts';

const MINUTE_MS = 60_000;

const release = async (...words: string[]) => {
  const store = `file:${join(dataFolder, 'releases')}`;
  const { out, err } = await runCommand(['--store', store, '--json', ...words]);
  expect(err).toBe('');
  return JSON.parse(out);
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
