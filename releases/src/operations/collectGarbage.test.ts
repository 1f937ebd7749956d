import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { Catalog, publishedIds } from '../builds/catalog.ts';
import { buildFolder } from '../model/ids.ts';
import { FileStore } from '../store/fileStore.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { collectGarbage } from './collectGarbage.ts';
import { createOverride } from './override.ts';
import { activate } from './switching.ts';

const DAY = 86_400_000;
let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

/** A switch that has checked its builds swaps only after the collector has withdrawn their versions. */
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
  const inDays = (days: number) => () => new Date(Date.now() + days * DAY);

  test('removes old builds that nothing reaches, and keeps live, last good, candidate, overridden and young ones', async () => {
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
    await createOverride(at.after(7 * DAY), [overridden], 48);
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

  test('is not stopped by a damaged build, which goes when its time comes', async () => {
    await at.activate(await at.host());
    const damaged = await at.remote('chat', '1.0.0');
    await writeFile(join(at.folder, 'store', buildFolder(damaged), 'build.json'), '{}');
    const options = { dryRun: false, graceMilliseconds: 0, now: inDays(8) };
    expect((await collectGarbage(at.store, at.key.publicKey, options)).removed).toEqual([damaged]);
  });

  test('spares a build that a switch picked up in the meantime', async () => {
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

  test('a switch that comes too late is refused, though its process read the build before', async () => {
    const [host, old] = [await at.host(), await at.remote('stories')];
    await at.activate(host);
    await at.writer.catalog.record(old);
    await collectGarbage(at.store, at.key.publicKey, { dryRun: false, graceMilliseconds: 0, now: inDays(8) });
    await expect(at.activate(old)).rejects.toThrow('any more');
    await expect(createOverride(at.writer, [old], 1)).rejects.toThrow('any more');
    expect((await at.current()).stable?.builds).toEqual([host]);
  });

  test('ended while it waits, it removes nothing', async () => {
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
