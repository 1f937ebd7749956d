import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY_MS } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { initChannel } from '../channel/changeChannel.ts';
import { openReleases } from '../serve/openReleases.ts';
import { prepareStore } from '../store/store.ts';
import { openTestStore, type TestStore, temporaryFolder, writeHost, writeRemote } from '../testing/openTestStore.ts';
import { publishLocal } from './publishLocal.ts';

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

describe('init', () => {
  test('can be repeated; an ageing document is signed again', async () => {
    await prepareStore(at.opened);
    expect((await initChannel(at.writer)).changed).toBe(false);
    const { changed, document } = await initChannel(at.after(40 * DAY_MS));
    expect([changed, document.seq]).toEqual([true, 2]);
    expect(Date.parse(document.expires)).toBeGreaterThan(Date.now() + 120 * DAY_MS);
  });

  test('makes the private key readable for its owner only', async () => {
    const mode = async (path: string) => (await stat(join(at.folder, 'store', path))).mode & 0o777;
    expect([await mode('keys/signing.pem'), await mode('keys')]).toEqual([0o600, 0o700]);
  });

  test('refuses a key of another store', async () => {
    const other = await openTestStore();
    const foreign = { ...at.opened, signingKey: other.opened.signingKey };
    await expect(prepareStore(foreign)).rejects.toThrow('is not the one of');
    await other.remove();
  });
});

describe('publishLocal, as npm start uses it', () => {
  test('publishes everything in one switch, does nothing without a change, and follows an edit', async () => {
    const { path, remove } = await temporaryFolder();
    const dists = [await writeHost(`${path}/host`, 'a'), await writeRemote(`${path}/stories`, 'stories', 'a')];
    const options = { dists, store: `file:${path}/store` };
    const first = await publishLocal(options);
    expect(first).toMatchObject({ seq: 2, changed: true, problems: [] });
    expect(first.builds[1]).toMatch(/^stories@1\.0\.0-dev\.s[0-9a-f]{12}\+/);
    expect(await publishLocal(options)).toMatchObject({ seq: 2, changed: false });
    await writeRemote(`${path}/stories`, 'stories', 'b');
    expect(await publishLocal(options)).toMatchObject({ seq: 3, changed: true });
    await remove();
  });

  test('a source hash of digits with a leading zero results in a valid version', async () => {
    const { path, remove } = await temporaryFolder();
    const description = { sourceHash: '066154183469' };
    const dists = [
      await writeHost(`${path}/host`, 'a'),
      await writeRemote(`${path}/stories`, 'stories', 'a', { description }),
    ];
    const { builds } = await publishLocal({ dists, store: `file:${path}/store` });
    expect(builds[1]).toContain('stories@1.0.0-dev.s066154183469+');
    await remove();
  });

  test('equal sources with different bytes get another version and a notice', async () => {
    const { path, remove } = await temporaryFolder();
    const dists = [await writeHost(`${path}/host`, 'a'), await writeRemote(`${path}/stories`, 'stories', 'a')];
    const options = { dists, store: `file:${path}/store` };
    await publishLocal(options);
    await writeRemote(`${path}/stories`, 'stories', 'a', { files: { 'static/css/page.css': '.other{}' } });
    const second = await publishLocal(options);
    expect(second.builds[1]).toMatch(/-dev\.s[0-9a-f]{12}\.b[0-9a-f]{8}\+/);
    expect(second.problems.join()).toContain('shares a global');
    await remove();
  });

  test('a restart without an edit keeps a rollback; an edit and its reversal go live', async () => {
    const { path, remove } = await temporaryFolder();
    const dists = [await writeHost(`${path}/host`, 'a'), await writeRemote(`${path}/stories`, 'stories', 'a')];
    const options = { dists, store: `file:${path}/store` };
    const live = async () =>
      (await (await openReleases({ store: options.store })).current()).stable?.builds.find((id) =>
        id.startsWith('stories@'),
      );
    const a = await publishLocal(options);
    await writeRemote(`${path}/stories`, 'stories', 'b');
    const b = await publishLocal({ ...options, startedBefore: a.builds });
    expect(await live()).toBe(b.builds[1]);
    // like after a rollback: the earlier build is live, but the sources are those of b
    await writeRemote(`${path}/stories`, 'stories', 'a');
    await publishLocal(options);
    await writeRemote(`${path}/stories`, 'stories', 'b');
    expect(await publishLocal({ ...options, startedBefore: b.builds })).toMatchObject({ changed: false });
    expect(await live()).toBe(a.builds[1]);
    expect(await publishLocal({ ...options, startedBefore: a.builds })).toMatchObject({ changed: true });
    expect(await live()).toBe(b.builds[1]);
    await remove();
  });

  test('a broken package changes nothing', async () => {
    const { path, remove } = await temporaryFolder();
    const host = await writeHost(`${path}/host`, 'a');
    const options = {
      store: `file:${path}/store`,
      dists: [host, await writeRemote(`${path}/stories`, 'stories', 'a')],
    };
    const { seq } = await publishLocal(options);
    await writeRemote(`${path}/stories`, 'stories', 'b', { files: { 'liaozhai.json': '{}' } });
    await expect(publishLocal(options)).rejects.toMatchObject({ kind: 'refused' });
    expect((await (await openReleases({ store: options.store })).current()).seq).toBe(seq);
    await remove();
  });
});
