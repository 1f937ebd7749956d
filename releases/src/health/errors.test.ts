import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ErrorReport } from '@liaozhai/shared/contract';
import { afterEach, beforeEach, describe, expect, test } from '@rstest/core';
import { readPackage } from '../builds/package.ts';
import { isSourceMap } from '../builds/sourceMaps.ts';
import { errorSentence } from '../english.ts';
import { buildFolder } from '../model/build.ts';
import { collectGarbage } from '../operations/collectGarbage.ts';
import { openReleases } from '../serve/openReleases.ts';
import { openTestStore, type TestStore, writeRemote } from '../testing/openTestStore.ts';
import { readHealth } from './autoStop.ts';
import { HealthReader, HealthRecorder } from './healthRecord.ts';

let at: TestStore;
beforeEach(async () => {
  at = await openTestStore();
});
afterEach(() => at.remove());

/** Output of esbuild for a source of five lines, and its map: `.at(` in column 29 is in line 3 of the source. */
const script =
  '(()=>{function t(e){return e.at(-1).length+"a sentence of the sources".length}Object.assign(globalThis,{newest:t});})();\n';
const map = JSON.stringify({
  version: 3,
  sources: ['webpack://@liaozhai/stories/./src/components/ChatLog.ts'],
  sourcesContent: ["const secret = 'a sentence of the sources';"],
  mappings:
    'MAAO,SAASA,EAAOC,EAA2B,CAEhD,OAAOA,EAAK,GAAG,EAAE,EAAG,OADL,4BACqB,MACtC,CACA,OAAO,OAAO,WAAY,CAAE,OAAAD,CAAO,CAAC',
  names: ['newest', 'log'],
});
const [page, pageMap] = ['static/js/async/page.js', 'static/js/async/page.js.map'];

async function distOf(version: string, files: Record<string, string> = { [page]: script, [pageMap]: map }) {
  const dist = await writeRemote(at.place(), 'stories', version);
  for (const [path, text] of Object.entries(files)) await writeFile(join(dist, path), text);
  return dist;
}

/** Two builds, the newer one live, and a way to report errors of it. */
async function openLive() {
  const [host, old, live] = [
    await at.host(),
    await at.publishFrom(await distOf('1.0.0'), '1.0.0'),
    await at.publishFrom(await distOf('1.4.0'), '1.4.0'),
  ];
  await at.activate(host, live);
  const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
  const reader = new HealthReader(at.store, 'production');
  const frame = (place: string) => `${buildFolder(live).replace('builds/', '')}/${page}:${place}`;
  const thrown: ErrorReport = {
    ...{ build: live, kind: 'uncaught', name: 'TypeError', message: null, route: '/story/:id' },
    frames: [frame('1:29')],
  };
  return {
    ...{ host, old, live, frame, thrown },
    visit: (visitor: string) =>
      recorder.record({ build: live, set: '', candidate: false, outcome: 'loaded' }, visitor, new Date()),
    fail: (visitor: string, browser: string, report: Partial<ErrorReport> = {}) =>
      recorder.recordError({ ...thrown, ...report }, { visitor, browser }),
    errors: async () => {
      await recorder.flush();
      return (await readHealth(at.writer, reader)).health.errors ?? [];
    },
  };
}

describe('a source map', () => {
  test('does not change a build, is not served, and contains no source text', async () => {
    const [bare, mapped] = [
      await readPackage(await distOf('1', { [page]: script })),
      await readPackage(await distOf('1')),
    ];
    expect([...mapped.files.keys()]).toEqual([...bare.files.keys()]);
    expect([...mapped.maps.keys()]).toEqual([pageMap]);
    const { live } = await openLive();
    expect(await at.store.list('maps/')).toHaveLength(2);
    expect((await at.store.list('builds/')).filter((key) => key.includes('.map'))).toEqual([]);
    const stored = await at.store.read(`${buildFolder(live).replace('builds', 'maps')}/${pageMap}`);
    expect(stored?.toString()).not.toContain('a sentence of the sources');
    const releases = await openReleases({ store: at.url });
    for (const folder of [buildFolder(live), buildFolder(live).replace('builds', 'maps')])
      expect(await releases.file(`/${folder}/${pageMap}`)).toBeNull();
    await releases.close();
  });

  test.each([
    ['static/js/a.js.map', true],
    ['a.mjs.map', true],
    ['static/css/a.css.map', false],
    ['../a.js.map', false],
    ['.a.js.map', false],
  ])('is recognised by its name: %s', (path, expected) => expect(isSourceMap(path)).toBe(expected));

  test('that is malformed is omitted from the published build', async () => {
    const broken = await distOf('2.0.0', {
      [page]: script,
      [pageMap]: '<html>',
      'static/js/async/x.js.map': '{"version":2}',
    });
    expect((await readPackage(broken)).maps.size).toBe(0);
    expect(await readFile(join(broken, pageMap), 'utf8')).toBe('<html>');
  });

  test('is removed with its build', async () => {
    const { old, live } = await openLive();
    const later = at.after(40 * 86_400_000);
    const options = { dryRun: false, graceMilliseconds: 0, now: later.now };
    expect((await collectGarbage(at.store, at.key.publicKey, options)).removed).toContain(old);
    const left = (await at.store.list('maps/')).map((key) => key.split('/')[2]);
    expect(left).toEqual([buildFolder(live).split('/')[2]]);
  });
});

describe('errors', () => {
  test('at one place are one entry with share of visitors, browsers, screens, source and line', async () => {
    const { visit, fail, errors, live } = await openLive();
    for (let visitor = 0; visitor < 100; visitor += 1) visit(`v${visitor}`);
    for (const visitor of ['v1', 'v2', 'v3', 'v3']) fail(visitor, 'Safari 17');
    const [error] = await errors();
    expect(error).toMatchObject({
      ...{ build: live, visitors: 3, of: 100, where: 'ChatLog.ts:3', name: 'TypeError' },
      frames: [{ at: 'src/components/ChatLog.ts:3' }],
    });
    expect(error && errorSentence(error, '01:12')).toBe(
      'stories 1.4.0: 3.0 % of visitors, all Safari 17, on /story/:id, TypeError in ChatLog.ts:3, since 01:12',
    );
  });

  test('are grouped over browsers, whose columns and messages differ; the most visitors come first', async () => {
    const { fail, errors, frame } = await openLive();
    fail('a', 'Chrome 120', { frames: [frame('1:28')], message: "Cannot read properties of undefined (reading 'at')" });
    fail('b', 'Safari 17', { frames: [frame('1:31')], message: 'undefined is not an object', route: '/my' });
    fail('c', 'Safari 17', { frames: [frame('1:31')], message: 'undefined is not an object' });
    fail('d', 'Firefox 130', { kind: 'chunk-lost', name: 'Error', frames: [] });
    const all = await errors();
    expect(all.map((error) => errorSentence(error, '9:00'))).toEqual([
      'stories 1.4.0: 3 of 3 visitors, Safari 17 and 1 more browser, on /story/:id and 1 more screen, TypeError in ChatLog.ts:3, since 9:00',
      'stories 1.4.0: 1 of 1 visitors, all Firefox 130, on /story/:id, chunk-lost, since 9:00',
    ]);
    expect(all[0]?.message).toBe('undefined is not an object');
  });

  test('of a build that was rolled back follow those of live builds, with a note', async () => {
    const { host, old, live, fail, errors } = await openLive();
    await at.activate(host, old);
    for (const visitor of ['a', 'b', 'c']) fail(visitor, 'Safari 17');
    fail('d', 'Safari 17', { build: old });
    const [first, second] = await errors();
    expect([first?.build, second?.build]).toEqual([old, live]);
    expect(second && errorSentence(second, '01:12')).toMatch(
      /^stories 1\.4\.0 \(runs no more\): 3 of 3 visitors, .*, since 01:12$/,
    );
  });

  test('without a source map are located in the built file', async () => {
    const { fail, errors, frame } = await openLive();
    fail('a', 'Safari 17', { frames: [frame('9:1')] });
    fail('b', 'Safari 17', { frames: ['host/1.0.0-000000000000/static/js/host.js:1:1', frame('9:1')] });
    expect(await errors()).toMatchObject([{ visitors: 2, where: 'page.js:9:1' }]);
  });
});
