import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { readAction } from '../model/action.ts';
import { kill, rollback, withdraw } from '../operations/goingBack.ts';
import { publishLocal } from '../operations/publishLocal.ts';
import { abort, activate, canary, promote } from '../operations/switching.ts';
import { openGate, openTestStore, type TestStore, writeHost, writeRemote } from '../testing/openTestStore.ts';
import { addFreeze, removeFreeze } from './changeAgenda.ts';
import { currentDocument, readLog } from './readChannel.ts';

let at: TestStore;
let next: string;
let id: string;
const open = {
  kind: 'once' as const,
  from: new Date(0).toISOString(),
  to: new Date(Date.now() + 3_600_000).toISOString(),
};
const options = { gate: openGate };

beforeEach(async () => {
  at = await openTestStore();
  await at.activate(await at.host(), await at.remote('stories'), await at.remote('chat'));
  next = await at.remote('stories', '1.1.0');
  await at.activate(next);
  await canary(at.writer, [await at.remote('chat', '1.1.0')], 10, options);
  ({ id } = await addFreeze(at.writer, { window: open, why: 'spring fair' }));
});
afterEach(() => at.remove());

test('the log has no entry for an agenda that cannot be read', async () => {
  const before = await readLog(at.writer, await currentDocument(at.writer), 5);
  await expect(addFreeze(at.writer, { window: open, why: 'x'.repeat(201) })).rejects.toThrow();
  expect(await readLog(at.writer, await currentDocument(at.writer), 5)).toEqual(before);
});

describe('while a freeze window is open', () => {
  test('changes forward are refused with reason, end and cure', async () => {
    const third = await at.remote('stories', '1.2.0');
    const refusal = {
      kind: 'refused',
      message: `production is frozen until ${open.to}: spring fair`,
      cure: expect.stringContaining('--despite-freeze'),
    };
    await expect(activate(at.writer, [third], options)).rejects.toMatchObject(refusal);
    await expect(canary(at.writer, [third], 5, options)).rejects.toMatchObject(refusal);
    await expect(canary(at.writer, [], 20, options)).rejects.toMatchObject(refusal);
    await expect(promote(at.writer, options)).rejects.toMatchObject(refusal);
    expect(await activate(at.after(2 * 3_600_000), [third], options)).toMatchObject({ changed: true });
  });

  test('rollbacks are possible', async () => {
    expect((await canary(at.writer, [], 2, options)).changed).toBe(true);
    expect((await abort(at.writer, {})).changed).toBe(true);
    expect((await rollback(at.writer, { name: 'stories' })).changed).toBe(true);
    expect((await withdraw(at.writer, 'chat', { confirm: 'chat' })).changed).toBe(true);
    expect((await kill(at.writer, next)).changed).toBe(true);
  });

  test('a forced switch is logged with its reason', async () => {
    const { document } = await promote(at.writer, { ...options, despiteFreeze: 'login is broken' });
    expect(readAction(document.action).evidence).toEqual([
      { kind: 'freezeOverridden', freeze: 'spring fair', reason: 'login is broken' },
    ]);
  });

  test('a restart of `npm start` serves the live set', async () => {
    const dists = [await writeHost(at.place(), 'b'), await writeRemote(at.place(), 'stories', 'b')];
    const { changed, problems } = await publishLocal({ dists, store: at.url });
    expect(changed).toBe(false);
    expect(problems.join()).toContain('spring fair');
    expect((await at.current()).stable?.builds).toContain(next);
  });
});

describe('the windows of a channel', () => {
  test('are logged with the person who changes them', async () => {
    await removeFreeze({ ...at.writer, who: 'Li' }, id, { why: 'fair is over' });
    const entries = await readLog(at.writer, await at.current(), 2);
    expect(entries).toMatchObject([
      {
        verb: 'freeze',
        who: 'Li',
        why: 'fair is over',
        action: { evidence: [{ change: 'removed', reason: 'spring fair' }] },
      },
      { verb: 'freeze', who: 'tester', action: { evidence: [{ change: 'added', window: open }] } },
    ]);
    expect((await promote(at.writer, options)).changed).toBe(true);
  });

  test('are all stored when they are added simultaneously', async () => {
    const ids = await Promise.all(
      Array.from({ length: 8 }, (_, n) => addFreeze(at.writer, { window: open, why: `window ${n}` })),
    );
    for (const { id: added } of ids) expect((await removeFreeze(at.writer, added)).changed).toBe(true);
    await expect(removeFreeze(at.writer, 'ffffffff')).rejects.toThrow('there is no freeze window ffffffff');
  });

  test.each([
    ['the same', { window: { ...open }, why: ' spring fair ' }, false],
    ['the same for another reason', { window: open, why: 'summer fair' }, true],
    ['another for the same reason', { window: { ...open, from: new Date(1).toISOString() }, why: 'spring fair' }, true],
  ])('are added once: %s', async (_, request, isAdded) => {
    const { changed, id: added } = await addFreeze(at.writer, request);
    expect([changed, added !== id]).toEqual([isAdded, isAdded]);
    await removeFreeze(at.writer, id);
    const forward = promote(at.writer, options);
    if (isAdded) await expect(forward).rejects.toThrow('is frozen');
    else expect((await forward).changed).toBe(true);
  });

  test('need a reason, an end to come and a zone that exists', async () => {
    const weekly = { kind: 'weekly' as const, from: 0, to: 60, zone: 'Mars/Olympus' };
    await expect(addFreeze(at.writer, { window: open, why: ' ' })).rejects.toThrow('needs a reason');
    await expect(addFreeze(at.writer, { window: weekly, why: 'x' })).rejects.toThrow('is no window');
    const past = { ...open, to: '2020-01-01T00:00:00.000Z' };
    await expect(addFreeze(at.writer, { window: past, why: 'x' })).rejects.toThrow('already');
  });
});
