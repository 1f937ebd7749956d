import { writeFile } from 'node:fs/promises';
import { openMetrics } from '@liaozhai/telemetry/metrics';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from '@rstest/core';
import { createChannel } from '../../src/channel/changeChannel.ts';
import { messageOf, reportNewProblems } from '../../src/errors.ts';
import { HealthRecorder } from '../../src/health/healthRecord.ts';
import { CHANNEL_LIFETIME_DAYS } from '../../src/model/channel.ts';
import { activate, canary } from '../../src/operations/switching.ts';
import { openGate, openTestStore, type TestStore } from '../../src/testing/openTestStore.ts';
import { ConsoleContext, consoleCounters } from './ConsoleContext.ts';
import { Lease, watchOnce } from './startConsole.ts';

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

/** Runs one round of the watch. Returns the problems it reported. */
async function watchRound(
  counters?: ReturnType<typeof consoleCounters>,
  lease = new Lease(at.store, 'watch'),
): Promise<string[]> {
  const { store, key, writer } = at;
  const context = new ConsoleContext({
    store,
    catalog: writer.catalog,
    key,
    channel: 'production',
    smokeFor: async () => null,
    counters,
  });
  const problems: string[] = [];
  await watchOnce(context, lease, (cause) => problems.push(messageOf(cause)));
  return problems;
}

async function harmfulCandidate(): Promise<void> {
  await at.activate(await at.host(), await at.remote('stories'));
  await canary(at.writer, [await at.remote('stories', '1.1.0')], 10, { gate: openGate });
  const { stable, candidate } = await at.current();
  const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
  const build = (builds: readonly string[] = []) => builds.find((id) => id.startsWith('stories@')) ?? '';
  const told = { outcome: 'loaded' } as const;
  for (let n = 0; n < 60; n += 1) {
    recorder.record(
      { ...told, build: build(stable?.builds), set: stable?.set ?? '', candidate: false },
      `control ${n}`,
    );
    const tried = { ...told, build: build(candidate?.builds), set: candidate?.set ?? '', candidate: true };
    recorder.record({ ...tried, outcome: 'failed', failure: 'hang' }, `tried ${n}`);
  }
  await recorder.flush();
}

describe('the watch over the channels', () => {
  test.each(['', '{"holder":"a', 'null'])('goes on where the file of its lease is damaged: %s', async (text) => {
    await harmfulCandidate();
    await at.store.swapPointer('leases/watch.json', text, null);
    expect(await watchRound()).toEqual([]);
    expect((await at.current()).candidate).toBeNull();
  });

  test('goes on to the next channel when one is damaged or no channel, and reports it', async () => {
    await harmfulCandidate();
    await at.store.swapPointer('channels/damaged.json', '{"not": "a channel"}', null);
    await writeFile(`${at.folder}/store/channels/a stray note.txt`, '');
    const problems = (await watchRound()).join('\n');
    expect((await at.current()).action).toMatchObject({ verb: 'abort', who: 'auto-stop' });
    expect(problems).toContain('damaged');
    expect(problems).toContain('a stray note.txt');
  });

  test('reports a problem when it begins and when it comes back, not at every round', async () => {
    const told: string[] = [];
    let now = 0;
    const tell = reportNewProblems(
      (cause) => told.push(messageOf(cause)),
      () => now,
    );
    await at.store.swapPointer('channels/damaged.json', '{"not": "a channel"}', null);
    const lease = new Lease(at.store, 'watch');
    let rounds = 0;
    const roundAt = async (seconds: number) => {
      now = seconds * 1000;
      for (const problem of await watchRound(undefined, lease)) {
        rounds += 1;
        tell(new Error(problem));
      }
    };
    for (const seconds of [0, 5, 70, 140]) await roundAt(seconds);
    // both duties of each round fail
    expect([rounds, told.length]).toEqual([8, 1]);
    tell(new Error('another'));
    await roundAt(240);
    expect(told).toEqual([told[0], 'another', told[0]]);
  });

  test('counts the candidates it ends, and what it could not do', async () => {
    const metrics = await openMetrics({ METRICS_PORT: 0, METRICS_HOST: '127.0.0.1' });
    if (!metrics) throw new Error('no metrics');
    onTestFinished(() => metrics.close());
    await harmfulCandidate();
    await at.store.swapPointer('channels/damaged.json', '{"not": "a channel"}', null);
    await watchRound(consoleCounters(metrics));
    const lines = (await (await fetch(metrics.url)).text()).split('\n');
    expect(lines).toContain('liaozhai_automatic_stops_total{channel="production"} 1');
    expect(lines).toContainEqual(expect.stringMatching(/^liaozhai_console_problems_total [1-9]/));
  });

  test('renews a document that ages even where the health record cannot be read', async () => {
    const old = { ...at.after(-(CHANNEL_LIFETIME_DAYS - 1) * 86_400_000), channel: 'old' };
    await createChannel(old);
    await activate(old, [await at.host(), await at.remote('stories')], { gate: openGate });
    await canary(old, [await at.remote('stories', '1.1.0')], 10, { gate: openGate });
    // a file where a folder is expected
    await at.store.create('health/old', '');
    expect(await watchRound()).toHaveLength(1);
    expect((await at.store.readPointer('channels/old.json'))?.body).toContain('"renew"');
  });
});
