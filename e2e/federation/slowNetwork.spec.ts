import { expect, test } from '../person.ts';

/** GPRS: each response takes longer than the time limit of a fast network. */
const slow = { offline: false, latency: 2600, downloadThroughput: 100_000, uploadThroughput: 100_000 };

test.use({ judgesHangs: true });

test('mf.hang: a sound remote on a slow network is waited for', async ({ page }) => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.emulateNetworkConditions', slow);
  await page.goto('/explore', { waitUntil: 'commit' });
  await expect(page.locator('[data-first]')).toHaveCount(0);
  await page.locator('a[href^="/story/"]').first().click();
  const start = page.getByRole('link', { name: '开始聊天' });
  await expect(start.or(page.getByText('暂时打不开').filter({ visible: true }))).toBeVisible();
  await expect(start).toBeVisible();
  expect(await page.evaluate(() => localStorage.getItem('liaozhai-quarantine'))).toBeNull();
});

test('load.cover: the first story’s picture comes inside the page, and stays where it is when the app takes over', async ({
  page,
}) => {
  // covers never load
  await page.route(/\/api\/media\/covers\//, () => {});
  await page.goto('/explore', { waitUntil: 'commit' });
  const picture = page.locator('a[href^="/story/"] img').first();
  const isPainted = () =>
    picture.evaluate(
      (image: HTMLImageElement) => image.complete && image.naturalWidth > 0 && getComputedStyle(image).opacity === '1',
    );
  await expect.poll(isPainted).toBe(true);
  await expect(page.locator('[data-first]')).toHaveCount(0);
  expect(await isPainted()).toBe(true);
});

test('load.next: what a tap on a tab needs is fetched before what nobody may ever open', async ({ page }) => {
  const asked: string[] = [];
  const first = (pattern: RegExp) => asked.findIndex((url) => pattern.test(url));
  page.on('request', (request) => asked.push(request.url()));
  await page.goto('/explore', { waitUntil: 'commit' });
  await expect.poll(() => first(/authPopup\.\w+\.js/)).toBeGreaterThan(0);
  const tabs = [/chat\/.*remoteEntry/, /conversations\.\w+\.js/, /account\/.*remoteEntry/, /\/my\.\w+\.js/].map(first);
  expect(Math.min(...tabs)).toBeGreaterThan(0);
  expect(Math.max(...tabs)).toBeLessThan(first(/authPopup\.\w+\.js/));
  // HTTP/1 has six connections: one more request here would cost a quick tap another round trip
  const isOfTabs = (url: string) => /\/builds\/(chat|account)\//.test(url);
  const ofTabs = asked.slice(0, first(/authPopup\.\w+\.js/)).filter(isOfTabs);
  expect(ofTabs).toHaveLength(6);
  expect(asked.slice(0, Math.max(...tabs)).filter((url) => url.endsWith('/beacon'))).toEqual([]);
});
