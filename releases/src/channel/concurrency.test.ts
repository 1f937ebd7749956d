import { MINUTE_MS } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import fc from 'fast-check';
import { logAlarm } from '../health/alarm.ts';
import { parseSteps } from '../model/steps.ts';
import { kill, rollback } from '../operations/goingBack.ts';
import { activate } from '../operations/switching.ts';
import { schedule, steerSchedule } from '../policies/schedule.ts';
import { FileStore } from '../store/fileStore.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { addFreeze, readAgenda, removeFreeze } from './changeAgenda.ts';
import { changeChannel } from './changeChannel.ts';
import { readLog, requireChannel } from './readChannel.ts';
import type { Writer } from './writer.ts';

describe('many parallel writers', () => {
  test('fifty writers switch fifty remotes: no change is lost, and the audit has each state once', async () => {
    const at = await openTestStore();
    await at.activate(await at.host());
    const builds = await Promise.all(Array.from({ length: 50 }, (_, n) => at.remote(`r${n}`)));
    const before = (await at.current()).seq;
    await Promise.all(
      builds.map((build, n) => {
        const store = new FileStore(`${at.folder}/store`);
        return activate({ ...at.writer, store, who: `writer ${n}` }, [build], { gate: openGate });
      }),
    );
    const { seq, stable } = await at.current();
    expect(stable?.builds).toHaveLength(51);
    expect(seq).toBe(before + 50);
    const log = await readLog(at.writer, await at.current(), 100);
    expect(new Set(log.map(({ who }) => who)).size).toBe(51);
    expect(log.map((entry) => entry.seq)).toEqual(Array.from({ length: seq }, (_, n) => seq - n));
    await at.remove();
  });

  test.each([
    ['of one console', 1],
    ['on two machines', 2],
  ])('of two people %s who plan or end the same, the log has the one that did it', async (_, machines) => {
    const window = { kind: 'once' as const, from: new Date(0).toISOString(), to: '2099-01-01T00:00:00.000Z' };
    for (let round = 0; round < 3; round += 1) {
      const at = await openTestStore();
      await at.activate(await at.host(), await at.remote('stories'));
      const builds = [await at.remote('stories', '1.1.0')];
      const both = async (work: (writer: Writer) => Promise<unknown>) => {
        const { seq } = await at.current();
        const stores = [at.store, machines > 1 ? new FileStore(`${at.folder}/store`) : at.store];
        await Promise.allSettled(stores.map((store, n) => work({ ...at.writer, store, who: `person ${n}` })));
        return (await at.current()).seq - seq;
      };
      expect(await both((writer) => addFreeze(writer, { window, why: 'fair' }))).toBe(1);
      const { freezes } = await readAgenda(at.writer);
      expect(await both((writer) => removeFreeze(writer, freezes[0]?.id ?? ''))).toBe(1);
      // the first step and the plan
      expect(await both((writer) => schedule(writer, { builds, steps: parseSteps('5@now,25@1h') }, openGate))).toBe(2);
      expect(await both((writer) => steerSchedule(writer, 'cancel', {}))).toBe(1);
      await at.remove();
    }
  });

  test('a caller with an outdated state gets a conflict, and nothing changes', async () => {
    const at = await openTestStore();
    const [host, stories, chat] = [await at.host(), await at.remote('stories'), await at.remote('chat')];
    await at.activate(host, stories);
    const { seq } = await at.current();
    await at.activate(chat);
    const late = activate(at.writer, [await at.remote('stories', '1.1.0')], { gate: openGate, seq });
    await expect(late).rejects.toMatchObject({ kind: 'conflict' });
    expect((await at.current()).stable?.builds).toContain(stories);
    await at.remove();
  });

  test('every sequence of operations results in a gapless, chained audit and a runnable state', async () => {
    const at = await openTestStore();
    const host = await at.host();
    const pool = await Promise.all(
      ['stories', 'chat'].flatMap((name) => ['1.0.0', '1.1.0', '1.2.0'].map((version) => at.remote(name, version))),
    );
    await at.activate(host, ...pool.filter((id) => id.includes('@1.0.0')));
    const step = fc.record({
      verb: fc.constantFrom('activate', 'rollback', 'rollbackOne', 'kill'),
      build: fc.constantFrom(...pool),
    });
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      const outcomes = steps.map(({ verb, build }) => {
        if (verb === 'activate') return at.activate(build);
        if (verb === 'rollback') return rollback(at.writer, {});
        if (verb === 'rollbackOne') return rollback(at.writer, { name: build.split('@')[0] });
        return build.includes('@1.2.0') ? kill(at.writer, build) : at.activate(build);
      });
      for (const outcome of await Promise.allSettled(outcomes))
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ name: 'ReleaseError' });
      const current = await at.current();
      const log = await readLog(at.writer, current, 10_000);
      expect(log).toHaveLength(current.seq);
      expect(current.stable?.builds.some((id) => current.killed.includes(id))).toBe(false);
      expect(Object.values(current.lastGood).some((id) => current.killed.includes(id))).toBe(false);
      await at.writer.catalog.set(current.stable?.set ?? '');
    });
    await fc.assert(property, { numRuns: Number(process.env.FC_RUNS ?? 25) });
    await at.remove();
  });
});

test('a conflict names everybody who changed what runs since, and nobody else', async () => {
  const at = await openTestStore();
  const [first = '', second = ''] = [await at.remote('stories'), await at.remote('chat')];
  const { seq } = (await at.activate(await at.host())).document;
  const as = (who: string) => ({ ...at.writer, who });
  const counts = { visitors: 9, failedVisitors: 9 };
  const alarm = { minutes: 5, recent: counts, before: counts, alarm: true };
  await logAlarm(as('console'), { ...alarm, build: first });
  await activate(as('Li'), [first], { gate: openGate });
  await activate(as('Wang'), [second], { gate: openGate });
  await logAlarm(as('console'), { ...alarm, build: second });
  await expect(rollback(as('Zhao'), { seq })).rejects.toMatchObject({
    kind: 'conflict',
    message: `production is at state ${seq + 4} by now, changed by Li, Wang`,
  });
  await at.remove();
});

describe('a wrong clock', () => {
  const YEAR = 365 * 24 * 60 * MINUTE_MS;
  let at: TestStore;
  let builds: string[];
  beforeEach(async () => {
    at = await openTestStore();
    builds = await Promise.all(['1.0.0', '1.1.0', '1.2.0'].map((version) => at.remote('stories', version)));
    await at.activate(await at.host(), builds[0] ?? '');
  });
  afterEach(() => at.remove());
  const age = (instant = '') => Math.abs(Date.now() - Date.parse(instant));

  test.each([
    ['ahead', YEAR],
    ['behind', -YEAR],
  ])('by a year %s: the store’s time dates the change, and later writers succeed', async (_, by) => {
    const { document } = await activate(at.withClock(by), [builds[1] ?? ''], { gate: openGate });
    expect(age(document.action.at)).toBeLessThan(5 * MINUTE_MS);
    expect(age(document.stable?.since)).toBeLessThan(5 * MINUTE_MS);
    expect(Date.parse(document.expires)).toBeGreaterThan(Date.now());
    expect(Date.parse(document.expires)).toBeLessThan(Date.now() + 91 * 24 * 60 * MINUTE_MS);
    expect((await at.activate(builds[2] ?? '')).changed).toBe(true);
  });

  test('on the only machine: after a correction later writers succeed', async () => {
    await activate(at.after(YEAR), [builds[1] ?? ''], { gate: openGate });
    const { document } = await at.activate(builds[2] ?? '');
    expect(age(document.action.at)).toBeLessThan(5 * MINUTE_MS);
    const log = await readLog(at.writer, document, 3);
    expect(log.map(({ seq }) => seq)).toEqual([4, 3, 2]);
    expect((await rollback(at.writer, {})).document.stable?.builds).toContain(builds[1]);
  });

  test('by a small difference does not appear in the log', async () => {
    const { document } = await activate(at.withClock(-2 * MINUTE_MS), [builds[1] ?? ''], { gate: openGate });
    const log = await readLog(at.writer, document, 2);
    expect(log[0] && log[1] && log[0].at >= log[1].at).toBe(true);
  });
});

describe('a faulty store', () => {
  test('a confirmed but lost swap is detected', async () => {
    const at = await openTestStore();
    class Forgetful extends FileStore {
      override async swapPointer(): Promise<boolean> {
        return true;
      }
    }
    const store = new Forgetful(`${at.folder}/store`);
    const change = changeChannel({ ...at.writer, store }, async ({ stable, candidate, lastGood, killed, digests }) => ({
      state: { stable, candidate, lastGood, killed, digests },
      action: { kind: 'renew' },
    }));
    await expect(change).rejects.toThrow('confirmed a change and then lost it');
    await at.remove();
  });

  test('a restored old state is refused as a base', async () => {
    const at = await openTestStore();
    await at.activate(await at.host());
    const old = await requireChannel(at.writer);
    await at.activate(await at.remote('stories'));
    const { tag } = await requireChannel(at.writer);
    await at.store.swapPointer('channels/production.json', old.source, tag);
    await expect(at.activate(await at.remote('chat'))).rejects.toMatchObject({
      message: expect.stringContaining('an old document was put back'),
      cure: expect.stringContaining('A damaged channel'),
    });
    await at.remove();
  });

  test('two different histories of one state are detected', async () => {
    const at = await openTestStore();
    await at.store.create('audit/production/1.json', 'another history');
    await expect(at.activate(await at.host())).rejects.toThrow('exists twice');
    expect((await at.current()).seq).toBe(1);
    await at.remove();
  });
});
