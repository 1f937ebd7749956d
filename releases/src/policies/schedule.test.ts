import { HOUR_MS } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { Catalog } from '../builds/catalog.ts';
import { addFreeze, readAgenda } from '../channel/changeAgenda.ts';
import { auditKey, readLog } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { findingLine } from '../english.ts';
import { unreachable } from '../errors.ts';
import { HealthReader } from '../health/healthRecord.ts';
import { personNamed } from '../model/agenda.ts';
import { candidatesOf } from '../model/channel.ts';
import { parseSteps } from '../model/steps.ts';
import { kill, rollback } from '../operations/goingBack.ts';
import { abort, activate, canary, type Gate, promote } from '../operations/switching.ts';
import { createToken, revokeToken } from '../operations/tokens.ts';
import { createSentenceParser, say } from '../sentences.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { recordVisits } from '../testing/visits.ts';
import { viewAgenda } from './agendaView.ts';
import { schedule, steerSchedule, takeDueSteps } from './schedule.ts';
import { eventOf } from './webhookEvents.ts';

const FINE: Parameters<typeof recordVisits>[1] = { tried: [40, 0], control: [40, 0] };

let at: TestStore;
let next: string;
beforeEach(async () => {
  at = await openTestStore();
  await at.activate(await at.host(), await at.remote('stories'), await at.remote('chat'));
  next = await at.remote('stories', '1.1.0');
});
afterEach(() => at.remove());

const plan = (steps: string, parts: object = {}, writer = at.writer) =>
  schedule(writer, { builds: [next], steps: parseSteps(steps), ...parts }, openGate);

/** Takes due steps as a server does in so many hours. */
const look = (hours: number, gate: Gate = openGate) => lookAs(at.after(hours * HOUR_MS), gate);
const lookAs = (writer: Writer, gate: Gate = openGate) =>
  takeDueSteps(writer, new HealthReader(at.store, 'production'), async () => gate);

const share = async () => (await at.current()).candidate?.percent ?? null;
const planned = async () => (await readAgenda(at.writer)).schedules;
const log = async () => readLog(at.writer, await at.current(), 50);
const view = async (hours: number) =>
  viewAgenda(at.after(hours * HOUR_MS), new HealthReader(at.store, 'production'), await at.current());
/** Records visitors in so many hours from now. */
const visits = (groups: Parameters<typeof recordVisits>[1] = FINE, hours = 0) =>
  recordVisits(at, groups, new Date(Date.now() + hours * HOUR_MS));

describe('the steps of a schedule', () => {
  test('run on time while the candidate is healthy, up to everyone, each with a log entry', async () => {
    await plan('5@now,25@1h,100@4h', { why: 'overnight' });
    expect(await share()).toBe(5);
    await visits();
    await look(0.9);
    expect(await share()).toBe(5);
    await look(1.1);
    expect(await share()).toBe(25);
    await look(1.2);
    expect(await share()).toBe(25);
    await visits(FINE, 1.5);
    await look(4.2);
    const { stable, candidate } = await at.current();
    expect(candidate).toBeNull();
    expect(stable?.builds).toContain(next);
    expect(await planned()).toEqual([]);
    const entries = await log();
    expect(entries.slice(0, 2)).toMatchObject([
      { verb: 'promote', who: 'schedule of tester', why: 'overnight' },
      { verb: 'canary', who: 'schedule of tester', action: { percent: 25 } },
    ]);
    expect(entries[0]?.action.evidence).toMatchObject([
      { kind: 'step', step: 3, of: 3, by: 'tester' },
      { kind: 'health', group: 'candidate', visitors: 40 },
      { kind: 'health', group: 'control' },
    ]);
  });

  test('that could not be stored after the first one are reported as such, with the state of that one', async () => {
    const failure = plan('5@now,25@1h', {}, at.filling());
    await expect(failure).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining(
        'the first step was applied, in state 3, but the steps after it could not be stored',
      ),
      cure: expect.stringContaining('schedule'),
    });
    expect([await share(), await planned()]).toEqual([5, []]);
  });

  test('wait for enough reports since the previous step, with one note in log and status', async () => {
    await plan('5@now,25@1h,50@2h');
    await visits({ tried: [12, 0], control: [40, 0] });
    await look(1.1);
    await look(1.2);
    expect(await share()).toBe(5);
    expect((await log()).filter(({ verb }) => verb === 'schedule').map(({ action }) => action.evidence)).toMatchObject([
      [{ change: 'waits' }, { kind: 'tooFew', tried: 12, control: 40, enough: 30 }, {}, {}],
      [{ change: 'set' }],
    ]);
    expect((await view(1.2)).schedules).toMatchObject([
      { name: 'stories', taken: 1, next: { percent: 25 }, waiting: { kind: 'tooFew', tried: 12 } },
    ]);
    await visits({ tried: [30, 0], control: [0, 0] });
    await look(3);
    expect(await share()).toBe(25);
    // earlier reports do not count for the next step, and the interval of an hour is kept
    await look(3.5);
    expect((await view(4.2)).schedules[0]).toMatchObject({ taken: 2, waiting: { kind: 'tooFew', tried: 0 } });
    expect((await view(3.5)).schedules[0]).toMatchObject({ waiting: null });
  });

  test('wait for enough reports after a change of the host', async () => {
    await plan('5@now,25@1h,50@2h');
    await visits();
    await at.activate(await at.host('2.0.0'));
    await at.activate(await at.remote('chat', '1.1.0'));
    await look(1.1);
    expect((await view(1.1)).schedules[0]?.waiting).toMatchObject({ kind: 'tooFew', tried: 0, control: 0 });
    await visits(FINE, 1.2);
    await look(1.3);
    expect(await share()).toBe(25);
    // the host was there before this step
    await at.activate(await at.remote('chat', '1.2.0'));
    await visits(FINE, 1.5);
    await look(2.4);
    expect(await share()).toBe(50);
  });

  test('wait for enough reports since the set changed if the audit is damaged', async () => {
    await plan('5@now,25@1h');
    await visits();
    await at.activate(await at.remote('chat', '1.1.0'));
    const { previous } = await at.current();
    await at.store.remove(auditKey('production', previous?.seq ?? 0));
    expect((await view(1.1)).schedules[0]?.waiting).toMatchObject({ kind: 'tooFew', tried: 0 });
  });

  test('wait while failures are significant but below the automatic stop', async () => {
    await plan('5@now,25@1h');
    await visits({ tried: [40, 4], control: [400, 2] });
    await look(1.1);
    expect(await share()).toBe(5);
    expect((await view(1.1)).schedules[0]?.waiting).toMatchObject({ kind: 'failing', limit: 0.01 });
  });

  test('run once although many servers check simultaneously', async () => {
    await plan('5@now,25@1h,50@2h');
    await visits();
    const { seq } = await at.current();
    await Promise.all(Array.from({ length: 6 }, () => look(1.1)));
    expect(await share()).toBe(25);
    expect((await log()).filter(({ verb, seq: of }) => verb === 'canary' && of > seq)).toHaveLength(1);
    expect(await planned()).toMatchObject([{ taken: 2, share: 25 }]);
  });

  test('are not repeated after a server crash', async () => {
    await plan('5@now,25@1h,50@2h');
    const [before] = await planned();
    const evidence = [{ kind: 'step' as const, step: 2, of: 3, by: 'tester' }];
    await canary(at.writer, [next], 25, { gate: openGate, evidence });
    expect(before).toMatchObject({ taken: 1 });
    await visits();
    await look(1.1);
    expect(await share()).toBe(25);
    expect(await planned()).toMatchObject([{ taken: 2, share: 25 }]);
  });

  test('pause when their token is revoked, until a manager takes over', async () => {
    const { record } = await createToken(at.store, at.key, {
      grant: 'deployer:stories',
      label: 'CI',
      by: 'x',
      days: null,
    });
    const person = personNamed(['CI']);
    const maker = { ...at.writer, actor: { person, token: record.id, isManager: false } };
    await plan('5@now,25@1h', {}, maker);
    await visits();
    await look(0.1);
    expect((await view(0.1)).schedules[0]?.paused).toBeNull();
    await revokeToken(at.store, at.key, record.id);
    await look(1.1);
    await look(1.2);
    expect(await share()).toBe(5);
    const { refusal = '' } = (await view(1.2)).schedules[0]?.paused ?? {};
    expect(createSentenceParser()(refusal)).toEqual({ kind: 'makerRevoked', values: { by: 'tester' } });
    expect(eventOf(await at.current())).toMatchObject({
      type: 'scheduleWaiting',
      text: expect.stringContaining('revoked'),
    });
    const deployer = { ...at.after(1.3 * HOUR_MS), actor: { person, token: 'ffffffffffff', isManager: false } };
    await expect(steerSchedule(deployer, 'continue', {})).rejects.toMatchObject({ kind: 'forbidden' });
    await steerSchedule(at.after(1.3 * HOUR_MS), 'continue', {});
    await look(1.4);
    expect(await share()).toBe(25);
  });

  test('can start later, and continue from a running candidate', async () => {
    await plan('5@2h,25@3h');
    expect(await share()).toBeNull();
    await look(2.1);
    expect(await share()).toBe(5);
    await steerSchedule(at.writer, 'cancel', {});
    await schedule(at.writer, { builds: [], name: 'stories', steps: parseSteps('10@1h') }, openGate);
    await visits();
    await look(1.1);
    expect(await share()).toBe(10);
    expect(await planned()).toEqual([]);
  });

  test('pause if the gate refuses one, and retry it on resuming', async () => {
    await plan('5@now,100@1h');
    await visits();
    // more than there is room for: each is said whole or left out
    const problem = say('onPage', { path: '/my', seen: say('threw', { message: 'x'.repeat(150) }) });
    const refusing: Gate = async () => Array.from({ length: 4 }, () => ({ check: 'headless smoke', problem }));
    await look(1.1, refusing);
    await look(1.2, refusing);
    const { refusal = '' } = (await view(1.2)).schedules[0]?.paused ?? {};
    const finding = findingLine({ check: 'headless smoke', problem });
    expect(refusal.split('; ')).toEqual([say('gateRefused'), finding, finding]);
    expect((await log()).filter(({ verb }) => verb === 'schedule')).toHaveLength(2);
    await steerSchedule(at.after(1.3 * HOUR_MS), 'continue', {});
    await look(1.4);
    expect((await at.current()).stable?.builds).toContain(next);
  });

  test('do not run early by a clock that is a year wrong, and others can continue', async () => {
    await plan('5@now,25@1h');
    await visits();
    await lookAs(at.withClock(365 * 24 * HOUR_MS));
    expect(await share()).toBe(5);
    expect(await planned()).toMatchObject([{ taken: 1, told: [] }]);
    await look(1.1);
    expect(await share()).toBe(25);
  });
});

describe('an interrupted schedule', () => {
  const CHANGES: [string, () => Promise<unknown>][] = [
    ['a stop', () => abort(at.writer, { name: 'stories' })],
    ['a rollback', async () => rollback(at.writer, { name: 'stories' })],
    ['a ban', () => kill(at.writer, next)],
    ['another build of the remote', async () => at.activate(await at.remote('stories', '1.2.0'))],
    ['a share set by hand', () => canary(at.writer, [next], 2, { gate: openGate })],
  ];
  test.each(CHANGES)('ends by %s', async (_, change) => {
    await at.activate(await at.remote('stories', '1.0.1'));
    await plan('5@now,25@1h');
    await visits();
    await change();
    const { seq } = await at.current();
    expect((await view(1.1)).schedules).toEqual([]);
    await look(1.1);
    await look(1.2);
    expect(await share()).not.toBe(25);
    expect(await planned()).toEqual([]);
    expect((await log()).filter((entry) => entry.seq > seq)).toMatchObject([
      { verb: 'schedule', action: { evidence: [{ change: 'ended', taken: 1 }] } },
    ]);
  });

  const BY_HAND: [string, string, () => Promise<unknown>][] = [
    ['of a running one', '5@now,25@1h,50@2h', async () => canary(at.writer, [next], 25, { gate: openGate })],
    ['of one that begins later', '5@1h,50@2h', async () => canary(at.writer, [next], 5, { gate: openGate })],
    [
      'of a paused one',
      '5@now,25@1h,50@2h',
      async () => {
        await steerSchedule(at.writer, 'pause', {});
        await canary(at.writer, [next], 25, { gate: openGate });
      },
    ],
    [
      "with another team's switch after it",
      '5@now,25@1h,50@2h',
      async () => {
        await canary(at.writer, [next], 25, { gate: openGate });
        await at.activate(await at.remote('chat', '1.1.0'));
      },
    ],
  ];
  test.each(BY_HAND)('ends when its next share is set by hand: %s', async (_, steps, change) => {
    await plan(steps);
    await change();
    await visits();
    const byHand = await share();
    await look(1.1);
    await look(2.2);
    expect(await share()).toBe(byHand);
    expect(await planned()).toEqual([]);
    expect((await log())[0]?.action.evidence).toMatchObject([{ kind: 'schedule', change: 'ended' }]);
  });

  test('ends before its first step by a newer candidate of the remote, but not by one that existed when it was planned', async () => {
    const [former, newer] = [await at.remote('stories', '1.0.5'), await at.remote('stories', '1.2.0')];
    await canary(at.writer, [former], 1, { gate: openGate });
    await plan('5@1h,50@2h');
    expect((await view(0.5)).schedules).toHaveLength(1);
    await canary(at.writer, [newer], 2, { gate: openGate });
    expect((await view(0.5)).schedules).toEqual([]);
    await look(1.1);
    expect((await at.current()).candidate).toMatchObject({ builds: [newer], percent: 2 });
    expect(await planned()).toEqual([]);
    await plan('10@1h', { builds: [newer] });
  });

  test('does not delay other schedules when it fails', async () => {
    await plan('5@1h,50@2h');
    const chat = await at.remote('chat', '1.1.0');
    await plan('5@1h,50@2h', { builds: [chat] });
    const judging: Gate = async (proposal) => {
      if (JSON.stringify(proposal).includes(next)) throw unreachable('the gate is away');
      return [];
    };
    await expect(look(1.1, judging)).rejects.toThrow('the gate is away');
    expect(candidatesOf(await at.current())).toMatchObject([{ builds: [chat], percent: 5 }]);
  });

  test('continues after another team’s switch, and ends silently by a manual promote', async () => {
    await plan('5@now,25@1h,50@2h');
    await at.activate(await at.remote('chat', '1.1.0'));
    await visits();
    await look(1.1);
    expect(await share()).toBe(25);
    await promote(at.writer, { gate: openGate });
    const { seq } = await at.current();
    await look(2.2);
    expect((await at.current()).seq).toBe(seq);
    expect(await planned()).toEqual([]);
  });

  test('keeps its remaining time during a pause; a cancelled one keeps the share', async () => {
    await plan('5@now,25@1h');
    await visits();
    await steerSchedule(at.after(0.5 * HOUR_MS), 'pause', { why: 'support is off' });
    await look(3);
    expect(await share()).toBe(5);
    expect((await view(3)).schedules[0]?.paused).toMatchObject({ by: 'tester', refusal: '' });
    await steerSchedule(at.after(3 * HOUR_MS), 'continue', {});
    await look(3.4);
    expect(await share()).toBe(5);
    await look(3.6);
    expect(await share()).toBe(25);
    await plan('50@1h', { builds: [] });
    await steerSchedule(at.writer, 'cancel', { name: 'stories' });
    await look(9);
    expect(await share()).toBe(25);
    expect((await log()).map(({ verb }) => verb)).not.toContain('abort');
  });

  test('waits until a freeze window has ended', async () => {
    await plan('5@now,25@1h');
    await visits();
    const to = new Date(Date.now() + 2 * HOUR_MS).toISOString();
    const window = { kind: 'once' as const, from: new Date(0).toISOString(), to };
    await addFreeze(at.writer, { window, why: 'fair' });
    await look(1.1);
    expect(await share()).toBe(5);
    expect((await view(1.1)).schedules[0]?.waiting).toMatchObject({ kind: 'frozen', reason: 'fair', until: to });
    await look(2.1);
    expect(await share()).toBe(25);
  });
});

test('a freeze that is set while the gate judges a step delays it, and pauses nothing', async () => {
  await plan('5@now,100@1h');
  await visits();
  const to = new Date(Date.now() + 2 * HOUR_MS).toISOString();
  const window = { kind: 'once' as const, from: new Date(0).toISOString(), to };
  await look(1.1, async () => {
    await addFreeze(at.writer, { window, why: 'fair' });
    return [];
  });
  expect([await share(), (await view(1.1)).schedules[0]]).toMatchObject([
    5,
    { paused: null, waiting: { kind: 'frozen' } },
  ]);
  await look(2.1);
  expect((await at.current()).stable?.builds).toContain(next);
});

describe('refused schedules', () => {
  test('of a candidate that ended meanwhile, which does not begin again', async () => {
    await canary(at.writer, [next], 1, { gate: openGate });
    class AbortingCatalog extends Catalog {
      override async record(id: string) {
        if ((await share()) === 1) await abort(at.writer, {});
        return super.record(id);
      }
    }
    const writer = { ...at.writer, catalog: new AbortingCatalog(at.store) };
    await expect(plan('5@now,25@1h', { builds: [] }, writer)).rejects.toThrow('the candidate was changed meanwhile');
    expect([await share(), await planned()]).toEqual([null, []]);
  });

  test('of what another person schedules in the same second say so, even if theirs was the first step', async () => {
    const both = await Promise.allSettled([plan('5@now,25@1h'), plan('5@now,25@1h')]);
    const refusals = both.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(refusals).toMatchObject([
      { message: expect.stringMatching(/stories has a schedule already/), cure: expect.stringMatching(/^Cancel it/) },
    ]);
    expect(await planned()).toHaveLength(1);
  });

  test('a second schedule of the same remote, a smaller share, all visitors in one step, and a missing build', async () => {
    await expect(plan('100@1h')).rejects.toThrow('no candidate to judge');
    await expect(plan('5@1h', { builds: ['stories@9.9.9+000000000000'] })).rejects.toMatchObject({ kind: 'refused' });
    await plan('5@now,25@1h');
    await expect(plan('50@1h')).rejects.toThrow('has a schedule already');
    await steerSchedule(at.writer, 'cancel', {});
    await expect(plan('3@1h')).rejects.toThrow('runs for 5 %');
  });

  test('a damaged agenda takes no step, allows rollbacks, and is reported', async () => {
    await activate(at.writer, [next], { gate: openGate });
    const agenda = await at.store.readPointer('agendas/production.json');
    await at.store.swapPointer('agendas/production.json', '{"forged":true}', agenda?.tag ?? null);
    await expect(look(1)).rejects.toThrow('is damaged');
    expect((await view(0)).problem).toContain('is damaged');
    await expect(canary(at.writer, [await at.remote('chat', '1.1.0')], 5, { gate: openGate })).rejects.toThrow(
      'damaged',
    );
    expect((await rollback(at.writer, { name: 'stories' })).changed).toBe(true);
  });
});
