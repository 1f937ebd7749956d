import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@rstest/core';
import { Catalog, resolveBuilds } from '../builds/catalog.ts';
import { neighboursOf } from '../channel/composeSet.ts';
import { diff } from '../channel/readChannel.ts';
import { evidenceLines } from '../english.ts';
import { unreachable } from '../errors.ts';
import { readAction } from '../model/action.ts';
import { buildFolder } from '../model/build.ts';
import { candidatesOf } from '../model/channel.ts';
import type { Store } from '../store/store.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { rollback } from './goingBack.ts';
import { abort, activate, canary, type Gate, promote } from './switching.ts';

let at: TestStore;
let host: string;
let stories: string[];
let chat: string[];
beforeAll(async () => {
  at = await openTestStore();
  host = await at.host();
  stories = await Promise.all(['1.0.0', '1.1.0', '1.2.0', '1.3.0'].map((version) => at.remote('stories', version)));
  chat = await Promise.all(['1.0.0', '1.1.0'].map((version) => at.remote('chat', version)));
});
afterAll(() => at.remove());

const [storiesAt, chatAt] = [(n: number) => stories[n] ?? '', (n: number) => chat[n] ?? ''];
const live = async (name: string) => (await at.current()).stable?.builds.find((id) => id.startsWith(`${name}@`));
const gated = { gate: openGate };

describe('activate', () => {
  test('switches several builds in one state', async () => {
    const { document } = await at.activate(host, storiesAt(0), chatAt(0));
    expect(document.stable?.builds).toEqual([chatAt(0), host, storiesAt(0)].sort());
    expect((await at.activate(host, storiesAt(0))).changed).toBe(false);
  });

  test('stores the replaced build as the last good one', async () => {
    await at.activate(storiesAt(1));
    expect((await at.current()).lastGood).toMatchObject({ stories: storiesAt(0) });
  });

  test('changes nothing if the gate refuses; force requires a reason, which is logged', async () => {
    const gate = async () => [{ check: 'routes', problem: 'taken' }];
    await expect(activate(at.writer, [storiesAt(2)], { gate })).rejects.toMatchObject({ details: ['routes: taken'] });
    await expect(activate(at.writer, [storiesAt(2)], { gate, force: true })).rejects.toThrow('--why');
    expect(await live('stories')).toBe(storiesAt(1));
    const { document } = await activate(at.writer, [storiesAt(2)], { gate, force: true, why: 'fire' });
    expect(document.action.why).toBe('fire');
    expect(readAction(document.action).evidence).toEqual([
      { kind: 'finding', check: 'routes', problem: 'taken', forced: true },
    ]);
  });

  test('begins when it is written, not before the gate', async () => {
    let minute = 0;
    const slowGate: Gate = async () => {
      minute += 1;
      return [];
    };
    const writer = { ...at.writer, now: () => new Date(Date.now() + minute * 60_000) };
    const build = await at.remote('chat', '6.0.0');
    const tried = (await canary(writer, [build], 5, { gate: slowGate })).document;
    expect(tried.candidate?.since).toBe(tried.action.at);
    const { document } = await promote(writer, { gate: slowGate });
    expect([minute, document.stable?.since]).toEqual([2, document.action.at]);
  });

  test('without a browser check is marked in the log', async () => {
    const next = await at.remote('chat', '7.0.0');
    const { document } = await activate(at.writer, [next], { gate: at.gate() });
    expect(evidenceLines(document.action).join()).toContain('the gate opened no browser');
  });

  test('shortens long reasons, names and lists to what readers accept', async () => {
    const many = await Promise.all(Array.from({ length: 40 }, (_, n) => at.remote(`remote-with-a-long-name-${n}`)));
    const writer = { ...at.writer, who: 'x'.repeat(1000) };
    await activate(writer, many, { gate: openGate, why: 'because '.repeat(1000) });
    const gate = async () => Array.from({ length: 200 }, () => ({ check: 'size', problem: '"\\'.repeat(2000) }));
    await activate(writer, [storiesAt(3)], { gate, force: true, why: 'z' });
    expect((await at.current()).stable?.builds.length).toBeGreaterThan(40);
  });

  test('refuses unknown and invalid builds', async () => {
    await expect(at.activate('stories@9.9.9+000000000000')).rejects.toThrow('is not in');
    await expect(at.activate('nonsense')).rejects.toThrow('is not a build id');
  });

  test('fails if the store cannot read a former build', async () => {
    await at.activate(chatAt(0));
    await at.activate(chatAt(1));
    const store: Store = Object.create(at.store, {
      read: {
        value: (key: string) =>
          key.startsWith(buildFolder(chatAt(0)))
            ? Promise.reject(unreachable('the store is away'))
            : at.store.read(key),
      },
    });
    const away = { ...at.writer, store, catalog: new Catalog(store) };
    await expect(neighboursOf(away, await at.current())).rejects.toThrow('the store is away');
  });

  test('accepts a version for its build', async () => {
    expect(await resolveBuilds(at.store, ['stories@1.1.0', chatAt(0)])).toEqual([storiesAt(1), chatAt(0)]);
    await expect(resolveBuilds(at.store, ['stories@7.0.0'])).rejects.toThrow('is not in');
  });

  test('refuses two builds of one name, and accepts one given twice', async () => {
    const twice = ['stories@1.1.0', storiesAt(1)];
    expect(await resolveBuilds(at.store, twice)).toEqual([storiesAt(1)]);
    await expect(resolveBuilds(at.store, [...twice, chatAt(0), 'stories@1.0.0'])).rejects.toMatchObject({
      message: `${storiesAt(1)} and ${storiesAt(0)} are builds of one name`,
      cure: expect.stringContaining('name one of them'),
    });
  });
});

describe('canary', () => {
  beforeEach(async () => {
    await at.activate(storiesAt(0), chatAt(0));
    if ((await at.current()).candidate) await abort(at.writer, {});
  });

  test('a ramp keeps its visitors; other builds draw new ones', async () => {
    const first = (await canary(at.writer, [storiesAt(1)], 5, gated)).document.candidate;
    const ramped = (await canary(at.writer, [], 20, gated)).document.candidate;
    const other = (await canary(at.writer, [storiesAt(2)], 20, gated)).document.candidate;
    expect(ramped).toMatchObject({ percent: 20, salt: first?.salt, set: first?.set, since: first?.since });
    expect(other?.salt).not.toBe(first?.salt);
  });

  test('another team’s activate is preserved when the candidate is promoted', async () => {
    await canary(at.writer, [storiesAt(1)], 10, gated);
    await at.activate(chatAt(1));
    await promote(at.writer, gated);
    expect([await live('stories'), await live('chat')]).toEqual([storiesAt(1), chatAt(1)]);
    expect((await at.current()).candidate).toBeNull();
  });

  test('a candidate that no longer fits the new stable is dropped, and the audit says why', async () => {
    await canary(at.writer, [storiesAt(1)], 10, gated);
    const gate: Gate = async ({ judged, next }) =>
      judged !== next.stable && next.state.stable?.builds.includes(chatAt(1))
        ? [{ check: 'sharing', problem: 'too new' }]
        : [];
    const { document } = await activate(at.writer, [chatAt(1)], { gate });
    expect(document.candidate).toBeNull();
    expect(readAction(document.action).evidence).toEqual([
      { kind: 'candidateDropped', builds: [storiesAt(1)] },
      { kind: 'finding', check: 'sharing', problem: 'too new', forced: false },
    ]);
  });

  test('activating the candidate’s build ends the candidate', async () => {
    await canary(at.writer, [storiesAt(1)], 10, gated);
    expect((await at.activate(storiesAt(1))).document.candidate).toBeNull();
  });

  test('activating another build of a name in the candidate takes that name out of the candidate, and the audit says so', async () => {
    await canary(at.writer, [storiesAt(1), chatAt(1)], 10, gated);
    const { document } = await at.activate(storiesAt(2));
    expect(document.candidate?.builds).toEqual([chatAt(1)]);
    expect(readAction(document.action).evidence).toEqual([{ kind: 'overtaken', build: storiesAt(1) }]);
    await promote(at.writer, gated);
    expect([await live('stories'), await live('chat')]).toEqual([storiesAt(2), chatAt(1)]);
  });

  test('a rollback of a name in the candidate ends the candidate', async () => {
    await at.activate(storiesAt(1));
    await canary(at.writer, [storiesAt(2)], 10, gated);
    expect((await rollback(at.writer, { name: 'stories' })).document.candidate).toBeNull();
  });

  test('candidates of several remotes run side by side, each promoted and ended alone', async () => {
    await canary(at.writer, [storiesAt(1)], 10, gated);
    const [stories] = candidatesOf(await at.current());
    await canary(at.writer, [chatAt(1)], 20, gated);
    expect(candidatesOf(await at.current())).toMatchObject([
      { builds: [storiesAt(1)], percent: 10, salt: stories?.salt, since: stories?.since },
      { builds: [chatAt(1)], percent: 20 },
    ]);
    await canary(at.writer, [], 30, { ...gated, name: 'stories' });
    expect(candidatesOf(await at.current())[0]).toMatchObject({ percent: 30, salt: stories?.salt });
    for (const unclear of [() => canary(at.writer, [], 40, gated), () => promote(at.writer, gated)])
      await expect(unclear()).rejects.toMatchObject({ message: expect.stringContaining('several candidates') });
    await promote(at.writer, { ...gated, name: 'chat' });
    expect(await live('chat')).toBe(chatAt(1));
    expect(candidatesOf(await at.current()).map(({ builds }) => builds)).toEqual([[storiesAt(1)]]);
    await abort(at.writer, { name: 'stories' });
    expect(candidatesOf(await at.current())).toEqual([]);
  });

  test('with a name of another candidate ends that one, and the audit says so', async () => {
    await canary(at.writer, [storiesAt(1), chatAt(1)], 10, gated);
    const { document } = await canary(at.writer, [storiesAt(2)], 10, gated);
    expect(candidatesOf(document).map(({ builds }) => builds)).toEqual([[storiesAt(2)]]);
    const ended = [storiesAt(1), chatAt(1)].sort();
    expect(readAction(document.action).evidence).toEqual([{ kind: 'candidateEnded', builds: ended }]);
    const ramped = await canary(at.writer, [], 20, gated);
    expect(readAction(ramped.document.action).evidence).toEqual([]);
  });

  test('a document with one candidate has the format of older readers', async () => {
    const { document } = await canary(at.writer, [storiesAt(1)], 10, gated);
    expect(Object.keys(document)).not.toContain('moreCandidates');
    expect(Object.keys((await canary(at.writer, [chatAt(1)], 10, gated)).document)).toContain('moreCandidates');
    expect(Object.keys((await abort(at.writer, { name: 'chat' })).document)).not.toContain('moreCandidates');
  });

  test('an incompatible second candidate is refused, and a later incompatible one is dropped', async () => {
    const clash = async ({ judged }: { judged: { records: { id: string }[] } }) => {
      const ids = judged.records.map(({ id }) => id);
      return ids.includes(storiesAt(1)) && ids.includes(chatAt(1)) ? [{ check: 'routes', problem: 'taken' }] : [];
    };
    await canary(at.writer, [storiesAt(1)], 10, { gate: clash });
    await expect(canary(at.writer, [chatAt(1)], 10, { gate: clash })).rejects.toMatchObject({
      details: ['routes: taken'],
    });
    await canary(at.writer, [chatAt(1)], 10, gated);
    const { document } = await activate(at.writer, [storiesAt(2)], { gate: clash });
    expect(candidatesOf(document).map(({ builds }) => builds)).toEqual([[chatAt(1)]]);
    await abort(at.writer, {});
    expect(candidatesOf(await at.current())).toEqual([]);
  });

  test('without a candidate there is nothing to promote, abort or ramp', async () => {
    await expect(promote(at.writer, gated)).rejects.toThrow('has no candidate');
    await expect(abort(at.writer, {})).rejects.toThrow('has no candidate');
    await expect(canary(at.writer, [], 5, gated)).rejects.toThrow('has no candidate');
  });

  test('diff lists a candidate’s changes', async () => {
    await canary(at.writer, [storiesAt(1)], 10, gated);
    const found = await diff(at.writer, await at.current(), 'stable', 'candidate');
    expect(found).toMatchObject([
      { name: 'stories', from: storiesAt(0), to: storiesAt(1), provenance: { publisher: 'tester' } },
    ]);
  });
});
