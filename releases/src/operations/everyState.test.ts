import { afterAll, beforeAll, expect, test } from '@rstest/core';
import fc from 'fast-check';
import { createChannel } from '../channel/changeChannel.ts';
import { requireChannel } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { ReleaseError } from '../errors.ts';
import { misfitsAmong } from '../gate/fit.ts';
import { makeGate } from '../gate/gate.ts';
import { readAction } from '../model/action.ts';
import { mergeBuilds, nameOf } from '../model/build.ts';
import { type ChannelDocument, candidatesOf } from '../model/channel.ts';
import { makePageSet } from '../serve/renderPage.ts';
import { openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { kill, rollback, withdraw } from './goingBack.ts';
import { abort, activate, canary, promote } from './switching.ts';

let at: TestStore;
const pool: string[] = [];

const route = (path: string) => ({
  name: path.slice(1),
  path,
  title: '',
  requiresAuth: false,
  keepAlive: false,
  outsideShell: false,
  js: ['static/js/async/page.js'],
  css: [],
});
const needs = (react: string) => ({ provides: {}, requires: { react } });
const shares = (react: string) => ({
  provides: { react, 'react-dom': '19.3.1', '@liaozhai/shared/runtime': '1.0.0' },
  requires: {},
});

beforeAll(async () => {
  at = await openTestStore();
  const same = { global: 'tasks_same', chunkGlobal: 'chunks_tasks_same' };
  pool.push(
    await at.host('1.0.0', { description: { contract: '1.0.0', shared: shares('19.3.1') } }),
    await at.host('2.0.0', { description: { contract: '2.0.0', shared: shares('19.3.1') } }),
    await at.host('3.0.0', { description: { contract: '2.1.0', shared: shares('20.0.0') } }),
    await at.remote('tasks', '1.0.0', { description: { contract: '^1.0.0', shared: needs('^19.0.0'), ...same } }),
    await at.remote('tasks', '1.1.0', { description: { contract: '^1.0.0 || ^2.0.0', shared: needs('*'), ...same } }),
    await at.remote('tasks', '2.0.0', { description: { contract: '^2.0.0', shared: needs('>=19') } }),
    await at.remote('maps', '1.0.0', { description: { contract: '^1.0.0 || ^2.0.0', shared: needs('*') } }),
    await at.remote('maps', '1.1.0', {
      description: { contract: '^1.0.0 || ^2.0.0', shared: needs('*'), routes: [route('/tasks')] },
    }),
    await at.remote('maps', '2.0.0', { description: { contract: '^2.1.0', shared: needs('^20.0.0') } }),
  );
});
afterAll(() => at.remove());

const keysAmong = async (ids: readonly string[]) =>
  misfitsAmong(await at.writer.catalog.records(ids)).map(({ key, check, problem }) => ({
    key,
    line: `${check} ${problem}`,
  }));

/** Returns every set that a visitor may run in this state. */
function setsOf(state: ChannelDocument): { stable: string[][]; candidates: string[][] } {
  const stable = state.stable?.builds ?? [];
  const candidates = candidatesOf(state).map(({ builds }) => mergeBuilds(stable, builds));
  const together = mergeBuilds(
    stable,
    candidatesOf(state).flatMap(({ builds }) => builds),
  );
  return { stable: [stable], candidates: [...candidates, together] };
}

/** Fails unless each fallback of a page fits the rest of its set. */
async function assertFallbacks(state: ChannelDocument): Promise<void> {
  if (!state.stable) return;
  const { set: hash, builds } = state.stable;
  const body = await at.writer.catalog.set(hash);
  const page = await makePageSet(at.writer.catalog, state, at.key.publicKey, {
    hash,
    body,
    candidate: false,
    override: null,
  });
  const known = new Set((await keysAmong(builds)).map(({ key }) => key));
  for (const { lastGood } of Object.values(page.remotes))
    if (lastGood)
      expect((await keysAmong(mergeBuilds(builds, [lastGood.id]))).filter(({ key }) => !known.has(key))).toEqual([]);
}

const step = fc.record({
  verb: fc.constantFrom(
    'activate',
    'activate',
    'canary',
    'promote',
    'abort',
    'rollback',
    'rollbackOne',
    'to',
    'withdraw',
    'kill',
  ),
  builds: fc.uniqueArray(fc.nat(8), { minLength: 1, maxLength: 3 }),
  to: fc.nat(12),
  force: fc.boolean(),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function take(writer: Writer, { verb, builds: numbers, to, force }: Step) {
  const named = mergeBuilds(
    [],
    numbers.map((n) => pool[n] ?? ''),
  );
  const [build = ''] = named;
  const name = nameOf(build);
  const gate = makeGate(writer, { smoke: null });
  const brave = force ? { force, why: 'all the same' } : {};
  switch (verb) {
    case 'activate':
      return activate(writer, named, { gate, ...brave });
    case 'canary':
      return canary(writer, named, 10, { gate, ...brave });
    case 'promote':
      return promote(writer, { gate, ...brave, name });
    case 'abort':
      return abort(writer, {});
    case 'rollback':
      return rollback(writer, brave);
    case 'rollbackOne':
      return rollback(writer, { name, ...brave });
    case 'to':
      return rollback(writer, { to: Math.max(1, to), ...brave });
    case 'withdraw':
      return withdraw(writer, name, { confirm: name });
    default:
      return kill(writer, build, { confirm: name, ...brave });
  }
}

let channels = 0;

test('every reachable state passes the gate, or was forced with its findings in the log', async () => {
  const property = fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 14 }), async (steps) => {
    channels += 1;
    const writer = { ...at.writer, channel: `walk-${channels}` };
    await createChannel(writer);
    let [accepted, acceptedOnTrial] = [new Set<string>(), new Set<string>()];
    for (const each of [{ verb: 'activate', builds: [0, 3, 6], to: 1, force: false } as const, ...steps]) {
      const outcome = await take(writer, { ...each, builds: [...each.builds] }).catch((cause: unknown) => cause);
      if (outcome instanceof ReleaseError) continue;
      expect(outcome).not.toBeInstanceOf(Error);
      const { document } = await requireChannel(writer);
      const forced = readAction(document.action).evidence.flatMap((line) =>
        line.kind === 'finding' && line.forced ? [`${line.check} ${line.problem}`] : [],
      );
      const { stable, candidates } = setsOf(document);
      const inStable = (await Promise.all(stable.map(keysAmong))).flat();
      const onTrial = (await Promise.all(candidates.map(keysAmong))).flat();
      const isNew = ({ key, line }: { key: string; line: string }) => !accepted.has(key) && !forced.includes(line);
      expect(inStable.filter(isNew)).toEqual([]);
      accepted = new Set(inStable.map(({ key }) => key));
      expect(onTrial.filter((misfit) => isNew(misfit) && !acceptedOnTrial.has(misfit.key))).toEqual([]);
      acceptedOnTrial = new Set(onTrial.map(({ key }) => key));
      await assertFallbacks(document);
    }
  });
  await fc.assert(property, { numRuns: Number(process.env.FC_RUNS ?? 60) });
});
