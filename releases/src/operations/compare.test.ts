import { afterAll, beforeAll, expect, test } from '@rstest/core';
import { Catalog } from '../builds/catalog.ts';
import { readPackage } from '../builds/package.ts';
import { publish } from '../builds/publish.ts';
import { HealthReader, HealthRecorder } from '../health/healthRecord.ts';
import { buildFolder } from '../model/build.ts';
import { openTestStore, type TestStore, writeRemote } from '../testing/openTestStore.ts';
import { compare } from './compare.ts';

let at: TestStore;
const page = (hash: string) => `static/js/async/page.${hash}.js`;
const routes = (...names: string[]) =>
  names.map((name) => ({
    name,
    path: `/${name}`,
    title: name,
    requiresAuth: name === 'drafts',
    keepAlive: false,
    outsideShell: false,
    js: [],
    css: [],
  }));

/** A build of `chat` that a pipeline published on this day. */
async function chat(version: string, day: number, hash: string, parts: Parameters<typeof writeRemote>[3]) {
  const files = { [page(hash)]: `/* ${version} */`.padEnd(100 * day, ' '), ...parts?.files };
  const dist = await writeRemote(at.place(), 'chat', version, { ...parts, files });
  const commit = `${day}`.repeat(12);
  const origin = { commit, author: 'Li Hua', change: `https://gitlab.example/app/chat/-/commit/${commit}` };
  const provenance = { ...origin, at: `2026-11-0${day}T08:00:00.000Z`, publisher: 'pipeline' };
  return (await publish(at.store, await readPackage(dist, version), provenance)).id;
}

let older = '';
let between = '';
let newer = '';
beforeAll(async () => {
  at = await openTestStore();
  const shared = (version: string) => ({
    provides: { dayjs: version },
    requires: { dayjs: '^1.0.0', react: '^19.0.0' },
  });
  older = await chat('1.4.0', 1, 'aaaaaaaa', {
    description: { routes: routes('chat', 'old'), contract: '^1.0.0', shared: shared('1.0.0') },
    files: { 'static/gone.js': 'gone' },
  });
  between = await chat('1.4.1', 2, 'bbbbbbbb', {});
  newer = await chat('1.5.0', 3, 'cccccccc', {
    description: { routes: routes('chat', 'drafts'), contract: '^1.1.0', shared: shared('1.2.0') },
    files: { 'static/new.js': 'new_file' },
  });
  await at.activate(await at.host(), older);
});
afterAll(() => at.remove());

const compared = async (a: string, b: string) => {
  const [found, ...others] = await compare(at.writer, new HealthReader(at.store, 'production'), a, b);
  if (!found || others.length > 0) throw new Error('one name differs');
  return found;
};

test('lists changed commits, files, addresses, contract and libraries from stable to a build', async () => {
  const found = await compared('stable', newer);
  expect(found).toMatchObject({ name: 'chat', from: older, to: newer, back: false, damaged: [] });
  expect(found.commits.map(({ build }) => build)).toEqual([between, newer]);
  expect(found.page).toBe('https://gitlab.example/app/chat/-/compare/111111111111...333333333333');
  expect(found.changedFiles).toContainEqual({ path: page('cccccccc'), from: 100, to: 300 });
  expect(found.changedFiles).toContainEqual({ path: 'static/gone.js', from: 4, to: null });
  expect(found.changedFiles).toContainEqual({ path: 'static/new.js', from: null, to: 8 });
  expect(found.routes).toEqual({ added: ['/drafts (members)'], removed: ['/old'] });
  expect(found.contract).toEqual({ from: '^1.0.0', to: '^1.1.0' });
  expect(found.libraries).toEqual([
    { name: 'dayjs', carries: { from: '1.0.0', to: '1.2.0' }, accepts: { from: '^1.0.0', to: '^1.0.0' } },
  ]);
});

test('the reverse comparison lists the same commits as reverted', async () => {
  const found = await compared(newer, older);
  expect(found.back).toBe(true);
  expect(found.commits.map(({ build }) => build)).toEqual([between, newer]);
});

test('shows the health of both builds, also of one that is not live any more', async () => {
  const recorder = new HealthRecorder(at.store, 'production', (cause) => Promise.reject(cause));
  const vote = { remote: 'chat', candidate: false, set: 'a'.repeat(40) };
  recorder.record({ ...vote, build: newer, outcome: 'failed', failure: 'chunk-lost' }, 'one');
  recorder.record({ ...vote, build: newer, outcome: 'loaded', loadMilliseconds: 90 }, 'two');
  await recorder.flush();
  const { health } = await compared(newer, older);
  expect(health).toEqual({ from: expect.objectContaining({ visitors: 2, failedVisitors: 1 }), to: null });
});

test('a build with a damaged record is reported, and the rest is shown', async () => {
  const { store } = at;
  await store.remove(`${buildFolder(between)}/build.json`);
  const fresh = { ...at.writer, catalog: new Catalog(store) };
  const [found] = await compare(fresh, new HealthReader(store, 'production'), between, newer);
  expect(found).toMatchObject({ damaged: [between], contract: { from: null, to: '^1.1.0' } });
});
