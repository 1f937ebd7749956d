import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { ConsoleContext } from '../../console/server/ConsoleContext.ts';
import { alarmOnce, Lease } from '../../console/server/startConsole.ts';
import { messageOf } from '../errors.ts';
import { readAction } from '../model/action.ts';
import { rollback } from '../operations/goingBack.ts';
import { activate, canary } from '../operations/switching.ts';
import { eventOf } from '../policies/webhookEvents.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { isAlarming, logAlarm } from './alarm.ts';
import { AUTO_STOP, readHealth, stopIfWorse, summarise, verdictOn } from './autoStop.ts';
import { fisherWorse } from './figures.ts';
import { HealthReader, HealthRecorder } from './healthRecord.ts';

describe("Fisher's exact test", () => {
  test.each([
    [{ failedVisitors: 3, visitors: 4 }, { failedVisitors: 1, visitors: 4 }, 17 / 70],
    [{ failedVisitors: 0, visitors: 10 }, { failedVisitors: 5, visitors: 10 }, 1],
    [{ failedVisitors: 10, visitors: 10 }, { failedVisitors: 0, visitors: 10 }, 1 / 184756],
    [{ failedVisitors: 0, visitors: 0 }, { failedVisitors: 0, visitors: 0 }, 1],
  ])('%o against %o', (tried, control, expected) => {
    expect(fisherWorse(tried, control)).toBeCloseTo(expected, 10);
  });

  test('a candidate as good as stable is stopped in fewer than 1 % of ramps with a check every ten visitors', () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 1664525 + 1013904223) % 4294967296;
      return seed / 4294967296;
    };
    let stopped = 0;
    for (let ramp = 0; ramp < 400; ramp += 1) {
      const [tried, control] = [
        { failedVisitors: 0, visitors: 0 },
        { failedVisitors: 0, visitors: 0 },
      ];
      for (let visitor = 0; visitor < 1000; visitor += 1) {
        tried.visitors += 1;
        control.visitors += 9;
        if (random() < 0.02) tried.failedVisitors += 1;
        for (let n = 0; n < 9; n += 1) if (random() < 0.02) control.failedVisitors += 1;
        const enough = tried.visitors >= AUTO_STOP.minimumVisitors && tried.failedVisitors >= AUTO_STOP.minimumFailed;
        if (visitor % 10 === 9 && enough && fisherWorse(tried, control) < AUTO_STOP.alpha) {
          stopped += 1;
          break;
        }
      }
    }
    expect(stopped / 400).toBeLessThan(0.01);
  });
});

test.each([
  [29, false],
  [30, true],
])('%d visitors in each group without a failure give no verdict (enough visitors: %s)', (visitors, hasVisitors) => {
  const group = { visitors, failedVisitors: 0 };
  expect(verdictOn(group, group)).toMatchObject({ hasVisitors, enough: false, worse: false });
});

describe('the alarm', () => {
  const counts = (failedVisitors: number, visitors: number) => ({ failedVisitors, visitors });
  test.each([
    ['a rise beyond chance', [39, 1001], [4, 817], true],
    ['the same share as before', [5, 1001], [4, 817], false],
    ['few visits', [4, 19], [0, 800], false],
    ['few failures', [4, 400], [0, 100_000], false],
    ['a rise that chance explains', [20, 1001], [8, 817], false],
    ['much of little, nothing known of before', [12, 32], [0, 0], true],
    ['some, nothing known of before', [39, 1001], [0, 0], false],
    ['some, too few known of before', [39, 1001], [0, 29], false],
    ['many of very many, though not twice as many', [4500, 300_000], [3000, 300_000], false],
    ['twice as many of very many', [6000, 300_000], [3000, 300_000], true],
    ['an improvement', [5, 1000], [400, 1000], false],
  ])('%s: %o next to %o', (_, [failed = 0, visitors = 0], [failedBefore = 0, visitorsBefore = 0], alarms) => {
    expect(isAlarming(counts(failed, visitors), counts(failedBefore, visitorsBefore))).toBe(alarms);
  });
});

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
  await at.activate(await at.host(), await at.remote('stories'));
  await canary(at.writer, [await at.remote('stories', '1.1.0')], 10, { gate: openGate });
});
afterEach(() => at.remove());

interface Seen {
  candidate: boolean;
  visitors: number;
  failing: number;
}

async function visits(...groups: Seen[]): Promise<void> {
  const { stable, candidate } = await at.current();
  const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
  for (const { candidate: tried, visitors, failing } of groups)
    for (let n = 0; n < visitors; n += 1) {
      const set = (tried ? candidate?.set : stable?.set) ?? '';
      const build = ((tried ? candidate : stable)?.builds ?? []).find((id) => id.startsWith('stories@')) ?? '';
      const failed = n < failing;
      recorder.record(
        {
          build,
          set,
          candidate: tried,
          outcome: failed ? 'failed' : 'loaded',
          ...(failed ? { failure: 'hang' as const } : { loadMilliseconds: n }),
        },
        `${tried} ${n}`,
      );
    }
  await recorder.flush();
}

const stop = () => stopIfWorse(at.writer, new HealthReader(at.store, 'production'));

describe('the automatic stop', () => {
  test('ends a candidate with significantly more failures, with the figures in the audit', async () => {
    await visits({ candidate: true, visitors: 60, failing: 20 }, { candidate: false, visitors: 600, failing: 6 });
    expect(await stop()).toBe(true);
    const { candidate, action } = await at.current();
    expect(candidate).toBeNull();
    expect(action).toMatchObject({ verb: 'abort', who: 'auto-stop' });
    expect(readAction(action).evidence).toMatchObject([
      { kind: 'verdict', alpha: AUTO_STOP.alpha },
      { kind: 'health', group: 'candidate', visitors: 60, failedVisitors: 20, failures: { hang: 20 } },
      { kind: 'health', group: 'control', visitors: 600, failedVisitors: 6 },
    ]);
  });

  test('ends a candidate that began before the clock was set back by an hour', async () => {
    await canary(at.after(3_600_000), [await at.remote('stories', '1.2.0')], 10, { gate: openGate });
    await visits({ candidate: true, visitors: 60, failing: 20 }, { candidate: false, visitors: 600, failing: 6 });
    expect(await stop()).toBe(true);
  });

  // the fallback runs in the page that the candidate broke, may fail as well, and often votes first
  test.each(['loaded', 'failed'] as const)(
    'does not count a candidate’s visitor whose fallback %s for the stable build',
    async (outcome) => {
      const { stable, candidate } = await at.current();
      const live = stable?.builds.find((id) => id.startsWith('stories@')) ?? '';
      const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
      const error = { build: live, kind: 'uncaught', name: 'TypeError', message: null, route: '/explore' } as const;
      for (let n = 0; n < 20; n += 1) {
        recorder.record({ build: live, set: candidate?.set ?? '', candidate: true, outcome }, `true ${n}`);
        recorder.recordError({ ...error, frames: [] }, { visitor: `true ${n}`, browser: 'Safari 17' });
      }
      await recorder.flush();
      await visits({ candidate: true, visitors: 400, failing: 20 }, { candidate: false, visitors: 400, failing: 0 });
      const { health } = await readHealth(at.writer, new HealthReader(at.store, 'production'));
      expect(health.builds.find(({ build }) => build === live)).toMatchObject({ visitors: 400, failedVisitors: 0 });
      expect(await stop()).toBe(true);
      expect(readAction((await at.current()).action).evidence).toMatchObject([
        { kind: 'verdict' },
        { group: 'candidate', visitors: 400, failedVisitors: 20 },
        { group: 'control', visitors: 400, failedVisitors: 0 },
      ]);
      const after = await readHealth(at.writer, new HealthReader(at.store, 'production'));
      expect(after.health.builds.find(({ build }) => build === live)).toMatchObject({ failedVisitors: 0 });
    },
  );

  test.each([
    [
      'that fails as often as stable',
      { candidate: true, visitors: 60, failing: 3 },
      { candidate: false, visitors: 600, failing: 30 },
    ],
    [
      'that few have tried',
      { candidate: true, visitors: 20, failing: 20 },
      { candidate: false, visitors: 600, failing: 6 },
    ],
    [
      'that has no control',
      { candidate: true, visitors: 60, failing: 60 },
      { candidate: false, visitors: 5, failing: 0 },
    ],
    [
      'with few failures',
      { candidate: true, visitors: 60, failing: 4 },
      { candidate: false, visitors: 6000, failing: 0 },
    ],
  ])('does not end a candidate %s', async (_, ...groups) => {
    await visits(...groups);
    expect(await stop()).toBe(false);
    expect((await at.current()).candidate).not.toBeNull();
  });

  test('one of two consoles acts, and the other takes over after its end', async () => {
    const [first, second] = [new Lease(at.store, 'watch'), new Lease(at.store, 'watch')];
    expect(await first.hold()).toBe(true);
    expect(await second.hold()).toBe(false);
    expect(await first.hold()).toBe(true);
    const later = new Date(Date.now() + 60_000);
    expect(await second.hold(later)).toBe(true);
    expect(await first.hold(later)).toBe(false);
  });

  test('consoles act although the store’s clock was set back by a year', async () => {
    expect(await new Lease(at.store, 'watch').hold(new Date(Date.now() + 365 * 86_400_000))).toBe(true);
    expect(await new Lease(at.store, 'watch').hold()).toBe(true);
  });

  test.each([-10, -4, 4, 10])(
    'a holder whose clock is %i minutes off acts alone, and loses the lease after 20 seconds',
    async (off) => {
      rs.useFakeTimers({ toFake: ['Date'], now: Date.now() + off * 60_000 });
      expect(await new Lease(at.store, 'watch').hold()).toBe(true);
      rs.useRealTimers();
      const second = new Lease(at.store, 'watch');
      expect(await second.hold()).toBe(false);
      expect(await new Lease(at.after(21_000).store, 'watch').hold()).toBe(true);
    },
  );

  test('a lease is renewed only in the second half of its duration', async () => {
    const lease = new Lease(at.store, 'watch');
    const from = Date.now();
    const writes = new Set<string | undefined>();
    for (let second = 0; second <= 60; second += 5) {
      expect(await lease.hold(new Date(from + second * 1000))).toBe(true);
      writes.add((await at.store.readPointer('leases/watch.json'))?.tag);
    }
    expect(writes.size).toBe(7);
    expect(await new Lease(at.store, 'watch').hold(new Date(from + 69_000))).toBe(false);
  });
});

describe('candidates of several remotes', () => {
  const record = async (seen: { build: string; set: string; candidate: boolean; failing: boolean; at?: Date }[]) => {
    const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
    for (const [n, { failing, at: instant, ...told }] of seen.entries())
      recorder.record(
        { ...told, ...(failing ? { outcome: 'failed', failure: 'hang' } : { outcome: 'loaded', loadMilliseconds: n }) },
        `${told.build} ${told.candidate} ${n}`,
        instant,
      );
    await recorder.flush();
  };
  const times = (count: number, one: { build: string; set: string; candidate: boolean; failing: boolean; at?: Date }) =>
    Array.from({ length: count }, () => one);
  const read = async () => summarise(await new HealthReader(at.store, 'production').record(''), await at.current());

  test('the failing one is ended, and the others continue', async () => {
    await at.activate(await at.remote('chat'));
    const chatNext = await at.remote('chat', '1.1.0');
    await canary(at.writer, [chatNext], 10, { gate: openGate });
    const { stable, candidate } = await at.current();
    const [storiesNext = ''] = candidate?.builds ?? [];
    const live = (name: string) => stable?.builds.find((id) => id.startsWith(`${name}@`)) ?? '';
    // visitors of both candidates run a set that is not in the channel's document
    const both = { set: 'c'.repeat(40), candidate: true };
    const none = { set: stable?.set ?? '', candidate: false, failing: false };
    await record([
      ...times(60, { ...both, build: chatNext, failing: true }),
      ...times(60, { ...both, build: storiesNext, failing: false }),
      ...times(200, { ...none, build: live('chat') }),
      ...times(200, { ...none, build: live('stories') }),
    ]);
    expect(await stop()).toBe(true);
    expect((await at.current()).candidate?.builds).toEqual([storiesNext]);
    expect(readAction((await at.current()).action)).toMatchObject({ kind: 'abort', builds: [chatNext] });
    expect(await stop()).toBe(false);
  });

  test('another team’s activate resets neither a candidate nor its figures', async () => {
    const { candidate } = await at.current();
    await visits({ candidate: true, visitors: 40, failing: 4 }, { candidate: false, visitors: 70, failing: 1 });
    await activate({ ...at.writer, who: 'another team' }, [await at.remote('chat')], { gate: openGate });
    const after = (await at.current()).candidate;
    expect(after?.set).not.toBe(candidate?.set);
    expect(after).toMatchObject({ since: candidate?.since, by: candidate?.by });
    const [health] = (await read()).candidates;
    expect(health?.tried).toMatchObject({ visitors: 40, failedVisitors: 4 });
    expect(health?.control).toMatchObject({ visitors: 70, failedVisitors: 1 });
  });

  test('a build that fails for everybody is reported with its remote; others are not', async () => {
    const chat = await at.remote('chat');
    await at.activate(chat);
    const { stable } = await at.current();
    const stories = stable?.builds.find((id) => id.startsWith('stories@')) ?? '';
    const seen = { set: stable?.set ?? '', candidate: false };
    await record([
      ...times(12, { ...seen, build: stories, failing: true }),
      ...times(20, { ...seen, build: stories, failing: false }),
      ...times(3, { ...seen, build: chat, failing: true }),
      ...times(90, { ...seen, build: chat, failing: false }),
    ]);
    const { builds } = await read();
    expect(builds.find(({ build }) => build === stories)).toMatchObject({
      alarm: true,
      recent: { visitors: 32, failedVisitors: 12 },
      failures: { hang: 12 },
    });
    expect(builds.find(({ build }) => build === chat)).toMatchObject({ alarm: false, failedVisitors: 3 });
    const { store, key, writer } = at;
    const options = { store, catalog: writer.catalog, key, channel: 'production', smokeFor: async () => null };
    const context = new ConsoleContext(options);
    const told: string[] = [];
    const lease = new Lease(store, 'watch');
    for (let look = 0; look < 2; look += 1) await alarmOnce(context, lease, (cause) => told.push(messageOf(cause)));
    expect(told).toEqual([
      expect.stringContaining(`${stories}: 12 of 32 visitors failed in the last 15 minutes, 0 of 0 before`),
    ]);
    // a console whose clock is 40 minutes ahead sees the same incident
    const ahead = at.withClock(40 * 60_000);
    const { health } = await readHealth(ahead, new HealthReader(store, 'production'));
    const incident = health.builds.find(({ alarm }) => alarm);
    expect(incident?.build).toBe(stories);
    expect(incident && (await logAlarm(ahead, incident))).toBe(false);
  });

  test('errors of 39 in 1,001 visitors after 4 in 817 raise one alarm within minutes, in log and webhooks', async () => {
    const { stable } = await at.current();
    const build = stable?.builds.find((id) => id.startsWith('stories@')) ?? '';
    const seen = { build, set: stable?.set ?? '', candidate: false };
    const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    await record([
      ...times(4, { ...seen, failing: true, at: minutesAgo(9) }),
      ...times(813, { ...seen, failing: false, at: minutesAgo(9) }),
      ...times(962, { ...seen, failing: false, at: minutesAgo(1) }),
    ]);
    const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
    const error = { build, kind: 'uncaught', name: 'TypeError', message: null, frames: [], route: '/explore' } as const;
    for (let n = 0; n < 39; n += 1)
      recorder.recordError({ ...error, frames: [] }, { visitor: `thrown ${n}`, browser: 'Safari 17' });
    await recorder.flush();
    const { store, key, writer } = at;
    const options = { store, catalog: writer.catalog, key, channel: 'production', smokeFor: async () => null };
    const told: string[] = [];
    const lease = new Lease(store, 'watch');
    const look = (console: ConsoleContext) => alarmOnce(console, lease, (cause) => told.push(messageOf(cause)));
    const seq = (await at.current()).seq;
    const context = new ConsoleContext(options);
    await look(context);
    await look(context);
    await look(new ConsoleContext(options));
    expect(told).toEqual([
      expect.stringContaining('39 of 1001 visitors failed in the last 5 minutes, 4 of 817 before (hang 4, uncaught 39'),
    ]);
    const after = await at.current();
    expect(after.seq).toBe(seq + 1);
    expect(eventOf(after)).toMatchObject({ type: 'alarm', builds: [build] });
    expect(eventOf(after)?.text).toContain('39 of 1001 visitors failed in the last 5 minutes, 4 of 817 before');
    const back = await rollback(at.writer, { to: 2, seq, force: true, why: 'an alarm outdates no decision' });
    expect(back.document.seq).toBeGreaterThanOrEqual(seq + 1);
  });

  test('a significant increase of a remote’s failures is reported', async () => {
    const { stable } = await at.current();
    const build = stable?.builds.find((id) => id.startsWith('stories@')) ?? '';
    const seen = { build, set: stable?.set ?? '', candidate: false };
    const before = new Date(Date.now() - 3_600_000);
    await record([
      ...times(1000, { ...seen, failing: false, at: before }),
      ...times(15, { ...seen, failing: true }),
      ...times(85, { ...seen, failing: false }),
    ]);
    expect((await read()).builds[0]).toMatchObject({ alarm: true });
  });
});

describe('health', () => {
  test('one vote per visitor and build counts, also after repetitions', async () => {
    const { stable } = await at.current();
    const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
    const told = { build: 'b', set: stable?.set ?? '', candidate: false } as const;
    for (let n = 0; n < 50; n += 1) recorder.record({ ...told, outcome: 'failed', failure: 'hang' }, 'one');
    recorder.record({ ...told, outcome: 'loaded', loadMilliseconds: 100 }, 'two');
    await recorder.flush();
    const reader = new HealthReader(at.store, 'production');
    for (let again = 0; again < 2; again += 1) {
      const { stable: group } = summarise(await reader.record(''), await at.current());
      expect(group).toEqual({
        visitors: 2,
        failedVisitors: 1,
        loads: 1,
        failures: { hang: 1 },
        p75LoadMilliseconds: 100,
      });
    }
  });

  test('visitors are stored as hashes, files are bounded', async () => {
    const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
    for (let n = 0; n < 5000; n += 1)
      recorder.record({ build: 'b', set: 's', candidate: false, outcome: 'loaded' }, `visitor-${n}`);
    await recorder.flush();
    const [file = ''] = await at.store.list('health/production/');
    const lines = (await at.store.read(file))?.toString().trim().split('\n') ?? [];
    expect(lines).toHaveLength(2000);
    expect(lines.join()).not.toContain('visitor-');
  });

  test('hours older than three days are removed', async () => {
    await at.store.create('health/production/2020-01-01T00/x.ndjson', '');
    await visits({ candidate: false, visitors: 1, failing: 0 });
    expect(await at.store.list('health/production/2020-01-01T00/')).toEqual([]);
  });
});
