import { onTestEnd } from '@liaozhai/shared/testing';
import { expect, rs, test } from '@rstest/core';
import { RemoteError } from '../federation/remoteError';
import { routeAt } from '../routes';
import { openPage, serveBuild } from '../testing/fakeRemotes';
import { testSet } from '../testing/pageFixture';

/** The test set, with a page file for each route. */
function setWithFiles() {
  const set = structuredClone(testSet);
  for (const build of Object.values(set.remotes))
    for (const route of build.routes) {
      const file = `/builds/${build.label}/${route.name}.js`;
      route.preload.js.push(file);
      set.hashes[file] = 'sha384-test';
    }
  return set;
}

test('a tapped tab is fetched alone, and the other one after it', async () => {
  const underWay = new Map<string, () => void>();
  const { fetch: original } = globalThis;
  onTestEnd(() => {
    globalThis.fetch = original;
  });
  globalThis.fetch = (input, init) =>
    new Promise((resolve, reject) => {
      const url = String(input);
      underWay.set(url, () => underWay.delete(url) && resolve(new Response('')));
      init?.signal?.addEventListener('abort', () => underWay.delete(url) && reject(init.signal?.reason));
    });
  const chunk: { come?: () => void } = {};
  const arrives = new Promise<void>((resolve) => (chunk.come = resolve));
  serveBuild('chat', { conversations: () => arrives.then(() => ({ default: () => null })) });
  const { components, routes } = openPage(setWithFiles());
  const onTheWay = () => [...underWay.keys()];
  void components.prefetchScreens(routes, ['/my']);
  await rs.waitFor(() => expect(onTheWay()).toEqual(['/builds/account/my.js']));
  const shown = components.preloadScreen(routes, '/conversations');
  await rs.waitFor(() => expect(onTheWay()).toEqual(['/builds/chat/conversations.js']));
  underWay.get('/builds/chat/conversations.js')?.();
  chunk.come?.();
  await shown;
  await rs.waitFor(() => expect(onTheWay()).toEqual(['/builds/account/my.js']));
});

test.each([
  ['its own code threw as it was evaluated', new TypeError('a is undefined'), 'module-threw'],
  [
    'a file of its ES modules is lost in Chromium',
    new TypeError('Failed to fetch dynamically imported module: /a.js'),
    'chunk-lost',
  ],
  ['a file of its ES modules is lost in Safari', new TypeError('Importing a module script failed.'), 'chunk-lost'],
  [
    'a chunk is lost',
    Object.assign(new Error('Loading chunk 7 failed.'), { type: 'gone', request: '/7.js' }),
    'chunk-lost',
  ],
])('the module of a page that rejects is reported by what happened: %s', async (_, cause, failure) => {
  serveBuild('chat', { conversations: () => Promise.reject(cause) });
  const { components, routes, remotes } = openPage(structuredClone(testSet));
  await components.preloadScreen(routes, '/conversations');
  expect(remotes.blamedBuilds().at(0)?.error).toMatchObject({ failure, cause });
});

test('a build that threw is blamed as its fallback fails to load, though no pane is there to show that', async () => {
  serveBuild('gifts', { gifts: async () => ({ default: () => null }) });
  serveBuild('gifts', { gifts: () => Promise.reject(new Error('the shelf is gone')) }, 'lastGood');
  const { components, routes, remotes } = openPage(structuredClone(testSet));
  const gifts = components.ofRoute(routeAt(routes, '/gifts'));
  // the first time without the device's copies
  for (let times = 0; times < 2; times += 1) {
    await gifts.load();
    expect(gifts.canRecover(new TypeError('a is undefined'))).toBe(true);
  }
  await expect(gifts.load()).rejects.toBeInstanceOf(RemoteError);
  expect(remotes.blamedBuilds().map(({ build, error }) => [build, error.failure])).toEqual([
    [expect.stringContaining('gifts@1.'), 'module-threw'],
    ['gifts@2.0.0+000000000000', 'render-threw'],
  ]);
});

test('a screen opens where measuring throws, and its build is not blamed', async () => {
  const measure = rs.spyOn(performance, 'measure').mockImplementation(() => {
    throw new TypeError('performance.measure is not a function');
  });
  onTestEnd(() => measure.mockRestore());
  serveBuild('chat', { conversations: async () => ({ default: () => null }) });
  const { components, routes, remotes } = openPage(structuredClone(testSet));
  await components.preloadScreen(routes, '/conversations');
  expect(measure).toHaveBeenCalled();
  expect(remotes.blamedBuilds()).toEqual([]);
});
