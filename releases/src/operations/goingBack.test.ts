import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@rstest/core';
import { Catalog } from '../builds/catalog.ts';
import { changeChannel } from '../channel/changeChannel.ts';
import { auditKey, readLog } from '../channel/readChannel.ts';
import { actionLine, evidenceLines } from '../english.ts';
import type { Action } from '../model/action.ts';
import { buildFolder } from '../model/build.ts';
import { candidatesOf, stateOf } from '../model/channel.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { effectOfKill, kill, rollback, withdraw } from './goingBack.ts';
import { activate, canary } from './switching.ts';

let at: TestStore;
let host: string;
let stories: string[];
let chat: string[];
beforeAll(async () => {
  at = await openTestStore();
  host = await at.host();
  stories = await Promise.all(['1.0.0', '1.1.0', '1.2.0', '1.3.0'].map((version) => at.remote('stories', version)));
  chat = await Promise.all(['1.0.0', '1.1.0'].map((version) => at.remote('chat', version)));
  await at.activate(host, storiesAt(0), chatAt(0));
});
afterAll(() => at.remove());

const [storiesAt, chatAt] = [(n: number) => stories[n] ?? '', (n: number) => chat[n] ?? ''];
const live = async (name: string) => (await at.current()).stable?.builds.find((id) => id.startsWith(`${name}@`));

describe('rollback', () => {
  beforeEach(async () => {
    for (const n of [0, 1, 2]) await at.activate(storiesAt(n));
    await at.activate(chatAt(0));
    await at.activate(chatAt(1));
  });

  test('of one remote does not change the others', async () => {
    await rollback(at.writer, { name: 'stories' });
    expect([await live('stories'), await live('chat')]).toEqual([storiesAt(1), chatAt(1)]);
  });

  test('twice goes two steps back, never to what was just left', async () => {
    await rollback(at.writer, { name: 'stories' });
    await rollback(at.writer, { name: 'stories' });
    expect(await live('stories')).toBe(storiesAt(0));
  });

  test('of the whole channel after one of a remote never returns to the build just left', async () => {
    await at.activate(storiesAt(3));
    await rollback(at.writer, { name: 'stories' });
    await rollback(at.writer, {});
    expect([await live('stories'), await live('chat')]).toEqual([storiesAt(2), chatAt(0)]);
  });

  test('of the whole channel goes to what was live before', async () => {
    await rollback(at.writer, {});
    expect([await live('stories'), await live('chat')]).toEqual([storiesAt(2), chatAt(0)]);
  });

  test('of the whole channel names what changes only, and what leaves', async () => {
    const { seq } = await at.current();
    const { action } = (await rollback(at.writer, {})).document;
    expect(actionLine(action)).toBe(`rollback ${chatAt(0)} as in state ${seq - 1}`);
    const dice = await at.remote('dice', '1.0.0');
    await at.activate(dice, storiesAt(3));
    const back = (await rollback(at.writer, {})).document.action;
    expect(actionLine(back)).toBe(`rollback ${storiesAt(2)} as in state ${seq + 1}`);
    expect(evidenceLines(back)).toEqual([`nothing took the place of ${dice}`]);
  });

  test('to a named state restores it, as a newer state', async () => {
    const { seq } = await at.current();
    await rollback(at.writer, { to: seq - 2 });
    const now = await at.current();
    expect(now.seq).toBe(seq + 1);
    expect(await live('chat')).not.toBe(chatAt(1));
    await expect(rollback(at.writer, { to: 9999 })).rejects.toThrow('no state 9999');
    await expect(rollback(at.writer, { to: 1 })).rejects.toThrow('nothing was live in state 1');
    await expect(rollback(at.writer, { to: 1, name: 'chat' })).rejects.toThrow('chat was not live in state 1');
  });

  test('of a host without a former build suggests only commands that exist for hosts', async () => {
    const refusal = await rollback(at.writer, { name: 'host' }).catch((cause) => cause);
    expect(refusal.message).toContain('nothing else was live before for host');
    expect(refusal.cure).toBe('List what was live with `log`, or activate a published build.');
  });

  test('is refused if the audit contains another state at that place', async () => {
    const { seq } = await at.current();
    const audit = (n: number) => join(at.folder, 'store', auditKey('production', n));
    const right = await readFile(audit(seq - 1));
    await writeFile(audit(seq - 1), await readFile(audit(seq - 4)));
    for (const options of [{ to: seq - 1 }, { name: 'stories' }])
      await expect(rollback(at.writer, options)).rejects.toThrow(`holds state ${seq - 4} in the place of`);
    await writeFile(audit(seq - 1), right);
  });

  test('restores what that state had as last good', async () => {
    await rollback(at.writer, { name: 'stories' });
    expect((await at.current()).lastGood.stories).toBe(storiesAt(0));
  });

  test('succeeds if a fallback’s record is damaged, and drops that fallback', async () => {
    const record = join(at.folder, 'store', buildFolder(storiesAt(1)), 'build.json');
    const right = await readFile(record);
    await writeFile(record, '{"damaged":');
    const afterDamage = { ...at.writer, catalog: new Catalog(at.store) };
    await rollback(afterDamage, { name: 'chat' });
    expect([await live('stories'), await live('chat')]).toEqual([storiesAt(2), chatAt(0)]);
    expect((await at.current()).lastGood.stories).toBeUndefined();
    await writeFile(record, right);
  });

  test('is refused when files of the build are gone, and nothing changes', async () => {
    const [key = ''] = (await at.store.list('builds/stories/')).filter(
      (path) => path.includes('/1.1.0-') && path.endsWith('page.js'),
    );
    const body = await at.store.read(key);
    await at.store.remove(key);
    await expect(rollback(at.writer, { name: 'stories' })).rejects.toMatchObject({
      details: [expect.stringContaining('page.js')],
    });
    expect(await live('stories')).toBe(storiesAt(2));
    await at.store.create(key, body ?? '');
  });
});

describe('a rollback with an expected state', () => {
  let seq: number;
  beforeEach(async () => {
    for (const n of [0, 1, 2]) await at.activate(storiesAt(n));
    for (const n of [0, 1]) await at.activate(chatAt(n));
    ({ seq } = await at.current());
  });
  const back = (name?: string) => rollback(at.writer, { name, seq });

  const notes: Action[] = [
    ...(['renew', 'freeze', 'webhook', 'approval'] as const).map((kind) => ({ kind })),
    ...(['alarm', 'schedule', 'proposal'] as const).map((kind) => ({ kind, builds: ['chat@1.1.0+0123456789ab'] })),
    { kind: 'preview-end', person: 'Li', browser: 'b', remotes: ['chat@http://localhost:3101'] },
  ];
  for (const action of notes)
    test(`is not refused because of another person’s entry ${action.kind}`, async () => {
      await changeChannel(at.writer, async (now) => ({ state: stateOf(now), action }));
      await back();
      expect(await live('chat')).toBe(chatAt(0));
    });

  test('of one remote is not refused because another was switched', async () => {
    await at.activate(chatAt(0));
    await back('stories');
    expect(await live('stories')).toBe(storiesAt(1));
  });

  test('of two simultaneous calls goes one step back, and one gets a conflict', async () => {
    const results = await Promise.allSettled([back('stories'), back('stories')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find((result) => result.status === 'rejected')?.reason).toMatchObject({
      kind: 'conflict',
      cure: 'Look at the new state and decide again.',
    });
    expect(await live('stories')).toBe(storiesAt(1));
  });

  test('of the whole channel is refused after any change', async () => {
    await at.activate(storiesAt(3));
    await expect(back()).rejects.toMatchObject({ kind: 'conflict' });
  });
});

describe('kill', () => {
  test('returns a live build to the last good one, and the killed one cannot return', async () => {
    await at.activate(storiesAt(1));
    await at.activate(storiesAt(3));
    await kill(at.writer, storiesAt(3), { why: 'leaks' });
    expect(await live('stories')).toBe(storiesAt(1));
    await expect(at.activate(storiesAt(3))).rejects.toThrow('was killed');
    const before = (await readLog(at.writer, await at.current(), 1))[0]?.seq ?? 0;
    // the refusal names the state and suggests alternatives
    await expect(rollback(at.writer, { to: before - 1 })).rejects.toMatchObject({
      message: `state ${before - 1} runs ${storiesAt(3)}, which was killed`,
      cure: expect.stringContaining('--to'),
    });
    expect((await kill(at.writer, storiesAt(3))).changed).toBe(false);
    expect(evidenceLines((await at.current()).action)).toEqual([`${storiesAt(1)} took the place of ${storiesAt(3)}`]);
  });

  test('does not replace it with a build that was rolled back', async () => {
    const [first, second, broken] = await Promise.all(['1.0.0', '1.1.0', '1.2.0'].map((v) => at.remote('maps', v)));
    for (const build of [first, second, broken]) await at.activate(build ?? '');
    await rollback(at.writer, { name: 'maps' });
    await kill(at.writer, first ?? '');
    await kill(at.writer, second ?? '', { confirm: 'maps' });
    expect(await live('maps')).toBeUndefined();
  });

  test('is refused for the only host that was ever live', async () => {
    await expect(kill(at.writer, host)).rejects.toThrow('only host');
  });

  test('requires the name for the only build of a remote, and states what is lost', async () => {
    const gifts = await at.remote('gifts');
    await at.activate(gifts);
    expect(await effectOfKill(at.writer, gifts)).toEqual({
      build: gifts,
      name: 'gifts',
      live: true,
      instead: null,
      unfit: [],
      whole: null,
      endsCandidate: false,
      shown: ['/gifts'],
      lost: ['/gifts'],
    });
    for (const confirm of [undefined, 'stories'])
      await expect(kill(at.writer, gifts, { confirm })).rejects.toMatchObject({
        message: expect.stringContaining('never runs again'),
        cure: expect.stringMatching(/withdraw gifts.*--confirm gifts/),
        details: ['/gifts'],
      });
    expect(await live('gifts')).toBe(gifts);
    await kill(at.writer, gifts, { confirm: 'gifts' });
    expect(await live('gifts')).toBeUndefined();
  });

  test('needs no name if another build replaces it, and states which', async () => {
    await at.activate(chatAt(0));
    const next = await at.remote('chat', '1.4.0');
    await at.activate(next);
    expect(await effectOfKill(at.writer, next)).toMatchObject({ live: true, instead: chatAt(0), lost: [] });
    await kill(at.writer, next);
    expect(await live('chat')).toBe(chatAt(0));
  });
});

describe('withdraw', () => {
  test('removes a first release; rollback or activate restores it', async () => {
    const letters = await at.remote('letters');
    await at.activate(letters);
    await expect(rollback(at.writer, { name: 'letters' })).rejects.toMatchObject({
      message: expect.stringContaining('nothing else was live'),
      cure: expect.stringContaining('withdraw letters'),
    });
    const { document } = await withdraw(at.writer, 'letters', { why: 'too early', confirm: 'letters' });
    expect(document.action).toMatchObject({ verb: 'withdraw', what: letters, why: 'too early' });
    expect(await live('letters')).toBeUndefined();
    expect(document.killed).not.toContain(letters);
    await rollback(at.writer, { name: 'letters' });
    expect(await live('letters')).toBe(letters);
    await withdraw(at.writer, 'letters', { confirm: 'letters' });
    await at.activate(letters);
    expect(await live('letters')).toBe(letters);
  });

  test('requires the name, and states the lost addresses and the build to restore', async () => {
    const [first, second] = [await at.remote('cards', '1.0.0'), await at.remote('cards', '1.1.0')];
    await at.activate(first);
    await at.activate(second);
    await expect(withdraw(at.writer, 'cards')).rejects.toMatchObject({
      details: ['/cards'],
      cure: expect.stringMatching(new RegExp(`rollback cards.*${first.replace('+', '.')}.*--confirm cards`)),
    });
    await withdraw(at.writer, 'cards', { confirm: 'cards' });
    expect(await live('cards')).toBeUndefined();
  });

  test('ends a candidate of the same name, and the log says so', async () => {
    const [first, tried] = [await at.remote('lanterns', '1.0.0'), await at.remote('lanterns', '1.1.0')];
    await at.activate(first);
    await canary(at.writer, [tried], 5, { gate: openGate });
    const { document } = await withdraw(at.writer, 'lanterns', { confirm: 'lanterns' });
    expect(candidatesOf(document)).toEqual([]);
    expect(evidenceLines(document.action)).toEqual([`candidate ${tried} ended with it`]);
  });

  test('of the host, or of what is not live, is refused', async () => {
    await expect(withdraw(at.writer, 'host', { confirm: 'host' })).rejects.toThrow('no page without it');
    await at.remote('published');
    await expect(withdraw(at.writer, 'published')).rejects.toThrow('is not live');
    await expect(withdraw(at.writer, 'nothing')).rejects.toThrow('no remote "nothing"');
  });
});

describe('a rollback to incompatible builds', () => {
  const shop = (contract: string) => ({ description: { contract } });
  let [oldHost, newHost] = ['', ''];
  let [oldShop, newShop] = ['', ''];
  beforeAll(async () => {
    oldHost = await at.host('4.0.0');
    newHost = await at.host('5.0.0', { description: { contract: '3.0.0' } });
    [oldShop, newShop] = [await at.remote('shop', '1.0.0'), await at.remote('shop', '2.0.0', shop('^3.0.0'))];
    const everywhere = await Promise.all(
      ['stories', 'chat', 'cards', 'letters', 'maps', 'gifts'].map(async (name) => [name, await live(name)] as const),
    );
    for (const [name, build] of everywhere) if (build) await withdraw(at.writer, name, { confirm: name });
  });
  beforeEach(async () => {
    const all = { gate: at.gate(), force: true, why: 'a known beginning' };
    await activate(at.writer, [oldHost, oldShop], all);
    await activate(at.writer, [newHost, newShop], all);
  });

  test.each(['host', 'shop'])('of %s is refused and names a compatible set', async (name) => {
    const { seq, stable } = await at.current();
    await expect(rollback(at.writer, { name })).rejects.toMatchObject({
      details: [expect.stringContaining('needs shared/runtime')],
      cure: expect.stringMatching(`rollback --to ${seq - 1}.*--force`),
    });
    expect((await at.current()).stable).toEqual(stable);
    await rollback(at.writer, { to: seq - 1 });
    expect([await live('host'), await live('shop')]).toEqual([oldHost, oldShop]);
  });

  test.each(['host', 'shop'])('of %s is refused for its kill and names a compatible set', async (name) => {
    const { seq } = await at.current();
    const build = (await live(name)) ?? '';
    expect(await effectOfKill(at.writer, build)).toMatchObject({ instead: null, whole: seq - 1 });
    await expect(kill(at.writer, build)).rejects.toMatchObject({
      cure: expect.stringContaining(`\`rollback --to ${seq - 1}\``),
    });
  });

  test('can be forced with a reason, and other teams are not affected', async () => {
    await expect(rollback(at.writer, { name: 'host', force: true })).rejects.toThrow('--force needs --why');
    const { document } = await rollback(at.writer, { name: 'host', force: true, why: 'login is down' });
    expect(document.action.evidence?.join()).toContain('"forced":true');
    expect(await live('host')).toBe(oldHost);
    const other = await at.remote('fans', '1.0.0');
    await activate(at.writer, [other], { gate: at.gate() });
    const next = await at.remote('shop', '2.1.0', shop('^3.0.0'));
    await expect(activate(at.writer, [next], { gate: at.gate() })).rejects.toMatchObject({
      details: [expect.stringContaining(next)],
    });
  });

  test('skips the newer build for a compatible older one, and states it', async () => {
    const anywhere = await at.remote('shop', '0.9.0', shop('^2.0.0 || ^3.0.0'));
    for (const build of [anywhere, oldShop, newShop])
      await activate(at.writer, [build], { gate: at.gate(), force: true, why: 'in this order' });
    const { document } = await rollback(at.writer, { name: 'shop' });
    expect(await live('shop')).toBe(anywhere);
    expect(document.action.evidence?.join()).toContain(oldShop);
  });

  test('is refused for a kill, with the lost screens', async () => {
    const only = await at.remote('lamps', '1.0.0');
    await activate(at.writer, [only], { gate: at.gate(), force: true, why: 'for the old host' });
    const fits = await at.remote('lamps', '2.0.0', shop('^3.0.0'));
    await activate(at.writer, [fits], { gate: at.gate() });
    expect(await effectOfKill(at.writer, fits)).toMatchObject({ instead: null, lost: ['/lamps'] });
    await expect(kill(at.writer, fits)).rejects.toMatchObject({
      details: ['/lamps', expect.stringContaining(only)],
    });
    await kill(at.writer, fits, { force: true, why: 'leaks, and the old one must do' });
    expect(await live('lamps')).toBe(only);
  });
});
