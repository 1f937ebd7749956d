import type { Page } from '@playwright/test';
import type { Edition } from './site/edition.ts';
import { folderOf } from './site/site.ts';
import { expect, goToTab, shownSet, test } from './site/test.ts';

const navigations = Number(process.env.TORN_NAVIGATIONS ?? 8);
const activations = Number(process.env.TORN_ACTIVATIONS ?? 3);

const editions = (says: string): Edition[] => [
  { remote: 'account', part: 'my', says },
  { remote: 'stories', part: 'explore', says },
];

/** Scripts and stylesheets of this document that belong to no build of its set. */
async function strangers(page: Page): Promise<string[]> {
  const { builds } = await shownSet(page);
  const folders = Object.values(builds).map(folderOf);
  const loaded = await page.evaluate(() => [
    ...[...document.scripts].map(({ src }) => src),
    ...[...document.styleSheets].map(({ href }) => href ?? ''),
  ]);
  const files = loaded.filter((url) => url.includes('/builds/')).map((url) => new URL(url).pathname);
  return files.filter((path) => !folders.some((folder) => path.startsWith(folder)));
}

/** Expects the text and every file of the page to belong to the set of its document. */
async function expectOneSet(page: Page, sayings: ReadonlyMap<string, string>) {
  await expect(async () => {
    const { builds } = await shownSet(page);
    const says = sayings.get(builds.account ?? '') ?? '';
    const shown = page
      .getByRole('main')
      .filter({ visible: true })
      .getByText(/^[旧新]的一版$/);
    expect(await shown.allTextContents()).toEqual([says]);
    expect(await strangers(page)).toEqual([]);
  }).toPass({ timeout: 60_000 });
}

test(`mf.torn: ${navigations} navigations during ${activations} activations never mix two sets`, async ({
  site,
  page,
}) => {
  test.setTimeout(240_000 + 6_000 * (navigations + activations));
  const pairs: string[][] = [];
  for (const says of ['旧的一版', '新的一版']) {
    const pair: string[] = [];
    for (const edition of editions(says)) pair.push(await site.publish(edition));
    pairs.push(pair);
  }
  const sayings = new Map(pairs.map(([account = ''], at) => [account, at === 0 ? '旧的一版' : '新的一版']));
  await site.activate(...(pairs[0] ?? []));
  const every = Math.max(1, Math.floor(navigations / activations));
  let switched = 0;
  const switchNow = () => {
    switched += 1;
    return site.activate(...(pairs[switched % 2] ?? []));
  };
  const seen = new Set<string>();
  for (let done = 0; done < navigations; done += 1) {
    // during the load, not before
    const switching = done % every === 0 && switched < activations ? switchNow() : undefined;
    await page.goto('/explore');
    seen.add((await shownSet(page)).set);
    await expectOneSet(page, sayings);
    await goToTab(page, '我的');
    await expect(page).toHaveURL('/my');
    await expectOneSet(page, sayings);
    await switching;
  }
  expect(seen.size).toBe(2);
});
