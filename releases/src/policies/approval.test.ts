import { HOUR_MS } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { addFreeze, readAgenda } from '../channel/changeAgenda.ts';
import { createChannel } from '../channel/changeChannel.ts';
import { channelKey, readLog } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { HealthReader } from '../health/healthRecord.ts';
import { personNamed } from '../model/agenda.ts';
import { kill, rollback, withdraw } from '../operations/goingBack.ts';
import { promoteFrom, sourceIn } from '../operations/promoteFrom.ts';
import { abort, activate, canary, type Gate, promote } from '../operations/switching.ts';
import { actorOf } from '../operations/tokens.ts';
import { openReleases } from '../serve/openReleases.ts';
import type { Store } from '../store/store.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { recordVisits } from '../testing/visits.ts';
import { viewAgenda } from './agendaView.ts';
import { approve, type RequestOutcome, reject, settleProposals, submit } from './approval.ts';
import { steerSchedule, takeDueSteps } from './schedule.ts';
import { eventOf } from './webhookEvents.ts';

const AGENDA = 'agendas/production.json';

let at: TestStore;
let first: string;
let next: string;
const options = { gate: openGate };

beforeEach(async () => {
  at = await openTestStore();
  first = await at.remote('stories');
  await at.activate(await at.host(), first, await at.remote('chat'));
  next = await at.remote('stories', '1.1.0');
  await submit(as('Li'), { verb: 'approval', hours: 24 }, options);
});
afterEach(() => at.remove());

const as = (name: string, writer: Writer = at.writer): Writer => ({
  ...writer,
  who: `${name} (token)`,
  actor: { person: personNamed([name]), token: null, isManager: true },
});
const activation = (build = next) => ({ verb: 'activate' as const, builds: [build], why: 'new feed' });
const propose = async (who = 'Li', request: Parameters<typeof submit>[1] = activation(), writer?: Writer) =>
  idOf(await submit(as(who, writer), request, options));
function idOf({ proposal, changed }: RequestOutcome): string {
  expect(changed).toBe(false);
  if (!proposal) throw new Error('nothing waits');
  return proposal.id;
}
const agree = (who: string, id: string, gate: Gate = openGate, writer?: Writer) =>
  approve(as(who, writer), { id, why: 'looked at it' }, gate);
const live = async () => (await at.current()).stable?.builds ?? [];
const waiting = async () => (await readAgenda(at.writer)).proposals;
const log = async (limit = 2) => readLog(at.writer, await at.current(), limit);
const verbs = async (limit: number) => (await log(limit)).map(({ verb }) => verb);
const view = async (who: string, writer?: Writer) =>
  viewAgenda(as(who, writer), new HealthReader(at.store, 'production'), await at.current());

describe('with a two-person rule', () => {
  test('an approval whose proposal cannot be removed any more has happened', async () => {
    const id = await propose();
    const said = rs.spyOn(console, 'error').mockImplementation(() => {});
    expect((await agree('Wang', id, openGate, at.filling())).changed).toBe(true);
    expect(said.mock.calls.at(-1)).toEqual([expect.stringContaining(`proposal ${id} could not follow`)]);
    said.mockRestore();
    expect(await live()).toContain(next);
    await settleProposals(at.after(120_000));
    expect(await waiting()).toEqual([]);
  });

  test('a change forward waits, and is live with both names after the approval', async () => {
    const id = await propose();
    expect(await live()).toContain(first);
    expect((await view('Wang')).proposals).toMatchObject([
      {
        id,
        by: 'Li (token)',
        own: false,
        outdated: false,
        builds: [next],
        changes: [{ name: 'stories', from: first, to: next }],
        before: expect.stringMatching(/^[0-9a-f]{64}$/),
        after: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect((await view('Li')).proposals).toMatchObject([{ own: true }]);
    expect(await agree('Wang', id)).toMatchObject({ changed: true });
    expect(await live()).toContain(next);
    expect(await waiting()).toEqual([]);
    expect(await log(3)).toMatchObject([
      {
        verb: 'proposal',
        who: 'Wang (token)',
        why: 'looked at it',
        action: { evidence: [{ id, change: 'approved' }] },
      },
      {
        verb: 'activate',
        who: 'Wang (token)',
        why: 'new feed',
        action: { evidence: [{ kind: 'approved', proposal: id, by: 'Li (token)' }] },
      },
      { verb: 'proposal', who: 'Li (token)', action: { builds: [next], evidence: [{ id, change: 'proposed' }] } },
    ]);
  });

  test('every change forward waits, and rollbacks do not', async () => {
    const second = await at.remote('chat', '1.1.0');
    await agree('Wang', await propose('Li', { verb: 'canary', builds: [second], percent: 5 }));
    expect((await at.current()).candidate?.percent).toBe(5);
    await propose('Li', { verb: 'canary', builds: [], percent: 25 });
    await propose('Li', { verb: 'promote' });
    await propose('Li', { verb: 'schedule', builds: [], steps: '25@1h,100@4h' });
    await propose();
    expect((await submit(as('Li'), { verb: 'canary', builds: [], percent: 2 }, options)).changed).toBe(true);
    expect((await abort(as('Li'), {})).changed).toBe(true);
    await agree('Wang', await propose('Li', activation(await at.remote('stories', '1.2.0'))));
    expect((await rollback(as('Li'), { name: 'stories' })).changed).toBe(true);
    expect((await kill(as('Li'), next)).changed).toBe(true);
    expect((await withdraw(as('Li'), 'chat', { confirm: 'chat' })).changed).toBe(true);
  });

  test('an operation without an approval is refused', async () => {
    const refusal = { kind: 'refused', message: expect.stringContaining('two persons decide') };
    await expect(activate(at.writer, [next], options)).rejects.toMatchObject(refusal);
    await expect(canary(at.writer, [next], 5, options)).rejects.toMatchObject(refusal);
    expect(await live()).toContain(first);
  });

  test('the proposer cannot approve, neither with another token nor in another spelling', async () => {
    const id = await propose('Li Hua');
    for (const name of ['Li Hua', ' li  HUA', 'Ｌｉ Hua'])
      await expect(agree(name, id)).rejects.toMatchObject({
        kind: 'forbidden',
        message: expect.stringContaining('own'),
      });
    const token = { role: 'manager' as const, name: null, id: '0123456789ab', label: 'laptop', person: 'Li Hua' };
    const session = { role: 'manager' as const, name: null, id: 'sub-1', label: 'Li Hua', more: [] };
    for (const caller of [token, session])
      await expect(approve({ ...at.writer, actor: actorOf(caller) }, { id }, openGate)).rejects.toMatchObject({
        kind: 'forbidden',
      });
    const nobody = actorOf({ ...token, label: ' ', person: undefined });
    await expect(approve({ ...at.writer, actor: nobody }, { id }, openGate)).rejects.toMatchObject({
      kind: 'forbidden',
      cure: expect.stringContaining('--person'),
    });
    expect(await live()).toContain(first);
  });

  test('two accounts with the same display name are two persons', async () => {
    const session = (id: string) => ({ role: 'manager' as const, name: null, id, label: 'Li Hua', more: [] });
    const writerOf = (id: string) => ({ ...at.writer, who: `Li Hua (${id})`, actor: actorOf(session(id)) });
    const id = idOf(await submit(writerOf('a1'), activation(), options));
    await expect(approve(writerOf('a1'), { id }, openGate)).rejects.toMatchObject({ kind: 'forbidden' });
    expect((await approve(writerOf('b2'), { id }, openGate)).changed).toBe(true);
  });

  test('the gate runs on the proposal and again on the approval', async () => {
    const refusing: Gate = async () => [{ check: 'routes', problem: 'taken twice' }];
    await expect(submit(as('Li'), activation(), { gate: refusing })).rejects.toMatchObject({
      details: ['routes: taken twice'],
    });
    expect(await waiting()).toEqual([]);
    const id = await propose();
    await expect(agree('Wang', id, refusing)).rejects.toMatchObject({ details: ['routes: taken twice'] });
    expect(await live()).toContain(first);
    expect((await agree('Wang', id)).changed).toBe(true);
  });

  test('a proposal for an outdated state must be repeated', async () => {
    const id = await propose();
    const other = await propose('Li', activation(await at.remote('chat', '1.1.0')));
    await agree('Wang', other);
    expect((await view('Wang')).proposals).toMatchObject([{ id, outdated: true }]);
    await propose('Li', activation(await at.remote('chat', '1.2.0')));
    await expect(agree('Wang', id)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/last by Wang \(token\)$/),
      cure: expect.stringContaining('propose it again'),
    });
    expect((await agree('Wang', await propose())).changed).toBe(true);
  });

  test('a promotion is approved with the set at the proposal', async () => {
    const preview = { ...at.writer, channel: 'preview' };
    await createChannel(preview);
    await activate(preview, await live(), options);
    await activate(preview, [next], options);
    const id = await propose('Li', { verb: 'promote', from: 'preview', name: 'stories' });
    await activate(preview, [await at.remote('stories', '1.3.0')], options);
    await expect(agree('Wang', id)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('else'),
    });
    expect(
      (await agree('Wang', await propose('Li', { verb: 'promote', from: 'preview', name: 'stories' }))).changed,
    ).toBe(true);
    await expect(
      promoteFrom(at.writer, { from: sourceIn(at.writer, 'preview'), gate: openGate }),
    ).resolves.toMatchObject({ changed: false });
  });

  test('simultaneous approvals apply a proposal once; a simultaneous rejection excludes the approval', async () => {
    const id = await propose();
    const ends = await Promise.allSettled(['Wang', 'Zhao', 'Sun', 'Qian'].map((who) => agree(who, id)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await verbs(20)).filter((verb) => verb === 'activate')).toHaveLength(2);
    await rollback(as('Li'), { name: 'stories' });
    const again = await propose();
    const both = await Promise.allSettled([agree('Wang', again), reject(as('Zhao'), { id: again })]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await waiting()).toEqual([]);
  });

  test('a proposal is rejected by another person, withdrawn by its own, or expires after a day', async () => {
    const id = await propose();
    await expect(reject(as('Wang'), { id }, { own: true })).rejects.toMatchObject({ kind: 'forbidden' });
    await reject(as('Wang'), { id, why: 'not on a Friday' });
    expect(await log(1)).toMatchObject([
      { why: 'not on a Friday', action: { evidence: [{ id, change: 'rejected' }] } },
    ]);
    await expect(agree('Wang', id)).rejects.toThrow(`there is no proposal ${id}`);
    const own = await propose();
    await reject(as('Li'), { id: own }, { own: true });
    expect(await log(1)).toMatchObject([{ action: { evidence: [{ id: own, change: 'withdrawn' }] } }]);
    const late = await propose();
    const tomorrow = at.after(25 * HOUR_MS);
    await expect(agree('Wang', late, openGate, tomorrow)).rejects.toThrow('expired');
    expect((await view('Wang', tomorrow)).proposals).toEqual([]);
    await settleProposals({ ...tomorrow, who: 'console' });
    await settleProposals({ ...tomorrow, who: 'console' });
    expect(await log(2)).toMatchObject([
      { action: { evidence: [{ id: late, change: 'expired' }] } },
      { action: { evidence: [{ id: late, change: 'proposed' }] } },
    ]);
    expect(await live()).toContain(first);
  });

  test('webhooks get each decision with its person', async () => {
    const event = async () => eventOf(await at.current());
    const id = await propose();
    const told = { builds: [next], text: expect.stringContaining(id) };
    expect(await event()).toMatchObject({ ...told, type: 'proposed', who: 'Li (token)', why: 'new feed' });
    await reject(as('Wang'), { id });
    expect(await event()).toMatchObject({ ...told, type: 'rejected', who: 'Wang (token)' });
    const again = await propose();
    await agree('Wang', again);
    expect(await event()).toMatchObject({
      type: 'approved',
      who: 'Wang (token)',
      text: expect.stringContaining(again),
    });
  });

  test('a proposal cannot be repeated', async () => {
    const id = await propose();
    await expect(propose('Zhao')).rejects.toThrow(`waits as ${id}`);
  });

  test('forcing a freeze window also needs two persons', async () => {
    const to = new Date(Date.now() + HOUR_MS).toISOString();
    await addFreeze(at.writer, { window: { kind: 'once', from: new Date(0).toISOString(), to }, why: 'fair' });
    await expect(propose()).rejects.toThrow('is frozen');
    const id = await propose('Li', { ...activation(), despiteFreeze: 'login is broken' });
    expect(await live()).toContain(first);
    await agree('Wang', id);
    expect((await log(2))[1]?.action.evidence).toMatchObject([
      { kind: 'approved' },
      { kind: 'freezeOverridden', reason: 'login is broken' },
    ]);
  });
});

describe('the two-person rule', () => {
  test('is changed or removed by two persons', async () => {
    for (const hours of [null, 48]) {
      const id = await propose('Li', { verb: 'approval', hours });
      expect((await at.current()).approval).toMatchObject({ hours: 24, by: 'Li (token)' });
      await reject(as('Wang'), { id });
    }
    const id = await propose('Li', { verb: 'approval', hours: null });
    await expect(agree('li', id)).rejects.toMatchObject({ kind: 'forbidden' });
    await agree('Wang', id);
    expect((await at.current()).approval).toBeUndefined();
    expect((await activate(as('Li'), [next], options)).changed).toBe(true);
  });

  test('is preserved by every change, and readers continue', async () => {
    await agree('Wang', await propose());
    await rollback(as('Li'), { to: 2 });
    await kill(as('Li'), next);
    expect((await at.current()).approval).toMatchObject({ hours: 24 });
    const releases = await openReleases({ store: at.url });
    expect((await releases.current()).stable?.builds).toContain(first);
  });

  test('is not removed by restoring an older channel or agenda', async () => {
    const agendaBefore = await at.store.readPointer(AGENDA);
    const id = await propose();
    const withProposal = await at.store.readPointer(AGENDA);
    await reject(as('Wang'), { id });
    const now = await at.store.readPointer(AGENDA);
    await at.store.swapPointer(AGENDA, withProposal?.body ?? '', now?.tag ?? null);
    expect(await waiting()).toHaveLength(1);
    await expect(agree('Zhao', id)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('rejected by Wang'),
    });
    expect(agendaBefore).toBeNull();
    const old = (await at.store.read('audit/production/2.json'))?.toString() ?? '';
    const pointer = await at.store.readPointer(channelKey('production'));
    await at.store.swapPointer(channelKey('production'), old, pointer?.tag ?? null);
    await expect(activate(as('Li'), [next], options)).rejects.toThrow('an old document was put back');
  });
});

test('a switch that was asked as a proposal is a conflict once one person decides alone', async () => {
  const { seq } = await at.current();
  await agree('Wang', await propose('Li', { verb: 'approval', hours: null }));
  await expect(submit(as('Li'), activation(), { ...options, seq })).rejects.toThrow(/is at state/);
  expect(await live()).not.toContain(next);
  await submit(as('Li'), activation(), { ...options, seq: (await at.current()).seq });
  expect(await live()).toContain(next);
});

describe('a process that crashes during an approval', () => {
  /** Fails swaps of the agenda, but not of the channel. */
  const dying = (writer: Writer): Writer => {
    const swapPointer: Store['swapPointer'] = async (key, body, tag) => {
      if (key === AGENDA) throw new Error('killed');
      return writer.store.swapPointer(key, body, tag);
    };
    const store = new Proxy(writer.store, {
      get: (target, name) => (name === 'swapPointer' ? swapPointer : Reflect.get(target, name).bind?.(target)),
    });
    return { ...writer, store };
  };
  const settle = () => settleProposals({ ...at.after(HOUR_MS), who: 'console' });

  test('after the switch: it is reported once, with the approver’s name', async () => {
    const id = await propose();
    await expect(agree('Wang', id, openGate, dying(at.writer))).rejects.toThrow('killed');
    expect(await live()).toContain(next);
    await expect(agree('Zhao', id)).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('approved by Wang'),
    });
    await settle();
    await settle();
    expect(await waiting()).toEqual([]);
    const told = (await log(20)).filter(({ action }) =>
      action.evidence.some((each) => each.kind === 'proposal' && each.change === 'approved'),
    );
    expect(told).toMatchObject([{ who: 'Wang (token)' }]);
  });

  test('before the schedule is written: nothing is planned, and this is reported', async () => {
    const id = await propose('Li', { verb: 'schedule', builds: [next], steps: '5@now,100@1h' });
    await expect(agree('Wang', id, openGate, dying(at.writer))).rejects.toThrow('killed');
    await settle();
    expect((await view('Wang')).schedules).toEqual([]);
    expect(await waiting()).toEqual([]);
    expect(await log(1)).toMatchObject([{ action: { evidence: [{ id, change: 'interrupted' }] } }]);
  });
});

describe('a schedule', () => {
  const look = (hours: number) =>
    takeDueSteps(at.after(hours * HOUR_MS), new HealthReader(at.store, 'production'), async () => openGate);
  const visits = () => recordVisits(at, { tried: [40, 0], control: [40, 0] }, new Date(Date.now() + HOUR_MS / 2));
  const planned = async () => (await readAgenda(at.writer)).schedules;

  test('approved by two persons takes its steps without further approval', async () => {
    await agree(
      'Wang',
      await propose('Li', { verb: 'schedule', builds: [next], steps: '5@now,25@1h,100@2h', enough: 1 }),
    );
    await look(0.01);
    expect((await at.current()).candidate?.percent).toBe(5);
    await visits();
    await look(1.1);
    expect((await at.current()).candidate?.percent).toBe(25);
    expect((await log(1))[0]?.action.evidence).toMatchObject([
      { kind: 'approved', by: 'Wang (token)' },
      { kind: 'step', step: 2 },
      {},
      {},
    ]);
  });

  test('that was cancelled and is restored takes no step', async () => {
    await agree('Wang', await propose('Li', { verb: 'schedule', builds: [next], steps: '5@1h,100@2h' }));
    const before = await at.store.readPointer(AGENDA);
    await steerSchedule(as('Li'), 'cancel', {});
    const now = await at.store.readPointer(AGENDA);
    await at.store.swapPointer(AGENDA, before?.body ?? '', now?.tag ?? null);
    await look(1.1);
    expect((await at.current()).candidate).toBeNull();
    expect(await planned()).toMatchObject([{ paused: { refusal: expect.stringContaining('cancelled') } }]);
  });

  test('made by one person pauses under the two-person rule', async () => {
    await agree('Wang', await propose('Li', { verb: 'approval', hours: null }));
    await submit(as('Li'), { verb: 'schedule', builds: [next], steps: '5@now,100@1h' }, options);
    await submit(as('Li'), { verb: 'approval', hours: 24 }, options);
    await visits();
    await look(1.1);
    expect((await at.current()).candidate?.percent).toBe(5);
    expect(await planned()).toMatchObject([{ paused: { refusal: expect.stringContaining('two decide by now') } }]);
    await expect(promote(at.writer, options)).rejects.toMatchObject({ kind: 'refused' });
  });
});
