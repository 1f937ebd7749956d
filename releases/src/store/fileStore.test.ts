import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, rs, test } from '@rstest/core';
import { CONFORMANCE } from '../testing/conformance.ts';
import { temporaryFolder } from '../testing/openTestStore.ts';
import { FileStore } from './fileStore.ts';
import { type OpenedStore, openStore, type Pointer, probeStore, type Store } from './store.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder.remove());

describe('a folder as a store', () => {
  for (const check of CONFORMANCE) test(check.name, () => check.run(new FileStore(folder.path)));

  test('a second store on the same folder swaps what the first wrote', async () => {
    const [first, second] = [new FileStore(folder.path), new FileStore(folder.path)];
    await first.swapPointer('p.json', '1', null);
    const seen = await second.readPointer('p.json');
    expect(await second.swapPointer('p.json', '2', seen?.tag ?? '')).toBe(true);
    expect(await first.swapPointer('p.json', '3', seen?.tag ?? '')).toBe(false);
    expect((await first.readPointer('p.json'))?.body).toBe('2');
  });

  test('the plain file, which web servers read, holds the newest state after a race of writers', async () => {
    const stores = Array.from({ length: 6 }, () => new FileStore(folder.path));
    await stores[0]?.swapPointer('race.json', '0', null);
    const race = async (store: Store) => {
      for (let done = 0; done < 10; ) {
        const pointer = await store.readPointer('race.json');
        if (await store.swapPointer('race.json', `${Number(pointer?.body) + 1}`, pointer?.tag ?? '')) done += 1;
      }
    };
    await Promise.all(stores.map(race));
    expect(await readFile(join(folder.path, 'race.json'), 'utf8')).toBe('60');
  });

  test('the plain file catches up when a writer was killed before it had copied the newest state there', async () => {
    const store = new FileStore(folder.path);
    await store.swapPointer('lagging.json', 'old', null);
    await writeFile(join(folder.path, '.generations/lagging.json/2'), 'new');
    expect((await store.readPointer('lagging.json'))?.body).toBe('new');
    expect(await readFile(join(folder.path, 'lagging.json'), 'utf8')).toBe('new');
  });

  test('a swap whose plain file cannot be written has happened, and the plain file catches up', async () => {
    const store = new FileStore(folder.path);
    await writeFile(join(folder.path, 'blocked'), '');
    const said = rs.spyOn(console, 'error').mockImplementation(() => {});
    expect(await store.swapPointer('blocked/p.json', 'new', null)).toBe(true);
    expect(said.mock.calls).toEqual([[expect.stringMatching(/but blocked\/p\.json could not follow: .* ENOTDIR/)]]);
    said.mockRestore();
    await rm(join(folder.path, 'blocked'));
    expect((await store.readPointer('blocked/p.json'))?.body).toBe('new');
    expect(await readFile(join(folder.path, 'blocked/p.json'), 'utf8')).toBe('new');
  });

  test('an emptied newest generation is no removal: it is read as it is, and the plain file stays', async () => {
    const store = new FileStore(folder.path);
    await store.swapPointer('emptied.json', 'good', null);
    await writeFile(join(folder.path, '.generations/emptied.json/1'), '');
    expect(await store.readPointer('emptied.json')).toEqual({ body: '', tag: '1' });
    expect(await readFile(join(folder.path, 'emptied.json'), 'utf8')).toBe('good');
    expect(await store.swapPointer('emptied.json', 'new', null)).toBe(false);
  });

  test('a pointer that version 1.0.0 removed, by an empty generation, can be made again', async () => {
    const store = new FileStore(folder.path);
    await mkdir(join(folder.path, '.generations/removed.json'), { recursive: true });
    await writeFile(join(folder.path, '.generations/removed.json/2'), '');
    expect(await store.readPointer('removed.json')).toBeNull();
    expect(await store.swapPointer('removed.json', 'new', null)).toBe(true);
    expect(await store.readPointer('removed.json')).toEqual({ body: 'new', tag: '3' });
  });

  describe('a pointer after two hundred and fifty swaps', () => {
    const key = 'often.json';
    const store = () => new FileStore(folder.path);
    let early: Pointer | null;
    beforeAll(async () => {
      await store().swapPointer(key, '1', null);
      early = await store().readPointer(key);
      for (let count = 2; count <= 250; count += 1)
        await store().swapPointer(key, String(count), (await store().readPointer(key))?.tag ?? '');
    });

    test('keeps a hundred generations', async () => {
      const kept = await readdir(join(folder.path, '.generations', key));
      expect(kept.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => 151 + n));
    });

    test('cannot be swapped from a removed or missing generation', async () => {
      expect(await store().swapPointer(key, 'late', early?.tag ?? '')).toBe(false);
      expect(await store().swapPointer(key, 'made again', null)).toBe(false);
      expect((await store().readPointer(key))?.body).toBe('250');
      expect(await readFile(join(folder.path, key), 'utf8')).toBe('250');
    });
  });

  test('leaves no half-written files behind', async () => {
    expect(await readdir(join(folder.path, '.temporary'))).toEqual([]);
  });

  test('keys cannot leave the folder', async () => {
    const store = new FileStore(folder.path);
    for (const key of ['../x', 'a/../../x', '/etc/passwd', 'a\\b', 'a\0b'])
      await expect(store.read(key)).rejects.toThrow('is not a key');
  });

  test('a read-only folder has the time of this machine', async () => {
    // nobody can write there, not even root
    const at = await new FileStore('/sys/kernel').time();
    expect(Math.abs(at.getTime() - Date.now())).toBeLessThan(60_000);
  });

  test('a folder that cannot be written is reported', async () => {
    const blocked = new FileStore(join(folder.path, 'race.json'));
    await expect(blocked.create('x', 'y')).rejects.toMatchObject({ kind: 'unreachable' });
  });

  test.each([
    ['/proc/releases', 'file:/proc/releases failed: ENOENT', ({ store }: OpenedStore) => store.create('x', 'y')],
    ['/proc/signing', 'RELEASES_KEYS=/proc/signing failed: ENOENT', (opened: OpenedStore) => opened.makeSigningKey()],
  ])('%s, which accepts no files, is refused by its name', async (path, line, write) => {
    const refusal = { kind: 'unreachable', message: expect.stringContaining(line) };
    await expect(write(await openStore(path, { RELEASES_KEYS: path }))).rejects.toMatchObject(refusal);
  });

  test('an empty RELEASES_KEYS is as absent', async () => {
    const opened = await openStore(folder.path, { RELEASES_KEYS: '' });
    await opened.makeSigningKey();
    expect(await readdir(join(folder.path, 'keys'))).toEqual(['signing.pem']);
    await writeFile(join(folder.path, 'keys/signing.pem'), '');
    await expect(openStore(`file:${folder.path}`).then((opened) => opened.signingKey())).rejects.toMatchObject({
      message: `${folder.path}/keys/signing.pem is not a PEM private key`,
      cure: expect.stringContaining('Restore it'),
    });
  });
});

/** A store that reports success for every conditional write, as some object stores do. */
class LyingStore extends FileStore {
  override async create(key: string, body: Uint8Array | string): Promise<boolean> {
    await super.create(key, body);
    return true;
  }
}

class SwapLiar extends FileStore {
  override async swapPointer(key: string, body: string, tag: string | null): Promise<boolean> {
    await super.swapPointer(key, body, tag);
    return true;
  }
}

describe('init proves conditional writes', () => {
  test('an honest store passes', () => expect(probeStore(new FileStore(folder.path))).resolves.toBeUndefined());
  test('a store that ignores If-None-Match is refused', () =>
    expect(probeStore(new LyingStore(folder.path))).rejects.toThrow('create the same key'));
  test('a store that ignores If-Match is refused', () =>
    expect(probeStore(new SwapLiar(folder.path))).rejects.toThrow('swap the same state'));
});
