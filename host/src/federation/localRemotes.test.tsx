import { CONTRACT_VERSION, type PageSet, STORAGE_KEYS } from '@liaozhai/shared/contract';
import { afterEach, describe, expect, test } from '@rstest/core';
import { cleanup, render, screen, waitFor } from '@testing-library/react';
import { PageContext } from '../page';
import { beacons, testSet } from '../testing/pageFixture';
import { LocalBadge, withLocalRemotes } from './localRemotes';
import { createRemotes } from './remotes';

const origin = 'http://localhost:3101';
const expires = '2027-01-01T10:00:00.000Z';
const set: PageSet = { ...testSet, override: { id: 'local', expires, local: [{ name: 'gifts', origin }] } };
const described = {
  kind: 'remote',
  name: 'gifts',
  label: '礼物',
  entry: 'remoteEntry.js',
  global: 'gifts_dev',
  contract: `^${CONTRACT_VERSION}`,
  routes: [{ ...testSet.remotes.gifts?.routes[0], js: ['static/js/gifts.js'], css: [] }],
  slots: [{ name: 'gifts.row', js: [], css: [] }],
};

const realFetch = globalThis.fetch;
afterEach(() => {
  cleanup();
  globalThis.fetch = realFetch;
});

/** Serves this answer from the dev server; null: it is down. */
function serve(answer: object | null) {
  globalThis.fetch = async (input) => {
    if (String(input).startsWith('/?override=local')) return Response.json({});
    if (answer === null || String(input) !== `${origin}/liaozhai.json`) throw new TypeError('Failed to fetch');
    return Response.json(answer);
  };
}

describe('a remote from a dev server', () => {
  test('takes the place of the published one, which takes over when it fails', async () => {
    serve(described);
    const { gifts, stories } = (await withLocalRemotes(set)).remotes;
    expect(gifts?.entry).toMatch(/^http:\/\/localhost:3101\/remoteEntry\.js\?at=/);
    expect(gifts?.slots.map(({ name }) => name)).toEqual(['gifts.row']);
    expect(gifts?.lastGood?.id).toBe(testSet.remotes.gifts?.id);
    expect(stories).toEqual(testSet.remotes.stories);
  });

  test('may be one that nobody has published yet', async () => {
    serve({ ...described, name: 'brandnew' });
    const local = [{ name: 'brandnew', origin }];
    const { remotes } = await withLocalRemotes({ ...set, override: { id: 'local', expires, local } });
    expect(remotes.brandnew?.lastGood).toBeNull();
  });

  test.each([
    ['is down', null],
    ['serves another remote', { ...described, name: 'chat' }],
    ['needs another contract', { ...described, contract: '^99.0.0' }],
    ['serves a host', { ...described, kind: 'host' }],
    ['answers nonsense', { hello: 1 }],
  ])('that %s stays out: the published one runs', async (_, answer) => {
    serve(answer);
    expect((await withLocalRemotes(set)).remotes).toEqual(testSet.remotes);
  });

  test('that fails counts against no build, and the published one is loaded', async () => {
    serve(described);
    const page = await withLocalRemotes(set);
    beacons.length = 0;
    const asked: string[] = [];
    const assetLoader = {
      script: async (url: string) => {
        asked.push(url);
        throw new Error('refused');
      },
      style: async () => undefined,
      onLate: () => () => undefined,
    };
    const prefetcher = { prefetch: async () => undefined, prioritise: () => () => undefined, cancel: () => undefined };
    const remotes = createRemotes(page, assetLoader, prefetcher);
    await remotes.load('gifts').catch(() => undefined);
    expect(asked[0]).toContain(origin);
    expect(asked[1]).toContain(testSet.remotes.gifts?.entry);
    // nor does the published one count, which may fail because of the other
    expect([beacons, localStorage.getItem(STORAGE_KEYS.quarantine)]).toEqual([[], null]);
    expect(remotes.hasFallback('/builds/stories/1.0.0/remoteEntry.js')).toBe(false);
  });
});

describe('the badge', () => {
  const open = async (answer: object | null) => {
    serve(answer);
    const page = await withLocalRemotes(set);
    const activeBuild = (name: string) => page.remotes[name];
    render(
      <PageContext value={{ set: page, remotes: { activeBuild } } as never}>
        <LocalBadge />
      </PageContext>,
    );
    return screen.getByRole('complementary', { name: '本地预览' });
  };

  test('says what runs from where, with the way out', async () => {
    const badge = await open(described);
    expect(badge.textContent).toContain(`gifts 来自你的 ${origin}`);
    expect(screen.getByRole('link', { name: '结束预览' }).getAttribute('href')).toBe('/?override=off');
    expect(screen.queryByRole('link', { name: '再试' })).toBeNull();
  });

  test('says that a dev server is down, and offers another try', async () => {
    const badge = await open(null);
    await waitFor(() => expect(badge.textContent).toContain('没有运行起来，现在是已发布的版本'));
    expect(screen.getByRole('link', { name: '再试' })).toBeTruthy();
  });
});
