import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { readClaim } from '../builds/catalog.ts';
import { readPackage } from '../builds/package.ts';
import { publish } from '../builds/publish.ts';
import { readLog, requireChannel } from '../channel/readChannel.ts';
import type { Writer } from '../channel/writer.ts';
import { readAction } from '../model/action.ts';
import { buildFolder } from '../model/build.ts';
import { openGate, openTestStore, type TestStore, writeRemote } from '../testing/openTestStore.ts';
import { kill } from './goingBack.ts';
import { createChannelFrom, promoteFrom, type Source, sourceIn } from './promoteFrom.ts';
import { activate, type Gate } from './switching.ts';

let at: TestStore;
let preview: Writer;
beforeEach(async () => {
  at = await openTestStore();
  preview = { ...at.writer, channel: 'preview' };
});
afterEach(() => at.remove());

const live = async (writer: Writer) => (await requireChannel(writer)).document;
const buildsOf = async (writer: Writer) => (await live(writer)).stable?.builds;
const log = async (writer: Writer) => readLog(writer, await live(writer), 10);
const inPreview = (...builds: string[]) => activate(preview, builds, { gate: openGate });
const promoteIt = (options: { name?: string; gate?: Gate; force?: boolean; why?: string; fromSeq?: number } = {}) =>
  promoteFrom(at.writer, { from: sourceIn(at.writer, 'preview'), gate: openGate, ...options });

/** Production with a host and two remotes, and a preview that began with it. */
async function seed() {
  const builds = [await at.host(), await at.remote('stories'), await at.remote('chat')];
  await at.activate(...builds);
  await createChannelFrom(preview, sourceIn(at.writer, 'production'));
  return builds;
}

describe('a channel made from another', () => {
  test('has the same set and names its source', async () => {
    await seed();
    const [made, from] = [await live(preview), await live(at.writer)];
    expect(made.stable?.set).toBe(from.stable?.set);
    expect(made.digests).toEqual(from.digests);
    expect(readAction(made.action)).toMatchObject({ kind: 'seed', from: { channel: 'production', seq: 2 } });
  });

  test('is independent afterwards, and cannot be created twice', async () => {
    const builds = await seed();
    await inPreview(await at.remote('stories', '1.1.0'));
    expect(await buildsOf(at.writer)).toEqual(builds.sort());
    await expect(createChannelFrom(preview, sourceIn(at.writer, 'production'))).rejects.toThrow('in use already');
  });

  test('keeps the killed builds of its source', async () => {
    await seed();
    const bad = await at.remote('stories', '1.1.0');
    await at.activate(bad);
    await kill(at.writer, bad, {});
    const other: Writer = { ...at.writer, channel: 'qa' };
    await createChannelFrom(other, sourceIn(at.writer, 'production'));
    await expect(activate(other, [bad], { gate: openGate })).rejects.toThrow('was killed');
  });
});

describe('promoting what another channel runs', () => {
  test('makes the same set live with its fallbacks, and is in both logs', async () => {
    const [, stories = ''] = await seed();
    await inPreview(await at.remote('stories', '1.1.0'), await at.remote('chat', '1.1.0'));
    const tried = await live(preview);
    expect((await promoteIt({ why: 'tried for a week' })).loggedThere).toBe(true);
    const now = await live(at.writer);
    expect(now.stable?.set).toBe(tried.stable?.set);
    expect(now.lastGood.stories).toBe(stories);
    const [here] = await log(at.writer);
    expect(here).toMatchObject({ why: 'tried for a week', action: { from: { channel: 'preview', seq: tried.seq } } });
    const [there] = await log(preview);
    expect(there?.action).toMatchObject({ kind: 'promoted', into: { channel: 'production', seq: now.seq } });
    expect(await buildsOf(preview)).toEqual(tried.stable?.builds);
    expect((await promoteIt()).changed).toBe(false);
  });

  test('can be limited to one remote', async () => {
    await seed();
    const next = await at.remote('stories', '1.1.0');
    await inPreview(next, await at.remote('chat', '1.1.0'));
    await promoteIt({ name: 'stories' });
    expect(await buildsOf(at.writer)).toEqual(expect.arrayContaining([next, expect.stringMatching(/^chat@1\.0\.0\+/)]));
    await expect(promoteIt({ name: 'gifts' })).rejects.toThrow('preview runs no gifts');
  });

  test('is a conflict if other builds are live there than the caller saw', async () => {
    const [, stories = ''] = await seed();
    await inPreview(await at.remote('stories', '1.1.0'));
    const { seq: fromSeq } = await live(preview);
    await inPreview(await at.remote('chat', '1.1.0'));
    await expect(promoteIt({ fromSeq })).rejects.toThrow(/preview is at state/);
    expect(await buildsOf(at.writer)).toContain(stories);
    // the other team's build does not concern this one
    await promoteIt({ name: 'stories', fromSeq });
    const seenNow = (await live(preview)).seq;
    await kill(preview, stories, { why: 'bad' });
    await promoteIt({ fromSeq: seenNow });
    expect(await buildsOf(at.writer)).toEqual(await buildsOf(preview));
  });

  test('passes the gate of the target channel', async () => {
    await seed();
    await inPreview(await at.remote('stories', '1.1.0'));
    const gate: Gate = async () => [{ check: 'routes', problem: 'taken' }];
    await expect(promoteIt({ gate })).rejects.toMatchObject({ details: ['routes: taken'] });
  });

  test('does not revert newer builds of the target without a reason', async () => {
    await seed();
    await inPreview(await at.remote('stories', '1.1.0'));
    const hotfix = await at.remote('chat', '1.0.1');
    await at.activate(hotfix);
    await expect(promoteIt()).rejects.toMatchObject({
      details: [expect.stringContaining(`production runs ${hotfix}, which preview never had`)],
      reason: { kind: 'takenBack', from: 'preview', builds: [{ build: hotfix, to: expect.stringMatching(/^chat@/) }] },
    });
    expect(await buildsOf(at.writer)).toContain(hotfix);
    await promoteFrom(preview, { from: sourceIn(at.writer, 'production'), name: 'chat', gate: openGate });
    await promoteIt();
    expect(await buildsOf(at.writer)).toEqual(await buildsOf(preview));
  });

  test('is refused for builds killed on either side and for missing files', async () => {
    await seed();
    const bad = await at.remote('stories', '1.1.0');
    await inPreview(bad);
    await at.activate(bad);
    await kill(at.writer, bad, {});
    await expect(promoteIt()).rejects.toThrow(`${bad} was killed`);
    const torn = await at.remote('chat', '1.1.0');
    await inPreview(torn);
    await at.store.remove(`${buildFolder(torn)}/remoteEntry.js`);
    await expect(promoteIt({ name: 'chat' })).rejects.toMatchObject({
      kind: 'refused',
      details: [expect.stringContaining(`${buildFolder(torn)}/remoteEntry.js is missing`)],
    });
  });
});

describe('between two stores', () => {
  let production: TestStore;
  beforeEach(async () => {
    production = await openTestStore();
  });
  afterEach(() => production.remove());

  const staging = (parts: Partial<Source> = {}): Source => ({ ...sourceIn(at.writer, 'production'), ...parts });
  const across = (parts: Partial<Source> = {}, options: { gate?: Gate } = {}) =>
    promoteFrom(production.writer, { from: staging(parts), gate: production.gate(), ...options });

  test('copies builds with files, digests and origin, and both logs name both stores', async () => {
    const dist = await writeRemote(at.place(), 'stories', 'x');
    const origin = {
      ...{ commit: '0123456789abcdef', author: 'Li Hua', run: 'https://ci.example/9' },
      ...{ change: 'https://ci.example/c/1', at: '2026-01-02T03:04:05.000Z', publisher: 'stories CI' },
    };
    const { id } = await publish(at.store, await readPackage(dist), origin);
    await at.activate(await at.host(), id);
    const tried = await at.current();
    expect((await across()).loggedThere).toBe(true);
    const now = await production.current();
    expect(now.stable?.set).toBe(tried.stable?.set);
    expect(now.digests).toEqual(tried.digests);
    expect((await production.writer.catalog.record(id)).provenance).toEqual(origin);
    // its age counts from the copy, so that garbage collection cannot remove it before it is live
    const age = Date.now() - Date.parse((await readClaim(production.store, 'stories', '1.0.0'))?.at ?? '');
    expect(age).toBeLessThan(600_000);
    const [here] = await log(production.writer);
    const [there] = await log(at.writer);
    expect(here?.action).toMatchObject({ from: { channel: 'production', store: at.store.label } });
    expect(there?.action).toMatchObject({ into: { channel: 'production', store: production.store.label } });
  });

  test('succeeds without the other store’s key, and reports the missing log entry', async () => {
    await at.activate(await at.host(), await at.remote('stories'));
    const { seq } = await at.current();
    expect((await across({ signingKey: null })).loggedThere).toBe(false);
    expect((await at.current()).seq).toBe(seq);
  });

  test('succeeds though the disk of the other store is full', async () => {
    await at.activate(await at.host(), await at.remote('stories'));
    const { store } = at.filling();
    await store.swapPointer('full.json', 'x', null);
    const said = rs.spyOn(console, 'error').mockImplementation(() => {});
    expect(await across({ store })).toMatchObject({ changed: true, loggedThere: false });
    expect(said.mock.calls).toEqual([[expect.stringContaining('but log of production could not follow')]]);
    said.mockRestore();
  });

  test('is refused for changed bytes, another key, and a version of other builds', async () => {
    const stories = await at.remote('stories');
    await at.activate(await at.host(), stories);
    await expect(across({ key: production.key })).rejects.toThrow('is not signed by this store');
    const held = await production.remote('stories', '1.0.0', { description: { label: 'other' } });
    await expect(across()).rejects.toThrow(`is taken by ${held}`);
    const other = await openTestStore();
    await writeFile(join(at.folder, 'store', buildFolder(stories), 'remoteEntry.js'), 'evil()');
    await expect(promoteFrom(other.writer, { from: staging(), gate: other.gate() })).rejects.toMatchObject({
      kind: 'refused',
      details: [expect.stringContaining(`${buildFolder(stories)}/remoteEntry.js is not what was published`)],
    });
    expect((await other.current()).stable).toBeNull();
    await other.remove();
  });
});
