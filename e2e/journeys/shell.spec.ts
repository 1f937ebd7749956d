import { appIsUp, expect, holdBack, test } from '../person.ts';

test('the root leads to 发现 and keeps the invitation', async ({ person, page }) => {
  await person.open('/?invite=ABC123');
  await expect(page).toHaveURL(/\/explore\?invite=ABC123$/);
  await expect(page).toHaveTitle(/发现/);
});

test('tabs replace each other instead of piling up in the history', async ({ person, page }) => {
  await person.open('/explore');
  await appIsUp(page);
  await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
  const before = await page.evaluate(() => history.length);
  const tabs = page.getByRole('navigation');
  await tabs.getByRole('link', { name: '聊过' }).click();
  await expect(page).toHaveURL('/conversations');
  await tabs.getByRole('link', { name: '我的' }).click();
  await expect(page).toHaveURL('/my');
  await tabs.getByRole('link', { name: '发现' }).click();
  await expect(page).toHaveURL('/explore');
  expect(await page.evaluate(() => history.length)).toBe(before);
});

test('a reload under an open popup leaves no dead step: a tab still takes the place of its page', async ({
  person,
  page,
}) => {
  await person.open('/conversations');
  await person.open('/my');
  const join = page.getByRole('button', { name: '注册账号' });
  await join.click();
  await expect(person.popup()).toBeVisible();
  await page.reload();
  await expect(join).toBeVisible();
  await page.getByRole('navigation').getByRole('link', { name: '发现' }).click();
  await expect(page).toHaveURL('/explore');
  await page.goBack();
  await expect(page).toHaveURL('/conversations');
});

test('a tab tapped before the app is there, after a reload under a popup, opens', async ({ person, page }) => {
  await person.open('/my');
  await page.getByRole('button', { name: '注册账号' }).click();
  await expect(person.popup()).toBeVisible();
  const release = await holdBack(page, /\/builds\/host\/.*\/host\.\w+\.js/);
  await page.reload({ waitUntil: 'domcontentloaded' });
  // the last file that the app of the page being left fetches
  const isUp = page.waitForRequest(/\/authPopup\.\w+\.js/);
  await page.route('**/explore', async (route) => {
    release();
    await isUp;
    await route.continue().catch(() => undefined);
  });
  await page.getByRole('navigation').getByRole('link', { name: '发现' }).tap({ noWaitAfter: true });
  await expect(page).toHaveURL('/explore');
});

test('a reload under an open sheet leaves no dead step: the arrow leads back at the first press', async ({
  person,
  page,
}) => {
  await person.joins();
  await person.openFirstStory();
  await person.openChat();
  await person.says('灯还亮着吗？');
  await person.replied();
  await person.log().getByRole('button', { name: '更多操作' }).last().click();
  await expect(page.getByRole('dialog', { name: /的消息$/ })).toBeVisible();
  await page.reload();
  await expect(person.log()).toBeVisible();
  await page.getByRole('button', { name: '返回' }).last().click();
  await expect(person.log()).toBeHidden();
  await expect(page).toHaveURL(/\/story\/[^?]+$/);
});

test('a list scrolled before the app was there stays where it is when the app takes over', async ({ page }) => {
  const release = await holdBack(page, '**/builds/host/**/*.js');
  await page.goto('/explore', { waitUntil: 'commit' });
  const list = page.locator('main');
  await expect(list.locator('a[href^="/story/"]').first()).toBeVisible();
  const scrolled = () => list.evaluate((element) => Math.round(element.scrollTop));
  await page.mouse.move(200, 400);
  await page.mouse.wheel(0, 300);
  await expect.poll(scrolled).toBe(300);
  release();
  await expect(page.locator('[data-first]')).toHaveCount(0);
  expect(await scrolled()).toBe(300);
});

test('covers that are there stay visible when the app takes over', async ({ page }) => {
  const release = await holdBack(page, '**/builds/host/**/*.js');
  await page.goto('/explore', { waitUntil: 'commit' });
  const covers = page.locator('[data-first] a[href^="/story/"] img');
  await expect(covers).toHaveCount(6);
  const areThere = () => covers.evaluateAll((images) => images.every((image) => (image as HTMLImageElement).complete));
  await expect.poll(areThere).toBe(true);
  const opacities = page.evaluate(
    () =>
      new Promise((resolve) => {
        new MutationObserver((_, observer) => {
          const images = [...document.querySelectorAll('a[href^="/story/"] img')].slice(0, 6);
          if (document.querySelector('[data-first]') || images.length === 0) return;
          observer.disconnect();
          resolve(images.map((image) => getComputedStyle(image).opacity));
        }).observe(document, { childList: true, subtree: true });
      }),
  );
  release();
  expect(await opacities).toEqual(Array(6).fill('1'));
});

test('cards that the server drew stay, and lead on within the app, until a late remote is there', async ({ page }) => {
  const release = await holdBack(page, '**/builds/stories/**/remoteEntry.js');
  await page.goto('/explore', { waitUntil: 'commit' });
  const cards = page.locator('main > [data-first] a[href^="/story/"]');
  await expect(cards).toHaveCount(6);
  await page.evaluate(() => Object.assign(window, { isSameDocument: true }));
  await cards.first().click();
  await expect(page).toHaveURL(/\/story\//);
  release();
  await expect(page.getByRole('heading', { level: 1 }).filter({ visible: true })).toBeVisible();
  await page.goBack();
  await appIsUp(page);
  await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
  expect(await page.evaluate(() => 'isSameDocument' in window)).toBe(true);
});

test('coming back to a tab finds it as it was left, without a request', async ({ person, page }) => {
  await person.open('/explore');
  const cards = page.locator('a[href^="/story/"]');
  await appIsUp(page);
  await expect(cards.first()).toBeVisible();
  await cards.nth(8).scrollIntoViewIfNeeded();
  const place = () => cards.nth(8).evaluate((card) => Math.round(card.getBoundingClientRect().top));
  const before = await place();
  await page.getByRole('link', { name: '我的' }).click();
  await expect(page).toHaveURL('/my');
  const requests: string[] = [];
  page.on('request', (request) => request.url().includes('/api/v1/stories') && requests.push(request.url()));
  await page.getByRole('link', { name: '发现' }).click();
  await expect(cards.nth(8)).toBeVisible();
  await expect.poll(place).toBe(before);
  expect(requests).toEqual([]);
});

test('an unknown address says so and leads back', async ({ person, page }) => {
  const answer = await page.goto('/no/such/page');
  expect(answer?.status()).toBe(404);
  await expect(page.getByText('没有这个页面').first()).toBeVisible();
  await person.open('/story/no-such-story');
  await expect(page.getByText('这个故事不在了，也许已经下架')).toBeVisible();
});

test('a broken stored user is an anonymous visitor, not a broken page', async ({ person, page }) => {
  await page.addInitScript(() => localStorage.setItem('user-store', '{"id": oops'));
  await person.open('/my');
  await expect(page.getByRole('button', { name: /登录/ }).first()).toBeVisible();
  expect(person.trouble.errors).toEqual([]);
});

test('a guarded page asks for login and then goes on to it', async ({ person, page }) => {
  await person.open('/my/wallet/recharge');
  await person.register();
  await expect(page).toHaveURL('/my/wallet/recharge');
  await expect(page.getByRole('heading', { name: '充值', exact: true })).toBeVisible();
});

test('closing the popup of a guarded deep link leads to 我的', async ({ person, page }) => {
  await person.open('/my/profile');
  await expect(person.popup()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL('/my');
});

test('anonymous screens ask nothing that needs a session', async ({ person, page }) => {
  const refused: string[] = [];
  page.on('response', (response) => response.status() === 401 && refused.push(response.url()));
  for (const path of ['/explore', '/conversations', '/my']) {
    await person.open(path);
    await expect(page.getByRole('navigation', { name: '主导航' })).toBeVisible();
    await page.waitForLoadState('networkidle');
  }
  expect(refused).toEqual([]);
  await expect(person.popup()).toBeHidden();
});

test('/test/list shows routes, flags and builds', async ({ person, page }) => {
  await person.open('/test/list');
  for (const text of ['/my/profile', '需要登录', 'stories@']) await expect(page.getByText(text).first()).toBeVisible();
});
