import { CONTRACT_VERSION, type PageSet, STORAGE_KEYS } from '@liaozhai/shared/contract';
import { act, onTestEnd } from '@liaozhai/shared/testing';
import { afterEach, describe, expect, rs, test } from '@rstest/core';
import { cleanup, render, screen } from '@testing-library/react';
import { PageContext } from '../page';
import { beacons, testSet } from '../testing/pageFixture';
import { LocalBadge, withLocalRemotes } from './localRemotes';
import { createRemotes } from './remotes';

const origin = 'http://localhost:3101';
const expires = '2027-01-01T10:00:00.000Z';
/** Globals as builds have them. */
const published: PageSet['remotes'] = JSON.parse(JSON.stringify(testSet.remotes).replace(/_(\d)\.0\.0/g, '_live$1'));
const set: PageSet = {
  ...testSet,
  remotes: published,
  override: { id: 'local', expires, local: [{ name: 'gifts', origin }] },
};
const described = {
  kind: 'remote',
  name: 'gifts',
  label: '礼物',
  version: '1.0.0',
  sourceHash: '0123456789ab',
  federation: '2.1.0',
  shared: { provides: {}, requires: {} },
  entry: 'remoteEntry.js',
  global: 'gifts_dev',
  contract: `^${CONTRACT_VERSION}`,
  exposes: ['./remote'],
  module: { js: ['remoteEntry.js'], css: [] },
  routes: [{ ...testSet.remotes.gifts?.routes[0], js: ['static/js/gifts.js'], css: [] }],
  slots: [{ name: 'gifts.row', js: [], css: [] }],
};

const realFetch = globalThis.fetch;
afterEach(() => {
  cleanup();
  globalThis.fetch = realFetch;
});

/** Serves this answer from the dev server; null: it is down. `permission` is the product's, as it changes; an error: it is away. */
function serve(answer: object | null, permission: unknown = {}) {
  globalThis.fetch = async (input) => {
    if (permission instanceof Error && String(input).startsWith('/')) throw permission;
    if (String(input).startsWith('/?override=local'))
      return permission instanceof Response ? permission.clone() : Response.json(permission);
    if (answer === null || String(input) !== `${origin}/liaozhai.json`) throw new TypeError('Failed to fetch');
    return answer instanceof Response ? answer.clone() : Response.json(answer);
  };
}

/** Opens the remotes of a page whose files are all refused, and records the requested ones. */
function openRemotes(page: PageSet) {
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
  return { remotes: createRemotes(page, assetLoader, prefetcher), asked };
}

describe('a remote from a dev server', () => {
  test('takes the place of the published one, which takes over when it fails', async () => {
    serve(described);
    const { gifts, stories } = (await withLocalRemotes(set)).remotes;
    expect(gifts?.entry).toMatch(/^http:\/\/localhost:3101\/remoteEntry\.js\?at=/);
    expect(gifts?.slots.map(({ name }) => name)).toEqual(['gifts.row']);
    expect(gifts?.lastGood?.id).toBe(published.gifts?.id);
    expect(stories).toEqual(published.stories);
  });

  test('may be one that nobody has published yet', async () => {
    serve({ ...described, name: 'brandnew' });
    const local = [{ name: 'brandnew', origin }];
    const { remotes } = await withLocalRemotes({ ...set, override: { id: 'local', expires, local } });
    expect(remotes.brandnew?.lastGood).toBeNull();
  });

  test.each([
    ['is down', null, '没有应答'],
    ['has no description', new Response('', { status: 404 }), '回答 404'],
    ['answers a page', new Response('<!doctype html>'), '不是 JSON'],
    ['answers a list', [], 'name'],
    ['serves another remote', { ...described, name: 'chat' }, '提供的是 chat'],
    ['needs another contract', { ...described, contract: '^99.0.0' }, '^99.0.0'],
    ['serves a host', { ...described, kind: 'host' }, 'kind'],
    ['answers nonsense', { hello: 1 }, 'name'],
    ['has a route without a path', { ...described, routes: [{ name: 'gifts' }] }, 'routes.0.path'],
    ['has a path of another type', { ...described, routes: [{ ...described.routes[0], path: 5 }] }, 'routes.0.path'],
    ['has a slot without a name', { ...described, slots: [{ js: [], css: [] }] }, 'slots.0.name'],
    ['has a label of another type', { ...described, label: { zh: '礼物' } }, 'label'],
    ['has its entry elsewhere', { ...described, entry: 'https://evil.example/x.js' }, 'entry'],
    ['serves the live build’s global', { ...described, global: 'gifts_live2' }, '别的版本一样'],
    ['serves the last good one’s', { ...described, global: 'gifts_live1' }, '别的版本一样'],
    ['serves another remote’s global', { ...described, global: 'stories_live1' }, '别的版本一样'],
  ])('that %s stays out with the reason: the published one runs', async (_, answer, reason) => {
    serve(answer);
    const { remotes, override } = await withLocalRemotes(set);
    expect(remotes).toEqual(published);
    expect(override?.local?.[0]?.problem).toContain(reason);
  });

  test('that serves the global of another dev server stays out', async () => {
    const local = ['gifts', 'brandnew'].map((name) => ({ name, origin: `http://${name}.localhost:3101` }));
    globalThis.fetch = async (input) =>
      Response.json({ ...described, name: new URL(String(input)).hostname.split('.')[0] });
    const { remotes, override } = await withLocalRemotes({ ...set, override: { id: 'local', expires, local } });
    expect(Object.values(remotes).filter(({ global }) => global === described.global)).toHaveLength(1);
    expect(override?.local?.filter(({ problem }) => problem?.includes(described.global))).toHaveLength(1);
  });

  test('that fails counts against no build, and the published one is loaded', async () => {
    serve(described);
    const page = await withLocalRemotes(set);
    beacons.length = 0;
    const { remotes, asked } = openRemotes(page);
    await remotes.load('gifts').catch(() => undefined);
    expect(asked[0]).toContain(origin);
    expect(asked[1]).toContain(published.gifts?.entry);
    // nor does the published one count, which may fail because of the other
    expect([beacons, localStorage.getItem(STORAGE_KEYS.quarantine)]).toEqual([[], null]);
    expect(remotes.hasFallback('/builds/stories/1.0.0/remoteEntry.js')).toBe(false);
  });
});

describe('the badge', () => {
  const open = async (answer: object | null, agreed = set, permission: unknown = {}) => {
    serve(answer, permission);
    const page = await withLocalRemotes(agreed);
    const { remotes } = openRemotes(page);
    render(
      <PageContext value={{ set: page, remotes } as never}>
        <LocalBadge />
      </PageContext>,
    );
    return { badge: screen.getByRole('complementary', { name: '本地预览' }), remotes };
  };

  test('says what runs from where, with the way out', async () => {
    const { badge } = await open(described);
    expect(badge.textContent).toContain(`gifts 来自你的 ${origin}`);
    expect(screen.getByRole('link', { name: '结束预览' }).getAttribute('href')).toBe('/?override=off');
    expect(screen.queryByRole('link', { name: '再试' })).toBeNull();
  });

  test('says that a dev server is down, and offers another try', async () => {
    history.replaceState(null, '', '/explore?tag=fox');
    onTestEnd(() => history.replaceState(null, '', '/'));
    const { badge } = await open(null);
    expect(badge.textContent).toContain(`${origin} 没有应答，或者不许这个网站读取。现在是已发布的版本`);
    expect((screen.getByRole('link', { name: '再试' }) as HTMLAnchorElement).href).toMatch(/\/explore\?tag=fox$/);
  });

  test('says that nothing is published of a remote whose dev server is down', async () => {
    const local = [{ name: 'brandnew', origin }];
    const { badge } = await open(null, { ...set, override: { id: 'local', expires, local } });
    expect(badge.textContent).toContain('这个模块还没有发布');
    expect(badge.textContent).not.toContain('已发布的版本');
  });

  test('says how the code of a dev server failed', async () => {
    rs.useFakeTimers();
    onTestEnd(() => rs.useRealTimers());
    const { badge, remotes } = await open(described);
    await remotes.load('gifts').catch(() => undefined);
    await act(() => rs.advanceTimersByTimeAsync(2000));
    expect(badge.textContent).toContain(`${origin} 的代码没有运行起来（unreachable）。现在是已发布的版本`);
  });

  const hour = 3_600_000;
  test.each([
    ['its permission has ended', null, -hour, 1],
    ['another tab has agreed to another dev server', { local: [{ name: 'wallet', origin }], expires }, -hour, 1],
    ['the device’s clock is ahead of the end', { local: [{ name: 'gifts', origin }], expires }, hour, 0],
    ['the server is away before the end', new TypeError('Failed to fetch'), -hour, 0],
    ['the server is away at the end', new TypeError('Failed to fetch'), -2000, 1],
    ['the server is being restarted at the end', new Response('<html>', { status: 502 }), -2000, 1],
  ])('reloads only a page that may no longer run its dev servers: %s', async (_, permission, clock, expected) => {
    rs.useFakeTimers({ now: Date.parse(expires) + clock });
    onTestEnd(() => rs.useRealTimers());
    const reload = rs.spyOn(location, 'reload').mockImplementation(() => {});
    onTestEnd(() => reload.mockRestore());
    await open(described, set, permission);
    await act(() => rs.advanceTimersByTimeAsync(15_000));
    expect(reload).toHaveBeenCalledTimes(expected);
  });
});
