import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@rstest/core';
import { buildFolder, buildIdParts } from '../model/build.ts';
import { openTestStore, type TestStore, writeHost, writeRemote } from '../testing/openTestStore.ts';
import { Catalog, claimKey, listBuilds, publishedIds, readRecord } from './catalog.ts';
import { LIMITS, readPackage } from './package.ts';
import { publish } from './publish.ts';

let at: TestStore;
beforeAll(async () => {
  at = await openTestStore();
});
afterAll(() => at.remove());

describe('publishing', () => {
  test('stores every file with its hash and its compressed forms', async () => {
    const id = await at.remote('stories', '1.0.0');
    const record = await readRecord(at.store, id);
    expect(Object.keys(record.files)).toContain('static/js/async/page.js');
    const key = `${buildFolder(id)}/remoteEntry.js`;
    const plain = await at.store.read(key);
    const packed = await at.store.read(`${key}.br`);
    const zipped = await at.store.read(`${key}.gz`);
    expect(await promisify(brotliDecompress)(packed ?? '')).toEqual(plain);
    expect(await promisify(gunzip)(zipped ?? '')).toEqual(plain);
  });

  test('a very long publisher name is shortened', async () => {
    const built = await readPackage(await writeRemote(at.place(), 'letters', 'long'));
    const publisher = 'x'.repeat(300);
    const { id } = await publish(at.store, built, { commit: null, at: new Date().toISOString(), publisher });
    const [found] = await listBuilds(at.writer.catalog, 'letters');
    expect(found).toMatchObject({ id, provenance: { publisher: 'x'.repeat(120) } });
  });

  test('a damaged build is listed as damaged, and the others are listed', async () => {
    const [damaged, good] = [await at.remote('maps', '1.0.0'), await at.remote('maps', '1.1.0')];
    await writeFile(join(at.folder, 'store', buildFolder(damaged), 'build.json'), '{}');
    const found = await listBuilds(new Catalog(at.store), 'maps');
    expect(found.find(({ id }) => id === damaged)?.problem).toContain('is damaged');
    expect(found.find(({ id }) => id === good)?.problem).toBeUndefined();
  });

  test.each([
    ['torn', '{'],
    ['lacking', '{"at": 1}'],
  ])('a damaged record of a version is reported with a cure: %s', async (name, text) => {
    const dist = await writeRemote(at.place(), name, 'same');
    const damaged = await at.publishFrom(dist);
    await writeFile(join(at.folder, 'store', claimKey(name, buildIdParts(damaged).version)), text);
    const refusal = await at.publishFrom(dist).catch((cause) => cause);
    expect(refusal.message).toMatch(/^versions\/\w+\/\S+\.json of \S+ is damaged/);
    expect(refusal.cure).toContain('publish the build again');
    const sound = await at.remote(name, '1.1.0');
    const listed = await listBuilds(new Catalog(at.store), name);
    expect(Object.fromEntries(listed.map(({ id, problem }) => [id, problem]))).toEqual({
      [sound]: undefined,
      [damaged]: refusal.message,
    });
  });

  test.each(['remoteEntry.js', 'remoteEntry.js.br'])('the same bytes again restore %s', async (file) => {
    const dist = await writeRemote(at.place(), 'tales', file);
    const version = file.endsWith('.br') ? '1.1.0' : '1.0.0';
    const id = await at.publishFrom(dist, version);
    const key = `${buildFolder(id)}/${file}`;
    const stored = await at.store.read(key);
    await at.store.remove(key);
    expect(await at.publishFrom(dist, version)).toBe(id);
    expect(await at.store.read(key)).toEqual(stored);
  });

  test('the same bytes again are the same build', async () => {
    const dist = await writeRemote(at.place(), 'chat', 'same');
    expect(await at.publishFrom(dist)).toBe(await at.publishFrom(dist));
  });

  test('equal contents under two versions share their hash', async () => {
    const dist = await writeRemote(at.place(), 'wallet', 'same');
    const [one, two] = [await at.publishFrom(dist, '1.0.0'), await at.publishFrom(dist, '1.0.1')];
    expect(one.split('+')[1]).toBe(two.split('+')[1]);
    expect(await publishedIds(at.store, 'wallet')).toEqual([one, two]);
  });

  test('a version with different bytes is refused with a cure', async () => {
    await at.publishFrom(await writeRemote(at.place(), 'account', 'first'), '2.0.0');
    const second = await writeRemote(at.place(), 'account', 'second');
    await expect(at.publishFrom(second, '2.0.0')).rejects.toMatchObject({
      kind: 'refused',
      cure: expect.stringContaining('--version'),
    });
  });

  test('of two simultaneous builds with one version, one is published', async () => {
    const dists = await Promise.all(['a', 'b'].map((source) => writeRemote(at.place(), 'gifts', source)));
    const results = await Promise.allSettled(dists.map((dist) => at.publishFrom(dist, '1.0.0')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await publishedIds(at.store, 'gifts')).toHaveLength(1);
  });

  test('a remote from another build tool gets the names of all missing fields', async () => {
    const dist = at.place();
    await mkdir(dist);
    await writeFile(join(dist, 'remoteEntry.js'), 'var x');
    await writeFile(
      join(dist, 'liaozhai.json'),
      JSON.stringify({ kind: 'remote', name: 'games', label: '游戏', version: '1.0.0', entry: 'remoteEntry.js' }),
    );
    const failure: { details: string[] } = await at.publishFrom(dist).then(
      () => ({ details: [] }),
      (cause) => cause,
    );
    for (const field of [
      'sourceHash',
      'federation',
      'contract',
      'shared',
      'global',
      'exposes',
      'module',
      'routes',
      'slots',
    ])
      expect(failure.details.join('\n')).toContain(field);
  });
});

async function refusal(dist: string, version?: string): Promise<string> {
  const failure = await at.publishFrom(dist, version).then(
    () => ({ message: 'was published', details: [] as string[] }),
    (cause: { message: string; details: string[] }) => cause,
  );
  return [failure.message, ...(failure.details ?? [])].join('\n');
}

const routeAt = (path: string) => {
  const plain = { title: '', requiresAuth: false, keepAlive: false, outsideShell: false, js: [], css: [] };
  return { routes: [{ name: 'x', path, ...plain }] };
};

describe('sec.releases: what cannot be published', () => {
  test('a folder that is not there or holds no build', async () => {
    expect(await refusal(join(at.folder, 'nowhere'))).toContain('holds no liaozhai.json');
    expect(await refusal(at.folder)).toContain('holds no liaozhai.json');
  });

  test('a build whose named files are missing', async () => {
    const dist = await writeRemote(at.place(), 'stories', 'x', { files: { 'remoteEntry.js': null } });
    expect(await refusal(dist)).toContain('entry names remoteEntry.js, which is not in the build');
  });

  const [page, style] = ['static/js/async/page.js', 'static/css/page.css'];
  const notFound = '\n<!DOCTYPE html><title>404</title>';
  test.each([
    ['remoteEntry.js', 'var stories = (() => {', 'does not parse'],
    ['remoteEntry.js', ' ', 'is empty'],
    ['remoteEntry.js', 'export const get = 1;', 'does not parse'],
    [page, notFound, 'is a web page'],
    [page, '<!-- not found -->', 'is a web page'],
    [page, '{"message":"not found"}', 'is JSON'],
    [page, '["not found"]', 'is JSON'],
    [page, 'upstream timed out', 'does not parse'],
    [page, 'export const show = () => {', 'does not parse'],
    [page, '', 'is empty'],
    ['static/js/late.mjs', notFound, 'is a web page'],
    [style, notFound, 'is a web page'],
    [style, '{"message":"not found"}', 'is JSON'],
    [style, '@media (width > 40rem) { .a { color: red }', 'ends inside a rule'],
    [style, '.a { color: red } /* the', 'ends inside a rule, comment'],
    [style, '@import "./lanterns', 'ends inside a rule, comment or string'],
    ['static/lantern.png', notFound, 'is a web page'],
    ['static/lantern.json', notFound, 'is a web page'],
  ])('a file that is not what its name says: %s with %j', async (path, text, problem) => {
    const dist = await writeRemote(at.place(), 'stories', text, { files: { [path]: text } });
    expect(await refusal(dist)).toContain(`${path} ${problem}`);
  });

  test.each([
    [page, 'export const show = (await import("./x.js")).default;'],
    [page, 'with (Math) max(1, 2);'],
    [page, '// <!doctype html>\n"{"'],
    [style, ''],
    [style, `.a\\{ { content: "{'"; background: url(data:image/svg+xml,{}\\){), url( ")'{") } /* { " \\*/`],
    ['static/lantern.svg', '<!-- a lantern --><svg/>'],
    ['static/licences.txt', '<!doctype html>'],
    ['static/empty.json', ''],
  ])('nothing, if a file is unusual but valid: %s with %j', async (path, text) => {
    const dist = await writeRemote(at.place(), 'unusual', 'one', { files: { [path]: text } });
    expect((await readPackage(dist)).files.get(path)?.toString()).toBe(text);
  });

  test('nothing, if an ES module is empty', async () => {
    const description = { entryType: 'module' as const };
    const dist = await writeRemote(at.place(), 'modules', 'empty', { description, files: { [page]: '\n' } });
    expect((await readPackage(dist)).description).toMatchObject(description);
  });

  test('symbolic links, even to files inside', async () => {
    const dist = await writeRemote(at.place(), 'stories', 'link');
    await symlink('/etc/passwd', join(dist, 'static/passwd.txt'));
    expect(await refusal(dist)).toContain('symbolic link');
  });

  test('links in place of folders', async () => {
    const dist = await writeRemote(at.place(), 'stories', 'link2');
    await symlink('/etc', join(dist, 'etc'));
    expect(await refusal(dist)).toContain('symbolic link');
  });

  test.each([
    ['a path that climbs out', { entry: '../../host/remoteEntry.js' }],
    ['an absolute path', { entry: '/etc/passwd' }],
    ['a backslash', { entry: 'a\\b.js' }],
    ['a name with blanks', { name: 'Sto ries' }],
    ['a name that climbs', { name: '../stories' }],
    ['a global that is code', { global: 'x;alert(1)' }],
    ['a route that is no path', routeAt('javascript:1')],
    ['a route that climbs out', routeAt('/../../srv/other')],
    ['a route with an empty part', routeAt('//story')],
    ['a version with metadata', { version: '1.0.0+x' }],
  ])('a description with %s', async (_, description) => {
    expect(await refusal(await writeRemote(at.place(), 'stories', 'bad', { description }))).toContain(
      'does not meet the contract',
    );
  });

  test('a remote with the name of the host, and a host with another', async () => {
    const named = [
      await writeRemote(at.place(), 'host', 'remote'),
      await writeHost(at.place(), 'other', { description: { name: 'account' } }),
    ];
    for (const dist of named) expect(await refusal(dist)).toContain('name: the host build, and no other');
  });

  test('a host with a prerelease of the contract, which no range of a remote takes', async () => {
    const dist = await writeHost(at.place(), 'beta', { description: { contract: '3.1.0-beta.1' } });
    expect(await refusal(dist)).toContain('contract: "3.1.0-beta.1" must be a version such as 3.0.0');
  });

  test.each([
    ['hidden files', '.env', 'hidden files'],
    ['unknown endings', 'tool.exe2', 'no known media type'],
    ['names of the release system', 'build.json', 'belongs to the release system'],
    ['files compressed by someone else', 'remoteEntry.js.br', 'belongs to the release system'],
    ['blanks in names', 'a b.js', 'blanks'],
  ])('%s', async (_, path, reason) => {
    expect(await refusal(await writeRemote(at.place(), 'stories', 'bad', { files: { [path]: 'x' } }))).toContain(
      reason,
    );
  });

  test('a build that changes during publishing', async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`f/${n}.txt`, '']));
    const dist = await writeRemote(at.place(), 'stories', 'x', { files });
    const state = { isRead: false };
    const reading = refusal(dist).finally(() => {
      state.isRead = true;
    });
    for (let n = 0; !state.isRead; n += 1) {
      await writeFile(join(dist, 'f/0.txt'), `${n}`);
      await rm(join(dist, 'f/299.txt'));
      await writeFile(join(dist, 'f/299.txt'), '');
    }
    expect(await reading).toContain('changed while it was read');
  });

  test('files and builds beyond the limits', async () => {
    const big = 'x'.repeat(LIMITS.fileBytes + 1);
    expect(await refusal(await writeRemote(at.place(), 'stories', 'big', { files: { 'big.txt': big } }))).toContain(
      'more than the',
    );
    const many = Object.fromEntries(Array.from({ length: LIMITS.files + 1 }, (_, n) => [`f/${n}.txt`, '']));
    expect(await refusal(await writeHost(at.place(), 'many', { files: many }))).toContain('files, more than the');
  });

  test('a liaozhai.json that is not JSON', async () => {
    expect(await refusal(await writeRemote(at.place(), 'stories', 'x', { files: { 'liaozhai.json': '{' } }))).toContain(
      'is not JSON',
    );
  });

  test('a gate.json that the gate cannot read, with the places', async () => {
    const gate = JSON.stringify({ answers: { '/api/v1/gifts': {} }, answer: {} });
    const found = await refusal(await writeRemote(at.place(), 'stories', 'x', { files: { 'gate.json': gate } }));
    expect(found).toContain('gate.json is not what the gate reads');
    expect(found).toContain('must be a method and a path');
  });

  test('an invalid version', async () => {
    expect(await refusal(await writeRemote(at.place(), 'stories', 'x'), 'v1')).toContain('is not a version');
  });

  test('a refused build leaves nothing in the store', async () => {
    expect((await publishedIds(at.store, 'stories')).length).toBe(1);
    expect(await readFile(join(at.folder, 'store/store.json'), 'utf8')).toContain('publicKey');
  });
});
