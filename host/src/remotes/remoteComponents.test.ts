import { onTestEnd } from '@liaozhai/shared/testing';
import { expect, rs, test } from '@rstest/core';
import { openPage, serveBuild } from '../testing/fakeRemotes';
import { testSet } from '../testing/pageFixture';

/** The test set with a page file of its own for each screen of a tab. */
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
  const fetches = rs.spyOn(globalThis, 'fetch').mockImplementation(
    (input, init) =>
      new Promise((resolve, reject) => {
        const url = String(input);
        underWay.set(url, () => underWay.delete(url) && resolve(new Response('')));
        init?.signal?.addEventListener('abort', () => underWay.delete(url) && reject(init.signal?.reason));
      }),
  );
  onTestEnd(() => fetches.mockRestore());
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
