import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { type FaultyFront, startFaultyFront } from '../federation/site/faultyFront.ts';
import { repoRoot } from '../federation/site/repoRoot.ts';
import { appIsUp, expect, test } from '../person.ts';
import { type RunningBackend, type RunningProduct, startBackend, startProduct } from '../product.ts';
import { payloads } from '../security/payloads.ts';
import { secretsIn } from '../security/supply.ts';

test('sec.csp-zero: what breaks the policy is noticed, in a second page of the visitor too', async ({
  person,
  page,
  context,
  trouble,
}) => {
  await person.open('/explore');
  const second = await context.newPage();
  await second.goto('/explore');
  for (const [one, address] of [
    [page, 'http://127.0.0.2:9/1.png'],
    [second, 'http://127.0.0.2:9/2.png'],
  ] as const) {
    await one.evaluate((src) => document.body.append(Object.assign(document.createElement('img'), { src })), address);
    // reported by the page's event and by the console
    const told = () => trouble.violations.filter((text) => text.includes(address) && text.includes('img-src')).length;
    await expect.poll(told).toBe(2);
  }
  await second.close();
  expect(trouble.violations.splice(0)).toHaveLength(4);
});

test('sec.supply: no file of a build carries or names a secret', async () => {
  const dists = ['host', ...readdirSync(join(repoRoot, 'remotes')).map((name) => `remotes/${name}`)].map((folder) =>
    join(repoRoot, folder, 'dist'),
  );
  const files = dists.flatMap((dist) =>
    readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .map((name) => join(dist, name))
      .filter((path) => /\.(js|css|html|json)$/.test(path)),
  );
  expect(files.length).toBeGreaterThan(30);
  expect(files.flatMap((path) => secretsIn(readFileSync(path, 'utf8')))).toEqual([]);
});

const texts = new Set([
  'name',
  'persona',
  'body',
  'title',
  'summary',
  'opening',
  'intro',
  'excerpt',
  'text',
  'description',
  'username',
  'invite_code',
]);
const addresses = new Set(['avatar', 'cover_url']);
const all = payloads.join('\n');

/** Replaces every text and address that a person or a model may have written by all payloads. */
const poisoned = (answer: string): string =>
  JSON.stringify(JSON.parse(answer), (key, value: unknown) => {
    if (key === 'tags') return payloads;
    if (typeof value !== 'string') return value;
    if (addresses.has(key)) return '/x" onerror="window.__ran=1" y="';
    return texts.has(key) ? all : value;
  });

test.describe('sec.xss', () => {
  let backend: RunningBackend;
  let front: FaultyFront;
  let product: RunningProduct;

  test.beforeAll(async () => {
    backend = await startBackend({ STORYTELLER_PIECE_DELAY_MS: '0' });
    front = await startFaultyFront(new URL(backend.url));
    product = await startProduct({ BACKEND_URL: front.origin });
  });
  test.afterAll(async () => {
    await product?.stop();
    await front?.close();
    await backend?.stop();
  });

  async function nothingRan(page: Page) {
    // two frames, so that parsed markup had time to run
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(await page.evaluate(() => '__ran' in window)).toBe(false);
    const made = 'main :is(iframe, object, embed, base, [onerror], [onload], [onfocus], a[href^="javascript:"])';
    expect(await page.locator(made).count()).toBe(0);
  }

  /** Expects the error on the screen, in the product's words. */
  async function refuses(page: Page) {
    await expect(page.getByRole('button', { name: '重试' }).filter({ visible: true })).toBeVisible();
    await expect(page.getByText('window.__ran=1')).toHaveCount(0);
    await nothingRan(page);
  }

  test(`sec.xss: ${payloads.length} payloads in every text of every screen run nowhere`, async ({ person, page }) => {
    expect(new Set(payloads).size).toBeGreaterThanOrEqual(60);
    await person.open(`${product.origin}/my`);
    await page.getByRole('button', { name: '注册账号' }).click();
    await person.register();
    await person.open(`${product.origin}/story/nie-xiaoqian?chat=1`);
    // as many as fit into one line; the server stores them unchanged
    await person.says(payloads.slice(0, 40).join('\n'));
    await expect.poll(() => person.latestStatus()).toBe('completed');
    front.breaks(/^\/api\/v1\/(?!email)/, { rewrite: poisoned });
    const screens = [
      '/explore',
      '/story/nie-xiaoqian',
      '/story/nie-xiaoqian?chat=1',
      '/conversations',
      '/my',
      '/my/profile',
      '/my/wallet/transactions',
      '/my/wallet/recharge',
      '/my/support',
    ];
    for (const path of screens) {
      await person.open(product.origin + path);
      await expect(page.locator('main').filter({ visible: true }).first()).not.toBeEmpty();
      if (/^\/(explore|story|conv)/.test(path))
        await expect(page.getByText('<script>window.__ran=1</script>').filter({ visible: true }).first()).toBeVisible();
      await nothingRan(page);
    }
    front.mend();
  });

  test('sec.xss: payloads in what the server says of an error run nowhere', async ({ person, page }) => {
    front.mend();
    // the server caches responses of the previous test for a few seconds
    for (const path of ['/explore', '/story/nie-xiaoqian']) {
      const drawn = async () => (await fetch(product.origin + path, { headers: { accept: 'text/html' } })).text();
      await expect.poll(drawn, path).not.toContain('__ran');
    }
    await person.open(`${product.origin}/my`);
    await page.getByRole('button', { name: '注册账号' }).click();
    const refusal = JSON.stringify({ message: all, errors: { login: [all], password: [all], body: [all] } });
    await page.route('**/api/v1/register', (route) =>
      route.fulfill({ status: 422, contentType: 'application/json', body: refusal }),
    );
    await person.popup().getByRole('button', { name: '注册（请截图保存）' }).click();
    await expect(person.popup().getByText('填写有误').first()).toBeVisible();
    await expect(page.getByText('window.__ran=1')).toHaveCount(0);
    await nothingRan(page);
    await page.route(/\/api\/v1\/stories/, (route) =>
      route.fulfill({ status: 500, contentType: 'application/json', body: JSON.stringify({ message: all }) }),
    );
    // by the tab, because the page of 发现 contains its first stories
    await person.open(`${product.origin}/my`);
    await appIsUp(page);
    await page.getByRole('navigation').getByRole('link', { name: '发现' }).click();
    await refuses(page);
    await person.open(`${product.origin}/story/nie-xiaoqian`);
    await refuses(page);
    // below a list whose first page has loaded
    const lastCard = page.locator('a[href^="/story/"]').last();
    // a page that the server could not render in time contains no first stories
    await expect(async () => {
      await person.open(`${product.origin}/explore`);
      await appIsUp(page);
      await lastCard.scrollIntoViewIfNeeded({ timeout: 5000 });
    }).toPass({ timeout: 90_000 });
    await refuses(page);
  });
});
