import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { readLog } from '../channel/readChannel.ts';
import { newSigningKey, signedJson } from '../model/signing.ts';
import { openGate, openTestStore, type TestStore } from '../testing/openTestStore.ts';
import {
  createOverride,
  endPreview,
  listPreviews,
  openPreview,
  type Preview,
  parseLocalRemotes,
  readPreview,
  sitesFrom,
  sweepPreviews,
} from './override.ts';
import { activate } from './switching.ts';

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

const browser = 'a'.repeat(32);
const local = 'stories@http://localhost:3101';
const asked = { request: `${local} ${browser}`, person: 'Li Hua', hours: 4, why: 'new list' };
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);
const held = (whose = browser, now = new Date()) => readPreview(at.store, 'production', whose, at.key.publicKey, now);

describe('a link that runs builds in one browser', () => {
  const provides = { react: '19.3.1', 'react-dom': '19.3.1', '@liaozhai/shared/runtime': '1.0.0' };
  const tea = { name: 'tea', path: '/tea', title: '', requiresAuth: false, keepAlive: false, outsideShell: false };
  test.each([
    ['a newer contract', 'needs shared/runtime ^2.0.0, the host has 1.0.0', { contract: '^2.0.0' }],
    ['a newer React', 'needs react ^20.0.0', { shared: { provides: {}, requires: { react: '^20.0.0' } } }],
    ["another remote's address", 'route /tea belongs to', { routes: [{ ...tea, js: [], css: [] }] }],
  ])('is refused to a build with %s, in the words of the gate', async (_, problem, description) => {
    await at.activate(await at.host('1.0.0', { description: { shared: { provides, requires: {} } } }));
    await at.activate(await at.remote('tea'), await at.remote('gifts'));
    const build = await at.remote('gifts', '2.0.0', { description });
    await expect(createOverride(at.writer, [build], 1)).rejects.toMatchObject({
      message: `${build} does not fit what runs now`,
      cure: expect.stringContaining('the same link'),
      details: expect.arrayContaining([expect.stringContaining(problem)]),
    });
  });

  test('accepts compatible builds, and one next to an existing conflict', async () => {
    const [host, next] = [await at.host(), await at.host('2.0.0', { description: { contract: '2.0.0' } })];
    const gifts = await at.remote('gifts', '2.0.0', { description: { contract: '^2.0.0' } });
    await at.activate(host, await at.remote('gifts'));
    await expect(createOverride(at.writer, [next], 1)).rejects.toThrow('does not fit');
    expect((await createOverride(at.writer, [next, gifts], 1)).builds).toEqual([next, gifts]);
    await activate(at.writer, [gifts], { gate: openGate, force: true, why: 'all the same' });
    const tea = await at.remote('tea');
    expect((await createOverride(at.writer, [tea], 1)).builds).toEqual([tea]);
  });
});

describe('a remote from a dev server', () => {
  test.each([
    'stories@http://localhost:3101',
    'stories@http://127.0.0.1:3101',
    'stories@http://[::1]:3101',
    'stories@https://dev.example',
  ])('accepts %s', (word) => {
    expect(parseLocalRemotes([word])).toEqual([{ name: 'stories', origin: word.slice('stories@'.length) }]);
  });

  test.each([
    ['http://localhost:3101', 'names no remote'],
    ['host@http://localhost:3101', 'names no remote'],
    ['stories@http://evil.example', 'neither this machine nor https'],
    ['stories@http://localhost.evil.example:3101', 'neither this machine nor https'],
    ['stories@http://127.0.0.1.evil.example', 'neither this machine nor https'],
    ['stories@http://localhost:3101/path', 'not the address'],
    ['stories@http://a:b@localhost:3101', 'not the address'],
    ['stories@javascript:alert(1)', 'not the address'],
    ["stories@http://localhost:3101;script-src'unsafe-inline'", 'not the address'],
  ])('refuses %s: %s', (word, why) => {
    expect(() => parseLocalRemotes([word])).toThrow(why);
  });

  test('has one address at a time', () => {
    expect(() => parseLocalRemotes([local, 'stories@http://localhost:3102'])).toThrow('named twice');
  });
});

describe('a permit to run one', () => {
  test('is valid in its browser until it expires, and the log names the person', async () => {
    const { document } = await openPreview(at.writer, asked);
    expect(await held()).toMatchObject({ person: 'Li Hua', remotes: [local], who: 'tester', why: 'new list' });
    expect(await held('b'.repeat(32))).toBeNull();
    expect(await held(browser, inHours(3.9))).not.toBeNull();
    expect(await held(browser, inHours(4.1))).toBeNull();
    const [entry] = await readLog(at.writer, document, 1);
    expect(entry).toMatchObject({
      verb: 'preview',
      who: 'tester',
      why: 'new list',
      action: { kind: 'preview', person: 'Li Hua', browser, remotes: [local] },
    });
  });

  test.each([
    ['between its quotes', `'${asked.request}'`],
    [
      'in the command that the page shows',
      `npx liaozhai-release preview open '${asked.request}' --person 李华 --for 4h`,
    ],
    ['with what chats put around it', ` ${asked.request}\n`],
  ])('is given for the line pasted %s', async (_, request) => {
    await openPreview(at.writer, { ...asked, request });
    expect(await held()).toMatchObject({ remotes: [local] });
  });

  test('is ignored if damaged, and can be granted again', async () => {
    const key = `previews/production/${browser}.json`;
    await at.store.swapPointer(key, '{"browser', null);
    expect(await held()).toBeNull();
    await openPreview(at.writer, asked);
    expect(await held()).not.toBeNull();
  });

  test('can be revoked again after a full disk refused it', async () => {
    await openPreview(at.writer, asked);
    await expect(endPreview(at.filling(), browser)).rejects.toMatchObject({ kind: 'unreachable' });
    expect((await endPreview(at.writer, browser)).changed).toBe(true);
  });

  test('is revoked immediately, with a log entry, and changes no other page', async () => {
    await at.activate(await at.host(), await at.remote('stories'));
    const { stable } = await at.current();
    await openPreview(at.writer, asked);
    const { document } = await endPreview(at.writer, browser, { why: 'left the team' });
    expect(await held()).toBeNull();
    expect(document.stable).toEqual(stable);
    expect(document.action).toMatchObject({ verb: 'preview-end', why: 'left the team' });
    await expect(endPreview(at.writer, browser)).rejects.toThrow('no preview is open');
    await openPreview(at.writer, asked);
    expect(await held()).not.toBeNull();
  });

  test('is listed while it is valid', async () => {
    await openPreview(at.writer, asked);
    await openPreview(at.writer, { ...asked, request: `${local} ${'b'.repeat(32)}`, hours: 1 });
    const listed = async (now: Date) =>
      (await listPreviews(at.store, 'production', at.key.publicKey, now)).map((each) => each.browser.slice(0, 1));
    expect((await listed(new Date())).sort()).toEqual(['a', 'b']);
    expect(await listed(inHours(2))).toEqual(['a']);
  });

  test('is removed after its expiry; valid and unreadable ones remain', async () => {
    await openPreview(at.writer, asked);
    await openPreview(at.writer, { ...asked, request: `${local} ${'b'.repeat(32)}`, hours: 1 });
    await at.store.swapPointer(`previews/production/${'d'.repeat(32)}.json`, '{}', null);
    const files = async () => (await at.store.children('previews/production/')).map((file) => file.slice(0, 1)).sort();
    expect(await sweepPreviews(at.store, at.key.publicKey, inHours(2))).toBe(1);
    expect(await files()).toEqual(['a', 'd']);
    await endPreview(at.writer, browser);
    expect(await sweepPreviews(at.store, at.key.publicKey, new Date())).toBe(1);
    expect(await files()).toEqual(['d']);
    await openPreview(at.writer, asked);
    expect(await held()).toMatchObject({ person: 'Li Hua' });
  });

  test('does not make other people’s decisions outdated', async () => {
    await at.activate(await at.host());
    const { seq } = await at.current();
    await openPreview(at.writer, asked);
    await endPreview(at.writer, browser);
    expect((await activate(at.writer, [await at.remote('stories', '3.0.0')], { gate: openGate, seq })).changed).toBe(
      true,
    );
    await expect(
      activate(at.writer, [await at.remote('stories', '3.1.0')], { gate: openGate, seq }),
    ).rejects.toMatchObject({ kind: 'conflict' });
  });

  test('cannot be forged without the key, nor moved to another browser', async () => {
    await openPreview(at.writer, asked);
    const pointer = await at.store.readPointer(`previews/production/${browser}.json`);
    const { sig, ...unsigned } = JSON.parse(pointer?.body ?? '') as Preview;
    const forged = { ...unsigned, browser: 'b'.repeat(32) };
    await at.store.swapPointer(`previews/production/${'b'.repeat(32)}.json`, signedJson(forged, newSigningKey()), null);
    await at.store.swapPointer(`previews/production/${'c'.repeat(32)}.json`, pointer?.body ?? '', null);
    expect(await held()).not.toBeNull();
    expect(await held('b'.repeat(32))).toBeNull();
    expect(await held('c'.repeat(32))).toBeNull();
  });

  test.each([
    [{ request: local }, 'names no browser'],
    [{ request: asked.request.slice(0, -3) }, 'names no browser'],
    [{ request: browser }, '1 to 8 remotes'],
    [{ person: ' ' }, 'opened for somebody'],
  ])('is refused for %j: %s', async (wrong, why) => {
    await expect(openPreview(at.writer, { ...asked, ...wrong })).rejects.toThrow(why);
    expect((await at.current()).seq).toBe(1);
  });
});

test('RELEASES_SITE contains one site, or one per channel', () => {
  const each = sitesFrom('production=https://app.example, preview=https://preview.example/');
  expect([each('production'), each('preview'), each('staging')]).toEqual([
    'https://app.example',
    'https://preview.example',
    null,
  ]);
  expect(sitesFrom('https://app.example')('any')).toBe('https://app.example');
  expect(sitesFrom()('production')).toBeNull();
  expect(() => sitesFrom('app.example')).toThrow('is not an address');
});
