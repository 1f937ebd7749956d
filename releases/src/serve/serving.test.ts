import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { claimKey } from '../builds/catalog.ts';
import { requireChannel } from '../channel/readChannel.ts';
import { buildFolder } from '../model/build.ts';
import { signChannel } from '../model/channel.ts';
import { canonicalJson, newSigningKey } from '../model/signing.ts';
import { kill, rollback } from '../operations/goingBack.ts';
import { createOverride } from '../operations/override.ts';
import { canary } from '../operations/switching.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { ChannelReader, openReleases, type Releases } from './openReleases.ts';

let at: TestStore;
let host: string;
let stories: string;
const problems: unknown[] = [];

beforeEach(async () => {
  at = await openTestStore();
  [host, stories] = [await at.host(), await at.remote('stories', '1.0.0')];
  await at.activate(host, stories);
  problems.length = 0;
});
afterEach(() => at.remove());

const open = (options: Partial<Parameters<typeof openReleases>[0]> = {}): Promise<Releases> =>
  openReleases({ store: at.url, recheckMilliseconds: 0, onProblem: (cause) => problems.push(cause), ...options });

/** Writes a document like somebody who can write to the store but has no key. */
async function plant(text: string): Promise<void> {
  const { tag } = await requireChannel(at.writer);
  await at.store.swapPointer('channels/production.json', text, tag);
}

describe('a page', () => {
  test('runs what is live, and follows a switch', async () => {
    const releases = await open({ recheckMilliseconds: undefined });
    expect((await releases.pageFor({ id: 'v' })).pageSet.remotes.stories?.id).toBe(stories);
    const next = await at.remote('stories', '1.1.0');
    await at.activate(next);
    const deadline = performance.now() + 20_000;
    let seen = '';
    while (seen !== next && performance.now() < deadline) {
      seen = (await releases.pageFor({ id: 'v' })).pageSet.remotes.stories?.id ?? '';
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(seen).toBe(next);
  });

  test('carries the last good build with its hashes, if its contract fits the host', async () => {
    const next = await at.remote('stories', '1.1.0');
    await at.activate(next);
    const { pageSet } = await (await open()).pageFor({ id: 'v' });
    const good = pageSet.remotes.stories?.lastGood;
    expect(good?.id).toBe(stories);
    expect(pageSet.hashes[good?.entry ?? '']).toMatch(/^sha384-/);
    await at.activate(
      await at.host('2.0.0', { description: { contract: '2.0.0' } }),
      await at.remote('stories', '2.0.0', { description: { contract: '^2.0.0' } }),
    );
    expect((await (await open()).pageFor({ id: 'v' })).pageSet.remotes.stories?.lastGood).toBeNull();
  });

  test('with a candidate or an override falls back to the stable set', async () => {
    const [sound, broken] = [await at.remote('stories', '1.1.0'), await at.remote('stories', '1.2.0')];
    await at.activate(sound);
    await canary(at.writer, [broken], 100, { gate: openGate });
    const releases = await open();
    const { pageSet } = await releases.pageFor({ id: 'v' });
    expect(pageSet.remotes.stories).toMatchObject({ id: broken, lastGood: { id: sound } });
    expect(pageSet.hashes[pageSet.remotes.stories?.lastGood?.entry ?? '']).toMatch(/^sha384-/);
    const { id } = await createOverride(at.writer, [broken], 1);
    const overridden = (await releases.pageFor({ id: 'v', override: id })).pageSet;
    expect(overridden.remotes.stories).toMatchObject({ id: broken, lastGood: { id: sound } });
  });

  test('with a candidate whose host cannot run the stable set falls back to the previous build', async () => {
    const sound = await at.remote('stories', '2.0.0', { description: { contract: '^2.0.0' } });
    await at.activate(await at.host('2.0.0', { description: { contract: '2.0.0' } }), sound);
    const broken = await at.remote('stories', '1.2.0');
    await canary(at.writer, [host, broken], 100, { gate: openGate });
    const { pageSet } = await (await open()).pageFor({ id: 'v' });
    expect(pageSet.remotes.stories).toMatchObject({ id: broken, lastGood: { id: stories } });
  });

  test('of a candidate’s visitor runs all of the candidate, others none, and contains which', async () => {
    await canary(at.writer, [await at.remote('stories', '1.1.0'), await at.remote('chat')], 50, { gate: openGate });
    const releases = await open();
    const pages = await Promise.all(Array.from({ length: 60 }, (_, n) => releases.pageFor({ id: `v${n}` })));
    const kinds = new Set(
      pages.map(
        ({ pageSet }) => `${pageSet.candidate} ${pageSet.remotes.stories?.id === stories} ${'chat' in pageSet.remotes}`,
      ),
    );
    expect([...kinds].sort()).toEqual(['false true false', 'true false true']);
  });

  test('of a visitor in two candidates runs both over stable, and names their sets', async () => {
    await at.activate(await at.remote('chat'));
    const [storiesNext, chatNext] = [await at.remote('stories', '1.1.0'), await at.remote('chat', '1.1.0')];
    await canary(at.writer, [storiesNext], 50, { gate: openGate });
    await canary(at.writer, [chatNext], 50, { gate: openGate });
    const { stable, candidate, moreCandidates } = await at.current();
    const releases = await open();
    const pages = await Promise.all(Array.from({ length: 80 }, (_, n) => releases.pageFor({ id: `v${n}` })));
    const sets = [candidate?.set ?? '', moreCandidates?.[0]?.set ?? ''];
    for (const { pageSet } of pages) {
      const runs = [pageSet.remotes.stories?.id === storiesNext, pageSet.remotes.chat?.id === chatNext];
      expect(pageSet.candidate).toBe(runs.includes(true));
      expect(pageSet.candidateSets ?? []).toEqual(sets.filter((_, n) => runs[n]));
      if (!pageSet.candidate) expect(pageSet.set).toBe(stable?.set);
    }
    const kinds = new Set(pages.map(({ pageSet }) => (pageSet.candidateSets ?? []).length));
    expect([...kinds].sort()).toEqual([0, 1, 2]);
  });

  test('is served by a document with a field that a later release has added', async () => {
    const { sig: _, ...document } = await at.current();
    const later = { ...document, seq: document.seq + 1, weather: 'fair' };
    await plant(signChannel(later, at.key));
    expect((await (await open()).pageFor({ id: 'v' })).pageSet.seq).toBe(later.seq);
  });

  test('with an override runs its builds until it ends, is killed, or is not signed', async () => {
    const next = await at.remote('stories', '1.1.0');
    const { id } = await createOverride(at.writer, [next], 1);
    const page = async (options = {}) => (await (await open(options)).pageFor({ id: 'v', override: id })).pageSet;
    expect(await page()).toMatchObject({ override: { id }, remotes: { stories: { id: next } } });
    expect((await page({ now: () => new Date(Date.now() + 2 * 3_600_000) })).override).toBeNull();
    const file = join(at.folder, `store/overrides/production/${id}.json`);
    await writeFile(file, (await readFile(file, 'utf8')).replace(/"why":""/, '"why":"x"'));
    expect((await page()).override).toBeNull();
    const second = await createOverride(at.writer, [next], 1);
    await kill(at.writer, next);
    expect((await (await open()).pageFor({ id: 'v', override: second.id })).pageSet.override).toBeNull();
  });

  test('with an outdated override is the stable page', async () => {
    const next = await at.remote('stories', '1.2.0');
    const { id } = await createOverride(at.writer, [next], 1);
    const page = async () => (await (await open()).pageFor({ id: 'v', override: id })).pageSet;
    expect((await page()).override).toMatchObject({ id });
    const newer = await at.host('2.0.0', { description: { contract: '2.0.0' } });
    const { builds = [] } = (await at.current()).stable ?? {};
    const names = builds.map((build) => build.split('@')[0] ?? '').filter((name) => name !== 'host');
    const moved = names.map((name) => at.remote(name, '2.0.0', { description: { contract: '^2.0.0' } }));
    await at.activate(newer, ...(await Promise.all(moved)));
    const { override, remotes } = await page();
    expect([override, remotes.stories?.id]).toEqual([null, await moved[names.indexOf('stories')]]);
    await at.activate(...builds);
  });

  test('can be requested with any stored set, for the gate', async () => {
    const former = (await at.current()).stable?.set ?? '';
    await at.activate(await at.remote('stories', '1.1.0'));
    expect((await (await open({ set: former })).pageFor({ id: 'v' })).pageSet.remotes.stories?.id).toBe(stories);
  });
});

describe('files', () => {
  test('are served with type, long caching, CORS and the accepted encoding', async () => {
    const releases = await open();
    const { pageSet } = await releases.pageFor({ id: 'v' });
    const entry = pageSet.remotes.stories?.entry ?? '';
    expect((await releases.file(entry, 'br'))?.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    });
    expect((await releases.file(entry))?.headers['content-encoding']).toBeUndefined();
  });

  test('as documents of a build that was never live run no script on the product’s origin', async () => {
    const build = await at.remote('stories', '7.0.0', {
      files: { 'index.html': '<script>1</script>', 'a.svg': '<svg/>' },
    });
    const releases = await open();
    const policyOf = async (path: string) =>
      (await releases.file(`/${buildFolder(build)}/${path}`))?.headers['content-security-policy'];
    expect([await policyOf('index.html'), await policyOf('a.svg')]).toEqual(['sandbox', 'sandbox']);
    expect(await policyOf('remoteEntry.js')).toBeUndefined();
  });

  test.each([
    '/builds/stories/../../keys/signing.pem',
    '/builds/../keys/signing.pem',
    '/keys/signing.pem',
    '/store.json',
    '/builds/stories/1.0.0-000000000000/remoteEntry.js',
    '/builds/stories/%2e%2e/%2e%2e/store.json',
    '/builds/stories/constructor/toString',
  ])('are 404 at %s', async (path) => {
    expect(await (await open()).file(path)).toBeNull();
  });

  test('do not include names of the object prototype', async () => {
    const releases = await open();
    const entry = (await releases.pageFor({ id: 'v' })).pageSet.remotes.stories?.entry ?? '';
    for (const name of ['constructor', '__proto__', 'toString', 'build.json'])
      expect(await releases.file(entry.replace('remoteEntry.js', name))).toBeNull();
  });

  test('are 404 until their build is published', async () => {
    await at.store.create('builds/evil/1.0.0-aaaaaaaaaaaa/x.js', 'alert(1)');
    expect(await (await open()).file('/builds/evil/1.0.0-aaaaaaaaaaaa/x.js')).toBeNull();
  });
});

describe('storage.damaged: an invalid channel document', () => {
  const tampered: [string, () => Promise<string>][] = [
    [
      'is changed',
      async () =>
        (await readFile(join(at.folder, 'store/channels/production.json'), 'utf8')).replace(
          /"percent":\d+|"seq":(\d+)/,
          '"seq":999',
        ),
    ],
    ['has no signature', async () => canonicalJson({ ...(await at.current()), sig: '' })],
    [
      'is signed by another key',
      async () => {
        const { sig: _, ...document } = await at.current();
        return signChannel({ ...document, seq: document.seq + 1 }, newSigningKey());
      },
    ],
    [
      'is of another channel',
      async () => {
        const { sig: _, ...document } = await at.current();
        return signChannel({ ...document, channel: 'preview', seq: document.seq + 1 }, at.key);
      },
    ],
    ['is cut off', async () => canonicalJson(await at.current()).slice(0, 200)],
    ['is no JSON', async () => '<html>'],
    [
      'has expired',
      async () => {
        const { sig: _, ...document } = await at.current();
        return signChannel({ ...document, seq: document.seq + 1, expires: '2020-01-01T00:00:00.000Z' }, at.key);
      },
    ],
  ];
  test.each(tampered)(
    'that %s leaves the last state in a running server, and a new server refuses to start',
    async (_, make) => {
      const releases = await open();
      const before = (await releases.pageFor({ id: 'v' })).pageSet.seq;
      await plant(await make());
      expect((await releases.pageFor({ id: 'v' })).pageSet.seq).toBe(before);
      expect(problems.length).toBeGreaterThan(0);
      await expect(open()).rejects.toMatchObject({ kind: 'refused' });
    },
  );

  test('that is an old one is refused, also after a restart', async () => {
    const seenFile = join(at.folder, 'seen');
    const old = await readFile(join(at.folder, 'store/channels/production.json'), 'utf8');
    await at.activate(await at.remote('stories', '1.1.0'));
    const releases = await open({ seenFile });
    const { seq } = (await releases.pageFor({ id: 'v' })).pageSet;
    await plant(old);
    expect((await releases.pageFor({ id: 'v' })).pageSet.seq).toBe(seq);
    expect(String(problems[0])).toContain('went back');
    await expect(open({ seenFile })).rejects.toThrow('went back');
  });

  test('is served if the disk cannot store the newest state, with one log line', async () => {
    await writeFile(join(at.folder, 'no-folder'), '');
    const releases = await open({ seenFile: join(at.folder, 'no-folder/seen') });
    for (const visitor of ['v', 'w']) await releases.pageFor({ id: visitor });
    const next = await at.remote('stories', '1.1.0');
    await at.activate(next);
    expect((await releases.pageFor({ id: 'v' })).pageSet.remotes.stories?.id).toBe(next);
    expect(problems).toEqual(
      [1, 2].map(() => expect.objectContaining({ kind: 'unreachable', cure: expect.any(String) })),
    );
    expect(String(problems[0])).toContain(join(at.folder, 'no-folder/seen'));
  });

  test('is read from the store once by simultaneous calls', async () => {
    let reads = 0;
    const store = Object.assign(Object.create(at.store), {
      readPointer: (key: string) => {
        reads += 1;
        return at.store.readPointer(key);
      },
    });
    const reader = new ChannelReader({ store, channel: 'production', publicKey: at.key.publicKey });
    await Promise.all(Array.from({ length: 100 }, () => reader.current()));
    expect(reads).toBe(1);
  });
});

describe('storage.damaged: a set or build that was changed in the store', () => {
  test('is refused, never served to a page', async () => {
    const { stable } = await at.current();
    const file = join(at.folder, `store/sets/${stable?.set}.json`);
    await writeFile(file, (await readFile(file, 'utf8')).replace('sha384-', 'sha384-A'));
    await expect((await open()).pageFor({ id: 'v' })).rejects.toThrow('was changed');
  });

  test('is reported with document and cure in one line each', async () => {
    const { stable } = await at.current();
    await writeFile(join(at.folder, `store/sets/${stable?.set}.json`), 'garbage\nof a broken disk');
    await expect((await open()).pageFor({ id: 'v' })).rejects.toMatchObject({
      message: expect.stringMatching(/^set [0-9a-f]{40} is damaged.*$/),
      cure: 'Roll back to another state.',
    });
    await writeFile(join(at.folder, 'store/store.json'), 'garbage\nof a broken disk');
    await expect(open()).rejects.toMatchObject({
      message: expect.stringMatching(/^store\.json of .* is damaged.*$/),
      cure: 'Restore it from a copy of the store.',
    });
  });

  test('in an unused build or file does not affect pages', async () => {
    const next = await at.remote('stories', '1.1.0');
    await at.activate(next);
    const spoil = (id: string) => writeFile(join(at.folder, 'store', buildFolder(id), 'build.json'), '{"damaged":');
    for (const id of [stories, next]) {
      await spoil(id);
      const { pageSet } = await (await open()).pageFor({ id: 'v' });
      expect(pageSet.remotes.stories).toMatchObject({ id: next, lastGood: null });
    }
  });

  test('in the claim of a live build takes no page or file from visitors', async () => {
    await writeFile(join(at.folder, 'store', claimKey('stories', '1.0.0')), '{"id":');
    const releases = await open();
    expect((await releases.pageFor({ id: 'v' })).pageSet.remotes.stories?.id).toBe(stories);
    expect(await releases.file(`/${buildFolder(stories)}/remoteEntry.js`)).not.toBeNull();
    await at.activate(await at.remote('chat', '1.1.0'));
    await expect(at.activate(stories)).resolves.toMatchObject({ changed: false });
  });

  test('is also found in the page template', async () => {
    const [key = ''] = (await at.store.list('builds/host/')).filter((path) => path.endsWith('page.html'));
    await writeFile(join(at.folder, 'store', key), '<!doctype html><script>evil()</script>');
    await expect((await open()).pageFor({ id: 'v' })).rejects.toThrow('was changed');
  });
});

test('a damaged channel comes back as the runbook says', async () => {
  await at.activate(await at.remote('stories', '1.1.0'));
  const releases = await open();
  await releases.pageFor({ id: 'v' });
  await plant('{"damaged":true}');
  const generations = join(at.folder, 'store/.generations/channels/production.json');
  const newest = Math.max(...(await readdir(generations)).map(Number));
  await rm(join(generations, String(newest)));
  const { document } = await rollback(at.writer, { name: 'stories' });
  expect(document.stable?.builds).toContain(stories);
  expect((await (await open()).pageFor({ id: 'v' })).pageSet.seq).toBe(document.seq);
});
