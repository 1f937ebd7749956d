import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS, HOUR_MS } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { Catalog, publishedIds } from '../builds/catalog.ts';
import { assertStored } from '../builds/files.ts';
import { readPackage } from '../builds/package.ts';
import { publish } from '../builds/publish.ts';
import { buildFolder } from '../model/build.ts';
import { submit } from '../policies/approval.ts';
import { FileStore } from '../store/fileStore.ts';
import { openGate, openTestStore, type TestStore, writeRemote } from '../testing/openTestStore.ts';
import { collectGarbage, sweepUploads } from './collectGarbage.ts';
import { rollback } from './goingBack.ts';
import { createOverride } from './override.ts';
import { activate } from './switching.ts';

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

/** Delays the swap of a switch, whose builds are already checked, until the collector has withdrawn their versions. */
class MeetingStore extends FileStore {
  #reached = () => {};
  #withdrawn = () => {};
  #swapped = () => {};
  readonly aboutToSwap = new Promise<void>((resolve) => {
    this.#reached = resolve;
  });
  readonly #withdrawal = new Promise<void>((resolve) => {
    this.#withdrawn = resolve;
  });
  readonly #swap = new Promise<void>((resolve) => {
    this.#swapped = resolve;
  });

  override async remove(key: string): Promise<void> {
    await super.remove(key);
    this.#withdrawn();
    await this.#swap;
  }

  override async swapPointer(key: string, body: string, tag: string | null): Promise<boolean> {
    this.#reached();
    await this.#withdrawal;
    const done = await super.swapPointer(key, body, tag);
    this.#swapped();
    return done;
  }
}

describe('gc', () => {
  const inDays = (days: number) => () => new Date(Date.now() + days * DAY_MS);

  test('removes old unreachable builds, and keeps live, last good, candidate, overridden and recent ones', async () => {
    const [host, first, second, overridden, unused] = [
      await at.host(),
      await at.remote('stories', '1.0.0'),
      await at.remote('stories', '1.1.0'),
      await at.remote('chat', '1.0.0'),
      await at.remote('chat', '2.0.0'),
    ];
    await at.activate(host, first);
    await at.activate(second);
    const options = { dryRun: false, graceMilliseconds: 0 };
    expect((await collectGarbage(at.store, at.key.publicKey, { ...options, now: inDays(6) })).removed).toEqual([]);
    await createOverride(at.after(7 * DAY_MS), [overridden], 48);
    expect(
      (await collectGarbage(at.store, at.key.publicKey, { ...options, now: inDays(8), dryRun: true })).removed,
    ).toEqual([unused]);
    expect(await publishedIds(at.store)).toContain(unused);
    expect((await collectGarbage(at.store, at.key.publicKey, { ...options, now: inDays(8) })).removed).toEqual([
      unused,
    ]);
    expect((await publishedIds(at.store)).sort()).toEqual([host, first, second, overridden].sort());
    expect((await at.store.list('builds/chat/')).some((key) => key.includes('2.0.0'))).toBe(false);
    await at.activate(overridden);
  });

  test('keeps what is proposed and waits for a second person', async () => {
    const [host, proposed] = [await at.host(), await at.remote('stories')];
    await at.activate(host);
    await submit(at.writer, { verb: 'approval', hours: 168 }, { gate: openGate });
    await submit(at.after(7 * DAY_MS), { verb: 'activate', builds: [proposed] }, { gate: openGate });
    const options = { dryRun: false, graceMilliseconds: 0, now: inDays(8) };
    expect((await collectGarbage(at.store, at.key.publicKey, options)).removed).toEqual([]);
  });

  test('continues after a damaged build, and removes it when it is old', async () => {
    await at.activate(await at.host());
    const damaged = await at.remote('chat', '1.0.0');
    await writeFile(join(at.folder, 'store', buildFolder(damaged), 'build.json'), '{}');
    const options = { dryRun: false, graceMilliseconds: 0, now: inDays(8) };
    expect((await collectGarbage(at.store, at.key.publicKey, options)).removed).toEqual([damaged]);
  });

  test('keeps a build that a switch has activated meanwhile', async () => {
    const [host, old] = [await at.host(), await at.remote('stories')];
    await at.activate(host);
    const store = new MeetingStore(`${at.folder}/store`);
    const writer = { ...at.writer, store, catalog: new Catalog(store) };
    const switching = activate(writer, [old], { gate: openGate });
    await store.aboutToSwap;
    const options = { dryRun: false, graceMilliseconds: 0, now: inDays(8) };
    expect((await collectGarbage(store, at.key.publicKey, options)).removed).toEqual([]);
    expect((await switching).changed).toBe(true);
    expect(await publishedIds(at.store)).toContain(old);
  });

  test('a switch to a removed build is refused, even if its process has read the build', async () => {
    const [host, old] = [await at.host(), await at.remote('stories')];
    await at.activate(host);
    await at.writer.catalog.record(old);
    await collectGarbage(at.store, at.key.publicKey, { dryRun: false, graceMilliseconds: 0, now: inDays(8) });
    await expect(at.activate(old)).rejects.toThrow('any more');
    await expect(createOverride(at.writer, [old], 1)).rejects.toThrow('any more');
    expect((await at.current()).stable?.builds).toEqual([host]);
  });

  test('removes nothing if it is stopped while waiting', async () => {
    const [host, old] = [await at.host(), await at.remote('stories')];
    await at.activate(host);
    const options = { dryRun: false, now: inDays(8), signal: AbortSignal.abort() };
    await expect(collectGarbage(at.store, at.key.publicKey, options)).rejects.toThrow(
      'ended before it removed anything',
    );
    expect(await publishedIds(at.store)).toContain(old);
    await at.activate(old);
  });
});

describe('the sweep', () => {
  const age = async (key: string, hours: number) => {
    const then = new Date(Date.now() - hours * HOUR_MS);
    await utimes(join(at.folder, 'store', key), then, then);
  };

  test('removes abandoned uploads, but no build and no recent or growing upload', async () => {
    const build = await at.remote('stories', '1.0.0');
    for (const key of await at.store.list(`${buildFolder(build)}/`)) await age(key, 100);
    const upload = async (folder: string, hours: number[]) => {
      for (const [n, old] of hours.entries()) {
        await at.store.create(`builds/${folder}/${n}.js`, 'x'.repeat(1000));
        await age(`builds/${folder}/${n}.js`, old);
      }
    };
    await upload('stories/2.0.0-aaaaaaaaaaaa', [30, 25]);
    // the version of a published build, with other bytes
    await upload('stories/1.0.0-bbbbbbbbbbbb', [30]);
    await upload('stories/3.0.0-aaaaaaaaaaaa', [1]);
    await upload('stories/4.0.0-aaaaaaaaaaaa', [30, 1]);
    const expected = ['builds/stories/1.0.0-bbbbbbbbbbbb', 'builds/stories/2.0.0-aaaaaaaaaaaa'];
    expect(await sweepUploads(at.store, { dryRun: true })).toMatchObject({ uploads: expected, bytes: 3000 });
    expect((await sweepUploads(at.store)).uploads).toEqual(expected);
    expect((await sweepUploads(at.store)).uploads).toEqual([]);
    expect((await at.store.list('builds/stories/')).filter((key) => /[234]\.0\.0-/.test(key))).toHaveLength(3);
    expect((await sweepUploads(at.store, { unclaimedHours: 0.5 })).uploads).toHaveLength(2);
    await at.activate(await at.host(), build);
    expect((await rollback(at.writer, { to: (await at.current()).seq })).changed).toBe(false);
    await assertStored(at.writer, [build]);
  });

  test('removes leftovers of interrupted writes, but no open write', async () => {
    const aside = join(at.folder, 'store/.temporary');
    await mkdir(aside, { recursive: true });
    for (const name of ['old', 'new']) await writeFile(join(aside, name), 'half');
    await age('.temporary/old', 2);
    expect((await sweepUploads(at.store)).temporary).toBe(1);
    expect(await readdir(aside)).toEqual(['new']);
  });

  test('does not lose a build that is being published again', async () => {
    const dist = await writeRemote(at.place(), 'maps', 'once more');
    const built = await readPackage(dist, '1.0.0');
    const id = await at.publishFrom(dist, '1.0.0');
    await at.store.remove('versions/maps/1.0.0.json');
    await at.store.remove(`${buildFolder(id)}/build.json`);
    for (const key of await at.store.list(`${buildFolder(id)}/`)) await age(key, 30);
    /** Sweeps right before the version is claimed. */
    class SweptStore extends FileStore {
      override async create(...[key, ...rest]: Parameters<FileStore['create']>): Promise<boolean> {
        if (key.startsWith('versions/')) {
          await super.remove(`${buildFolder(id)}/build.json`);
          await sweepUploads(at.store);
        }
        return super.create(key, ...rest);
      }
    }
    const store = new SweptStore(`${at.folder}/store`);
    await publish(store, built, { commit: null, at: new Date().toISOString(), publisher: 'tester' });
    await assertStored(at.writer, [id]);
  });
});
