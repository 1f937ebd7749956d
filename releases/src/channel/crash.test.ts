import { describe, expect, rs, test } from '@rstest/core';
import { Catalog, readRecord } from '../builds/catalog.ts';
import { readPackage } from '../builds/package.ts';
import { publish } from '../builds/publish.ts';
import { rollback } from '../operations/goingBack.ts';
import { activate } from '../operations/switching.ts';
import type { Store } from '../store/store.ts';
import { openGate, openTestStore, type TestStore, writeRemote } from '../testing/openTestStore.ts';
import { readLog } from './readChannel.ts';

class Crash extends Error {}

/** The store of a process that dies at its n-th write, before that write takes effect or right after. */
function dyingStore(store: Store, write: number, after: boolean): Store {
  let writes = 0;
  const guarded = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    writes += 1;
    if (writes > write || (writes === write && !after)) throw new Crash();
    const result = await work();
    if (writes === write) throw new Crash();
    return result;
  };
  return {
    label: store.label,
    read: (key) => store.read(key),
    readPointer: (key) => store.readPointer(key),
    list: (prefix) => store.list(prefix),
    children: (prefix) => store.children(prefix),
    create: (key, body, options) => guarded(() => store.create(key, body, options)),
    swapPointer: (key, body, tag) => guarded(() => store.swapPointer(key, body, tag)),
    removePointer: (key, tag) => guarded(() => store.removePointer(key, tag)),
    remove: (key) => guarded(() => store.remove(key)),
    time: () => store.time(),
    entries: (prefix) => store.entries(prefix),
    room: () => store.room(),
    sweep: (before) => store.sweep(before),
  };
}

/** Repeats the work with a crash before and after each write, until a run survives. */
async function atEveryWrite(
  work: (wrap: (store: Store) => Store) => Promise<unknown>,
  check: () => Promise<void>,
): Promise<number> {
  for (let write = 1; write < 200; write += 1)
    for (const after of [false, true]) {
      const died = await work((store) => dyingStore(store, write, after)).then(
        () => false,
        (cause) => {
          if (cause instanceof Crash) return true;
          throw cause;
        },
      );
      await check();
      if (!died) return write;
    }
  return 200;
}

const wholeLog = async (at: TestStore) => readLog(at.writer, await at.current(), 10_000);

describe('a process that crashes at any write', () => {
  test('while switching: the channel has the old or the new state, the audit has no gap, and a retry succeeds', async () => {
    const at = await openTestStore();
    await at.activate(await at.host(), await at.remote('stories', '1.0.0'));
    const builds = [await at.remote('stories', '1.1.0'), await at.remote('stories', '1.2.0')];
    let turn = 0;
    const switchOver = (wrap: (store: Store) => Store) => {
      const store = wrap(at.store);
      turn += 1;
      return activate({ ...at.writer, store, catalog: new Catalog(store) }, [builds[turn % 2] ?? ''], {
        gate: openGate,
      });
    };
    const points = await atEveryWrite(switchOver, async () => {
      const { seq, stable } = await at.current();
      expect(stable?.builds).toHaveLength(2);
      const log = await wholeLog(at);
      expect(log.map((entry) => entry.seq)).toEqual(Array.from({ length: seq }, (_, n) => seq - n));
      await at.writer.catalog.set(stable?.set ?? '');
    });
    expect(points).toBeGreaterThanOrEqual(4);
    await rollback(at.writer, {});
    expect((await wholeLog(at))[0]?.verb).toBe('rollback');
    await at.remove();
  });

  test('while publishing: the build is complete or missing, and a retry completes it', async () => {
    const at = await openTestStore();
    const built = await readPackage(await writeRemote(at.place(), 'stories', 'crash'));
    const provenance = { commit: null, at: new Date().toISOString(), publisher: 'tester' };
    const points = await atEveryWrite(
      (wrap) => publish(wrap(at.store), built, provenance),
      async () => {
        const [claim] = await at.store.children('versions/stories/');
        if (claim)
          expect(
            Object.keys((await readRecord(at.store, (await publish(at.store, built, provenance)).id)).files),
          ).toHaveLength(5);
      },
    );
    expect(points).toBeGreaterThanOrEqual(10);
    const { id } = await publish(at.store, built, provenance);
    expect((await readRecord(at.store, id)).description.name).toBe('stories');
    await at.remove();
  });
});

test('a disk that is full once the channel has changed does not fail the change, and the next change completes the audit', async () => {
  const at = await openTestStore();
  await at.activate(await at.host(), await at.remote('stories'));
  await at.activate(await at.remote('stories', '1.1.0'));
  const said = rs.spyOn(console, 'error').mockImplementation(() => {});
  const { changed, document } = await rollback(at.filling(), {});
  expect([changed, document.seq]).toEqual([true, 4]);
  expect(said.mock.calls).toEqual([[expect.stringContaining('but audit/production/4.json could not follow')]]);
  said.mockRestore();
  await rollback(at.writer, { to: 3 });
  expect((await wholeLog(at)).map(({ seq }) => seq)).toEqual([5, 4, 3, 2, 1]);
  await at.remove();
});
