import { expect, test } from '@rstest/core';
import { FileStore } from '../store/fileStore.ts';
import type { Pointer } from '../store/store.ts';
import { openTestStore } from '../testing/openTestStore.ts';
import { ChannelReader } from './openReleases.ts';

/** A store that stops responding, as a network share or a bucket may. */
class HangingStore extends FileStore {
  #gate = Promise.resolve();

  hang(): () => void {
    let open = () => {};
    this.#gate = new Promise((resolve) => {
      open = resolve;
    });
    return () => open();
  }

  override async readPointer(key: string): Promise<Pointer | null> {
    await this.#gate;
    return super.readPointer(key);
  }
}

test('while the store hangs the known state is served, and the newer one once the store answers', async () => {
  const at = await openTestStore();
  const store = new HangingStore(`${at.folder}/store`);
  const reader = new ChannelReader({
    store,
    channel: 'production',
    publicKey: at.key.publicKey,
    recheckMilliseconds: 0,
  });
  const seq = async () => (await reader.current()).document.seq;
  expect(await seq()).toBe(1);
  const answerAgain = store.hang();
  await at.activate(await at.host());
  expect([await seq(), await seq()]).toEqual([1, 1]);
  answerAgain();
  await expect.poll(seq).toBe(2);
  await at.remove();
});
