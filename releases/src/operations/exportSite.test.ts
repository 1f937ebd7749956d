import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@rstest/core';
import { buildFileHeaders } from '../builds/files.ts';
import { changeChannel } from '../channel/changeChannel.ts';
import { storeSet } from '../channel/composeSet.ts';
import { setHash } from '../model/build.ts';
import { openTestStore, type TestStore } from '../testing/openTestStore.ts';
import { exportSite } from './exportSite.ts';

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

test('export writes nothing outside its folder for any set', async () => {
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
    action: { kind: 'activate', builds: stable.builds },
  }));
  await expect(exportSite(at.writer, { folder: join(at.folder, 'site'), config: {} })).rejects.toThrow('leads out of');
  await expect(stat(join(at.folder, 'escaped'))).rejects.toThrow('ENOENT');
});

test('a repeated export removes pages of removed routes, but no foreign files', async () => {
  const flags = { title: '', requiresAuth: false, keepAlive: false, outsideShell: false, js: [], css: [] };
  const routes = ['/old', '/old/deep'].map((path, n) => ({ name: `old${n}`, path, ...flags }));
  await at.activate(await at.host(), await at.remote('stories', '1.0.0', { description: { routes } }));
  const folder = join(at.folder, 'site');
  await exportSite(at.writer, { folder, config: {} });
  await mkdir(join(folder, 'help'));
  await writeFile(join(folder, 'help/index.html'), '<h1>help</h1>');
  await at.activate(await at.remote('stories', '1.1.0'));
  await exportSite(at.writer, { folder, config: {} });
  const files = await readdir(folder, { recursive: true });
  const pages = files.filter((file) => file.endsWith('index.html')).sort();
  expect(pages).toEqual(['help/index.html', 'index.html', 'stories/index.html']);
});

test('an export writes only into an empty folder or an earlier export, and names the cure', async () => {
  await at.activate(await at.host(), await at.remote('stories'));
  const make = (path: string) => mkdir(join(at.folder, path), { recursive: true });
  const exportTo = (path: string) => exportSite(at.writer, { folder: join(at.folder, path), config: {} });
  await writeFile(join(at.folder, 'file'), 'mine');
  await make('mine/channels');
  await writeFile(join(at.folder, 'mine/index.html'), 'mine');
  await make('empty');
  expect((await exportTo('empty')).pages).toContain('/stories');
  for (const path of ['file', 'file/site'])
    await expect(exportTo(path)).rejects.toMatchObject({ kind: 'usage', message: expect.stringContaining('file') });
  await expect(exportTo('mine')).rejects.toMatchObject({
    kind: 'usage',
    message: expect.stringContaining('no earlier export'),
    cure: expect.stringContaining('empty'),
  });
  expect(await readdir(join(at.folder, 'mine'))).toEqual(['channels', 'index.html']);
  await make('broken/channels');
  for (const path of ['_headers', 'builds']) await writeFile(join(at.folder, 'broken', path), 'a file');
  await expect(exportTo('broken')).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining(join(at.folder, 'broken')),
    cure: expect.stringContaining('has room'),
  });
});

test('the nginx recipe blocks scripts of the same documents', async () => {
  const recipe = await readFile(new URL('../../../docs/deploying/serving.md', import.meta.url), 'utf8');
  const [, variable = '', types = ''] = /map \$sent_http_content_type (\S+) { ~(\S+) sandbox; }/.exec(recipe) ?? [];
  expect(recipe.slice(recipe.indexOf('location /builds/ {\n'))).toContain(
    `Content-Security-Policy ${variable} always;`,
  );
  for (const file of ['page.html', 'a.svg', 'feed.rss', 'b.xhtml', 'entry.js', 'a.css', 'a.json', 'a.webp', 'a.txt']) {
    const headers = buildFileHeaders(file);
    expect([file, new RegExp(types).test(headers['content-type'] ?? '')]).toEqual([
      file,
      headers['content-security-policy'] === 'sandbox',
    ]);
  }
});

test('exported pages, headers and channel match', async () => {
  const documents = { 'favicon.svg': '<svg/>', 'deep/feed.rss': '<rss/>', 'note.txt': 'no document' };
  await at.activate(await at.host('1.0.0', { files: documents }), await at.remote('stories'));
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
  // hosts join the policies of all rules for a path, and each of them applies
  const sandboxed = rules.filter(([, ...lines]) => lines.join().includes('content-security-policy: sandbox'));
  expect(sandboxed.map(([path]) => path)).toEqual(['/builds/*.html', '/builds/*.rss', '/builds/*.svg']);
  expect(JSON.parse(await read('channels/production.json')).seq).toBe((await at.current()).seq);
  expect([await read('sw.js'), await read('favicon.svg')]).toEqual([
    'self.addEventListener("fetch", () => undefined);',
    '<svg/>',
  ]);
  await expect(read('keys/signing.pem')).rejects.toThrow();
});
