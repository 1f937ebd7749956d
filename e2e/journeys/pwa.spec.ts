import type { Page } from '@playwright/test';
import { expect, holdBack, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

test.use({ serviceWorkers: 'allow' });

/** Whether the service worker has cached everything for opening the app offline. */
const isKept = (page: Page) =>
  page.evaluate(async () => {
    if (!navigator.serviceWorker.controller) return false;
    const kept = await (await caches.open('builds')).keys();
    const first = await (await caches.open('pages')).keys();
    const paths = new Set(kept.map(({ url }) => new URL(url).pathname));
    const needed = [...document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>('script[src], link[href]')]
      .map((element) => new URL('src' in element ? element.src : element.href).pathname)
      .filter((path) => path.startsWith('/builds/'));
    return first.length > 0 && needed.every((path) => paths.has(path));
  });

/** Opens a screen with the worker in control, and waits until the worker can serve it offline. */
async function opensWithWorker(page: Page, path = '/explore') {
  await page.goto(path, { waitUntil: 'domcontentloaded' });
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload({ waitUntil: 'domcontentloaded' });
  await expect.poll(() => isKept(page)).toBe(true);
}

test('the app can be installed: manifest and icons answer', async ({ page, request }) => {
  await page.goto('/explore', { waitUntil: 'domcontentloaded' });
  const address = await page.locator('link[rel="manifest"]').getAttribute('href');
  const manifest = (await (await request.get(address ?? '')).json()) as {
    name: string;
    start_url: string;
    display: string;
    icons: { src: string; sizes: string; purpose?: string }[];
  };
  expect(manifest).toMatchObject({ name: expect.stringContaining('聊斋'), display: 'standalone' });
  expect(manifest.icons.map(({ sizes }) => sizes)).toEqual(expect.arrayContaining(['192x192', '512x512']));
  for (const { src } of manifest.icons) {
    const icon = await request.get(new URL(src, new URL(address ?? '', page.url())).pathname);
    expect(icon.status(), src).toBe(200);
    expect(icon.headers()['content-type']).toMatch(/^image\//);
  }
});

test('without a network a second visit shows the last stories and says so', async ({ page, context }) => {
  await page.goto('/explore', { waitUntil: 'domcontentloaded' });
  const cards = page.locator('a[href^="/story/"]');
  const title = (await cards.first().innerText()).split('\n')[0] ?? '?';
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload({ waitUntil: 'domcontentloaded' });
  await expect(cards.first()).toBeVisible();
  await expect.poll(() => isKept(page)).toBe(true);
  await context.setOffline(true);
  await page.reload({ waitUntil: 'domcontentloaded' });
  await expect(page.getByText('当前没有网络')).toBeVisible();
  await expect(cards.filter({ hasText: title }).first()).toBeVisible();
  await context.setOffline(false);
  await expect(page.getByText('当前没有网络')).toBeHidden();
});

test('while the server answers with errors, what is kept opens, goes on and is kept still', async ({
  page,
  context,
}) => {
  await opensWithWorker(page);
  const cards = page.locator('a[href^="/story/"]');
  const isBroken = { status: 502, contentType: 'text/html', body: '<h1>502 Bad Gateway</h1>' };
  await context.route(/\/(?:explore|my)$/, (route) => route.fulfill(isBroken));
  for (const visit of ['the first', 'the next']) {
    await page.goto('/explore', { waitUntil: 'domcontentloaded' });
    await expect(cards.first(), visit).toBeVisible();
  }
  await page.goto('/my', { waitUntil: 'domcontentloaded' });
  await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
});

test('a first visit is enough to open the app without a network', async ({ page, context }) => {
  await page.goto('/explore', { waitUntil: 'domcontentloaded' });
  const cards = page.locator('a[href^="/story/"]');
  const title = (await cards.first().innerText()).split('\n')[0] ?? '?';
  await expect.poll(() => isKept(page)).toBe(true);
  await context.setOffline(true);
  await page.reload({ waitUntil: 'domcontentloaded' });
  await expect(page.getByText('当前没有网络')).toBeVisible();
  await expect(cards.filter({ hasText: title }).first()).toBeVisible();
});

test('a picture or a document opened in a tab never stands in for the app', async ({ page, context }) => {
  await opensWithWorker(page);
  const cover = await page.locator('img[src*="/api/media/"]').first().getAttribute('src');
  const documents = [cover ?? '', '/channels/production.json', '/api/v1/stories'];
  for (const address of documents) expect((await page.goto(address))?.status(), address).toBe(200);
  await context.setOffline(true);
  await page.goto('/conversations', { waitUntil: 'domcontentloaded' });
  await expect(page.getByText('当前没有网络')).toBeVisible();
  await expect(page.getByRole('link', { name: '聊过' })).toHaveAttribute('aria-current', 'page');
  await context.setOffline(false);
  const kept = await page.evaluate(async () => (await (await caches.open('pages')).keys()).map(({ url }) => url));
  expect(kept).toEqual([new URL('/', page.url()).href]);
});

test('without a network an address not opened before opens with the newest page, and shows nothing of the one it was for', async ({
  page,
  context,
}) => {
  await opensWithWorker(page);
  await page.goto('/conversations', { waitUntil: 'domcontentloaded' });
  await context.route('**/explore', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace('</body>', '<p id="newest">新的一页</p></body>');
    await route.fulfill({ response: answer, body });
  });
  const keeps = (mark: string) =>
    page.evaluate(async (id) => (await (await caches.match('/', { cacheName: 'pages' }))?.text())?.includes(id), mark);
  // repeated, because the worker serves its cached page if the response is slow
  await expect(async () => {
    await page.goto('/explore', { waitUntil: 'domcontentloaded' });
    expect(await keeps('id="newest"')).toBe(true);
  }).toPass({ timeout: 90_000 });
  await expect.poll(() => isKept(page)).toBe(true);
  await context.setOffline(true);
  await page.goto('/my', { waitUntil: 'domcontentloaded' });
  await expect(page.locator('#newest')).toBeAttached();
  await expect(page.getByRole('link', { name: '我的' })).toHaveAttribute('aria-current', 'page');
  // without its code the page stays as it is before any script runs
  await page.evaluate(() => caches.delete('builds'));
  await context.route('**/builds/**', (route) => route.abort());
  await page.goto('/my', { waitUntil: 'domcontentloaded' });
  await expect(page.locator('#newest')).toBeAttached();
  await expect(page.locator('#root')).toBeEmpty();
  await expect(page.locator('#liaozhai-first')).not.toBeAttached();
});

test('a page of another host that comes too late to be shown leaves the app openable alone', async ({
  page,
  context,
}) => {
  await opensWithWorker(page);
  let letCome = () => {};
  const mayCome = new Promise<void>((resolve) => {
    letCome = resolve;
  });
  await context.route('**/explore', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace(/\/builds\/host\/[^"/]+/g, '/builds/host/9.9.9-late');
    await mayCome;
    await route.fulfill({ response: answer, body });
  });
  // past the worker's time limit for a fresh page, so the cached page shows
  await page.goto('/explore', { waitUntil: 'domcontentloaded' });
  letCome();
  await expect.poll(() => page.evaluate(() => caches.has('waiting-page'))).toBe(true);
  await context.setOffline(true);
  await page.goto('/my', { waitUntil: 'domcontentloaded' });
  await expect(page.getByRole('link', { name: '我的' })).toHaveAttribute('aria-current', 'page');
});

test('what the worker keeps has nothing of who logged out', async ({ person, page }) => {
  const account = await seededAccount({ story: 'nie-xiaoqian', messages: 2 });
  await person.returns(account);
  await opensWithWorker(page);
  await person.opensChat();
  const words = (await person.latest()).data[0]?.body ?? '?';
  await expect(person.log().getByText(words)).toBeVisible();
  await person.open('/my');
  await expect(page.getByText(`用户名 ${account.login}`)).toBeVisible();
  const { id } = (await person.read<{ data: { id: string } }>('/api/v1/user')).data;
  const traces = [id, account.login, words];
  const found = async () => {
    const kept = await person.kept();
    return traces.filter((trace) => kept.includes(trace));
  };
  // the same check finds a member's data on the device, and what a fault would leave in the worker's cache
  await expect.poll(found).toEqual(traces);
  await page.evaluate(async () => (await caches.open('pages')).put('/api/v1/user', new Response('left by a fault')));
  expect(await person.kept()).toContain('left by a fault');
  await page.evaluate(async () => (await caches.open('pages')).delete('/api/v1/user'));
  await page.getByRole('button', { name: '退出登录' }).tap();
  await page.getByRole('alertdialog').or(page.getByRole('dialog')).getByRole('button', { name: '退出登录' }).tap();
  await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
  await expect.poll(found).toEqual([]);
});

test('a second visit shows what it showed last before the page has answered, in the reader’s theme, and runs nothing yet', async ({
  page,
  context,
}) => {
  await opensWithWorker(page);
  await page.evaluate(() => localStorage.setItem('liaozhai-preferences', JSON.stringify({ theme: 'dark' })));
  const isDark = () => page.evaluate(() => document.documentElement.dataset.theme === 'dark');
  let letCome = () => {};
  await context.route('**/explore', async (route) => {
    const answer = await route.fetch();
    await new Promise<void>((resolve) => {
      letCome = resolve;
    });
    const body = (await answer.text()).replace('</body>', '<p id="fresh">刚到的一页</p></body>');
    await route.fulfill({ response: answer, body });
  });
  // repeated, because the worker serves its cached page if the response is slow
  await expect(async () => {
    letCome();
    await expect
      .poll(() => page.evaluate(async () => (await caches.match('/explore', { cacheName: 'screens' })) !== undefined))
      .toBe(true);
    await page.goto('/explore', { waitUntil: 'commit' });
    await expect(page.locator('a[href^="/story/"]').first()).toBeVisible({ timeout: 5000 });
    expect(await isDark()).toBe(true);
    expect(await page.evaluate(() => '__liaozhai' in globalThis)).toBe(false);
    letCome();
    await expect(page.locator('#fresh')).toBeAttached({ timeout: 5000 });
  }).toPass({ timeout: 90_000 });
  await page.getByRole('link', { name: '我的' }).tap();
  await expect(page).toHaveURL(/\/my$/);
});

test('a member’s 聊过 asks for its rows before the page has answered', async ({ person, page, context }) => {
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 2 }));
  await opensWithWorker(page, '/conversations');
  const letCome = await holdBack(context, ({ pathname }) => pathname === '/conversations');
  const asked = page.waitForRequest('**/api/v1/conversations');
  await page.goto('/conversations', { waitUntil: 'commit' });
  await asked;
  letCome();
  await expect(page.getByRole('link', { name: /聂小倩/ })).toBeVisible();
  const [askedAt, parsedAt] = await page.evaluate(() => {
    const calls = performance.getEntriesByType('resource');
    const [document] = performance.getEntriesByType('navigation') as [PerformanceNavigationTiming];
    return [calls.find(({ name }) => name.endsWith('/api/v1/conversations'))?.startTime, document.domInteractive];
  });
  expect(askedAt).toBeLessThan(parsedAt);
});

test('a page of another build takes the place of what the address showed last, once, with the way back as it was', async ({
  page,
  context,
}) => {
  await page.goto('/my', { waitUntil: 'domcontentloaded' });
  await opensWithWorker(page);
  await context.route('**/explore', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace('</head>', '<meta name="edition" content="下一版"></head>');
    await route.fulfill({ response: answer, body });
  });
  const edition = page.locator('meta[name="edition"]');
  await expect(async () => {
    await page.goto('/explore', { waitUntil: 'domcontentloaded' });
    await expect(edition).toBeAttached({ timeout: 5000 });
  }).toPass({ timeout: 90_000 });
  await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
  await page.goBack({ waitUntil: 'domcontentloaded' });
  await expect(page).toHaveURL(/\/my$/);
});

test('a switch is not hidden by what the worker keeps', async ({ page, context }) => {
  await page.goto('/explore', { waitUntil: 'domcontentloaded' });
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  await page.reload({ waitUntil: 'domcontentloaded' });
  await expect.poll(() => page.evaluate(() => navigator.serviceWorker.controller !== null)).toBe(true);
  await context.route('**/explore', async (route) => {
    const answer = await route.fetch();
    const body = (await answer.text()).replace('</body>', '<p id="switched">切换之后</p></body>');
    await route.fulfill({ response: answer, body });
  });
  // the first reload may show the cached page, if the response is slow
  await expect(async () => {
    await page.reload({ waitUntil: 'domcontentloaded' });
    await expect(page.locator('#switched')).toBeAttached({ timeout: 5000 });
  }).toPass({ timeout: 90_000 });
});

test('a host script that does not load is requested once more, past the caches', async ({ page, context }) => {
  const isHost = (address: URL) => /^\/builds\/host\/.*\.js$/.test(address.pathname);
  await context.route(
    (address) => isHost(address) && address.search === '',
    (route) => route.abort(),
  );
  const again = page.waitForRequest((request) => request.url().endsWith('?again=1'));
  await page.goto('/explore', { waitUntil: 'domcontentloaded' });
  await again;
  await page.getByRole('link', { name: '我的' }).tap();
  await expect(page).toHaveURL(/\/my$/);
});
