import { randomUUID } from 'node:crypto';
import type { Store } from '../store/store.ts';

/** A guarantee of every store; `run` throws if it is violated. */
export interface ConformanceCheck {
  name: string;
  run(store: Store): Promise<void>;
}

const newKey = (): string => `conformance/${randomUUID()}`;

function expectSame(found: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(found) !== JSON.stringify(expected))
    throw new Error(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
}

const objects: ConformanceCheck[] = [
  {
    name: 'what is not there reads as null',
    run: async (store) => {
      expectSame(await store.read(`${newKey()}.json`), null, 'object');
      expectSame(await store.readPointer(`${newKey()}.json`), null, 'pointer');
    },
  },
  {
    name: 'an object is written once and stays as it was',
    run: async (store) => {
      const key = `${newKey()}.bin`;
      const bytes = Buffer.from([0, 255, 10, 13, 128]);
      expectSame(await store.create(key, bytes), true, 'first');
      expectSame(await store.create(key, 'other'), false, 'second');
      expectSame((await store.read(key))?.toString('hex'), bytes.toString('hex'), 'contents');
    },
  },
  {
    name: 'of twenty who create the same key exactly one succeeds, and its bytes are there',
    run: async (store) => {
      const key = `${newKey()}.txt`;
      const results = await Promise.all(Array.from({ length: 20 }, (_, n) => store.create(key, `writer ${n}`)));
      expectSame(results.filter(Boolean).length, 1, 'winners');
      expectSame((await store.read(key))?.toString(), `writer ${results.indexOf(true)}`, 'contents');
    },
  },
  {
    name: 'lists keys below a folder in order, and what lies directly in it',
    run: async (store) => {
      const folder = newKey();
      for (const name of ['b.txt', 'a/deep/c.txt', 'a.txt']) await store.create(`${folder}/${name}`, name);
      expectSame(
        (await store.list(`${folder}/`)).sort(),
        [`${folder}/a.txt`, `${folder}/a/deep/c.txt`, `${folder}/b.txt`],
        'list',
      );
      expectSame((await store.children(`${folder}/`)).sort(), ['a.txt', 'a/', 'b.txt'], 'children');
      expectSame(await store.children(`${newKey()}/`), [], 'an empty folder');
    },
  },
  {
    name: 'a removed object is gone, and removing it again does no harm',
    run: async (store) => {
      const key = `${newKey()}.txt`;
      await store.create(key, 'x');
      await store.remove(key);
      await store.remove(key);
      expectSame(await store.read(key), null, 'contents');
    },
  },
];

const clock: ConformanceCheck = {
  name: 'the store has a clock, near to that of a machine whose own is right',
  run: async (store) => {
    const differenceMs = Math.abs((await store.time()).getTime() - Date.now());
    expectSame(differenceMs < 60_000, true, `apart by ${differenceMs} ms`);
  },
};

const pointers: ConformanceCheck[] = [
  {
    name: 'a pointer is swapped only by a caller that knows its state',
    run: async (store) => {
      const key = `${newKey()}.json`;
      expectSame(await store.swapPointer(key, '{"n":1}', null), true, 'making');
      expectSame(await store.swapPointer(key, '{"n":2}', null), false, 'making again');
      const first = await store.readPointer(key);
      expectSame(await store.swapPointer(key, '{"n":3}', first?.tag ?? ''), true, 'swapping');
      expectSame(await store.swapPointer(key, '{"n":4}', first?.tag ?? ''), false, 'swapping with an old tag');
      expectSame((await store.readPointer(key))?.body, '{"n":3}', 'contents');
    },
  },
  {
    name: 'a pointer is removed only by a caller that knows its state, and may be made again',
    run: async (store) => {
      const key = `${newKey()}/one.json`;
      await store.swapPointer(key, '{"n":1}', null);
      const first = await store.readPointer(key);
      await store.swapPointer(key, '{"n":2}', first?.tag ?? '');
      expectSame(await store.removePointer(key, first?.tag ?? ''), false, 'removing with an old tag');
      const second = await store.readPointer(key);
      expectSame(await store.removePointer(key, second?.tag ?? ''), true, 'removing');
      expectSame(await store.readPointer(key), null, 'what is left');
      expectSame((await store.children(key.replace(/[^/]+$/, ''))).length, 0, 'what is listed');
      expectSame(await store.swapPointer(key, '{"n":3}', second?.tag ?? ''), false, 'swapping what was removed');
      expectSame(await store.swapPointer(key, '{"n":4}', null), true, 'making again');
      expectSame((await store.readPointer(key))?.body, '{"n":4}', 'contents');
    },
  },
  {
    name: 'of twenty who swap the same state exactly one succeeds',
    run: async (store) => {
      const key = `${newKey()}.json`;
      await store.swapPointer(key, '{"n":-1}', null);
      const { tag = '' } = (await store.readPointer(key)) ?? {};
      const swaps = Array.from({ length: 20 }, (_, n) =>
        store.swapPointer(key, JSON.stringify({ n, id: randomUUID() }), tag),
      );
      const results = await Promise.all(swaps);
      expectSame(results.filter(Boolean).length, 1, 'winners');
      const found: unknown = JSON.parse((await store.readPointer(key))?.body ?? '{}');
      expectSame(found instanceof Object && 'n' in found && found.n, results.indexOf(true), 'contents');
    },
  },
  {
    name: 'eight writers counting to sixty-four together lose nothing',
    run: async (store) => {
      const key = `${newKey()}.json`;
      await store.swapPointer(key, JSON.stringify({ count: 0 }), null);
      const count = async () => {
        for (let done = 0; done < 8; ) {
          const pointer = await store.readPointer(key);
          const value = Number(/"count":(\d+)/.exec(pointer?.body ?? '')?.[1]);
          const body = JSON.stringify({ count: value + 1, id: randomUUID() });
          if (await store.swapPointer(key, body, pointer?.tag ?? '')) done += 1;
        }
      };
      await Promise.all(Array.from({ length: 8 }, count));
      expectSame(/"count":(\d+)/.exec((await store.readPointer(key))?.body ?? '')?.[1], '64', 'count');
    },
  },
];

/** Guarantees of every store. Tests run them on a folder, `test:s3` on a real object store. */
export const CONFORMANCE: readonly ConformanceCheck[] = [...objects, clock, ...pointers];
