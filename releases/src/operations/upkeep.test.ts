import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, rs, test } from '@rstest/core';
import { changeChannel, storeSet } from '../channel/changeChannel.ts';
import { setHash } from '../model/set.ts';
import { publishedIds } from '../publish/publish.ts';
import { openReleases } from '../serve/openReleases.ts';
import { openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { temporaryFolder, writeHost, writeRemote } from '../testing/writePackage.ts';
import { collectGarbage } from './collectGarbage.ts';
import { exportSite } from './exportSite.ts';
import { initChannel, prepareStore } from './init.ts';
import { createOverride } from './override.ts';
import { publishLocal } from './publishLocal.ts';

// every test works on a store of its own and waits for its disk
rs.setConfig({ testTimeout: 60_000 });

const DAY = 86_400_000;
let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

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
    expect((await collectGarbage(at.writer.catalog, at.key.publicKey, { ...options, now: inDays(6) })).removed).toEqual(
      [],
    );
    await createOverride({ ...at.writer, now: inDays(7) }, [overridden], 48);
    expect(
      (await collectGarbage(at.writer.catalog, at.key.publicKey, { ...options, now: inDays(8), dryRun: true })).removed,
    ).toEqual([unused]);
    expect(await publishedIds(at.store)).toContain(unused);
    expect((await collectGarbage(at.writer.catalog, at.key.publicKey, { ...options, now: inDays(8) })).removed).toEqual(
      [unused],
    );
    expect((await publishedIds(at.store)).sort()).toEqual([host, first, second, overridden].sort());
    expect((await at.store.list('builds/chat/')).some((key) => key.includes('2.0.0'))).toBe(false);
    await at.activate(overridden);
  });

  test('spares a build that a switch picked up in the meantime', async () => {
    const [host, old] = [await at.host(), await at.remote('stories')];
    await at.activate(host);
    const collecting = collectGarbage(at.writer.catalog, at.key.publicKey, {
      dryRun: false,
      graceMilliseconds: 400,
      now: inDays(8),
    });
    await at.activate(old);
    expect((await collecting).removed).toEqual([]);
    expect(await publishedIds(at.store)).toContain(old);
  });
});

describe('init', () => {
  test('again does no harm; an ageing document is signed anew', async () => {
    await prepareStore(at.opened);
    expect((await initChannel(at.writer)).changed).toBe(false);
    const later = { ...at.writer, now: () => new Date(Date.now() + 40 * DAY) };
    const { changed, document } = await initChannel(later);
    expect([changed, document.seq]).toEqual([true, 2]);
    expect(Date.parse(document.expires)).toBeGreaterThan(Date.now() + 120 * DAY);
  });

  test('keeps the private key from everyone else', async () => {
    const mode = async (path: string) => (await stat(join(at.folder, 'store', path))).mode & 0o777;
    expect([await mode('keys/signing.pem'), await mode('keys')]).toEqual([0o600, 0o700]);
  });

  test("refuses a key that is not the store's", async () => {
    const other = await openTestStore();
    const foreign = { ...at.opened, signingKey: other.opened.signingKey };
    await expect(prepareStore(foreign)).rejects.toThrow('is not the one of');
    await other.remove();
  });
});

describe('publishLocal, as npm start uses it', () => {
  test('publishes everything in one switch, does nothing when nothing changed, and follows an edit', async () => {
    const { path, remove } = await temporaryFolder();
    const dists = [await writeHost(`${path}/host`, 'a'), await writeRemote(`${path}/stories`, 'stories', 'a')];
    const options = { dists, store: `file:${path}/store` };
    const first = await publishLocal(options);
    expect(first).toMatchObject({ seq: 2, changed: true, problems: [] });
    expect(first.builds[1]).toMatch(/^stories@1\.0\.0-dev\.[0-9a-f]{12}\+/);
    expect(await publishLocal(options)).toMatchObject({ seq: 2, changed: false });
    await writeRemote(`${path}/stories`, 'stories', 'b');
    expect(await publishLocal(options)).toMatchObject({ seq: 3, changed: true });
    await remove();
  });

  test('equal sources with other bytes go by a version of their own, and the developer is told', async () => {
    const { path, remove } = await temporaryFolder();
    const dists = [await writeHost(`${path}/host`, 'a'), await writeRemote(`${path}/stories`, 'stories', 'a')];
    const options = { dists, store: `file:${path}/store` };
    await publishLocal(options);
    await writeRemote(`${path}/stories`, 'stories', 'a', { files: { 'static/css/page.css': '.other{}' } });
    const second = await publishLocal(options);
    expect(second.builds[1]).toMatch(/-dev\.[0-9a-f]{12}\.b[0-9a-f]{8}\+/);
    expect(second.problems.join()).toContain('shares a global');
    await remove();
  });

  test('starting again without an edit leaves a rollback alone; an edit goes live, and so does taking it back', async () => {
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
    // as a rollback would: the earlier build is live while the sources are those of b
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

test('export writes nothing outside its folder, whatever a set says', async () => {
  await at.activate(await at.host(), await at.remote('stories'));
  const { stable } = await at.current();
  const body = await at.writer.catalog.set(stable?.set ?? '');
  const [route] = body.remotes.stories?.routes ?? [];
  if (!stable || !route) throw new Error('stories is not live');
  route.path = '/../escaped';
  const set = setHash(body);
  await storeSet(at.store, set, body);
  await changeChannel(at.writer, async ({ candidate, lastGood, killed, digests }) => ({
    state: { stable: { ...stable, set }, candidate, lastGood, killed, digests },
    action: { verb: 'activate', what: 'a set from elsewhere', why: '' },
  }));
  await expect(exportSite(at.writer, { folder: join(at.folder, 'site'), config: {} })).rejects.toThrow('leads out of');
  await expect(stat(join(at.folder, 'escaped'))).rejects.toThrow('ENOENT');
});

test('export writes a tree whose pages, headers and channel fit together', async () => {
  await at.activate(await at.host('1.0.0', { files: { 'favicon.svg': '<svg/>' } }), await at.remote('stories'));
  const folder = join(at.folder, 'site');
  const { pages } = await exportSite(at.writer, { folder, config: { a: 1 } });
  expect(pages).toEqual(['/', '/stories']);
  const read = (path: string) => readFile(join(folder, path), 'utf8');
  const page = await read('stories/index.html');
  const [, entry = ''] = /as="script" href="\/(builds\/stories\/[^"]+remoteEntry.js)"/.exec(page) ?? [];
  expect(await read(entry)).toContain('stories');
  expect(page).toContain('<meta http-equiv="content-security-policy" content="default-src &#39;none&#39;; script-src ');
  const rules = (await read('_headers')).split('\n\n').map((rule) => rule.trim().split('\n'));
  const namesOf = (path: string) =>
    (rules.find(([first]) => first === path) ?? []).slice(1).map((line) => line.trim().split(':')[0]);
  expect(namesOf('/*')).toContain('x-content-type-options');
  for (const path of ['/', '/stories', '/builds/*', '/channels/*', '/sw.js']) {
    expect(namesOf(path)).toContain('cache-control');
    expect(namesOf(path).filter((name) => namesOf('/*').includes(name))).toEqual([]);
  }
  expect(JSON.parse(await read('channels/production.json')).seq).toBe((await at.current()).seq);
  expect([await read('sw.js'), await read('favicon.svg')]).toEqual([
    'self.addEventListener("fetch", () => undefined);',
    '<svg/>',
  ]);
  await expect(read('keys/signing.pem')).rejects.toThrow();
});
