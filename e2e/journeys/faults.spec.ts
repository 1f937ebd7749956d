import type { Page } from '@playwright/test';
import { expect, test, triesAgain } from '../person.ts';
import { type RunningBackend, type RunningProduct, startBackend, startProduct } from '../product.ts';
import { seededAccount } from '../seeds.ts';

// slow enough that no reply ends before the crash
const slowly = { STORYTELLER_PIECE_DELAY_MS: '2000', STORYTELLER_START_DELAY_MS: '200', RATE_LIMIT_REGISTER: '1000' };

test.describe('faults of the backend', () => {
  let backend: RunningBackend;
  let product: RunningProduct;

  test.beforeAll(async () => {
    backend = await startBackend(slowly);
    product = await startProduct({ BACKEND_URL: backend.url });
  });

  test.afterAll(async () => {
    await product?.stop();
    await backend?.stop();
  });

  test('a backend that restarts in the middle of a reply leaves an honest end and no lost word', async ({
    person,
    page,
  }) => {
    await person.open(`${product.origin}/my`);
    await page.getByRole('button', { name: /注册/ }).first().click();
    await person.register();
    await page.goto(`${product.origin}/explore`);
    await page.locator('a[href^="/story/"]').first().click();
    await person.openChat();
    await person.says('说一个长长的故事');
    await expect(person.log().getByText('说一个长长的故事')).toBeVisible();
    await expect.poll(() => person.latestStatus()).toBe('streaming');
    await backend.crash();
    await backend.start();
    // the server ends the running reply and refunds the points; the page shows that without a reload
    await expect.poll(() => person.latestStatus()).toMatch(/failed|completed/);
    await expect(
      person
        .log()
        .getByText(/中断|重试|续写/)
        .first(),
    ).toBeVisible();
    await expect(person.log().getByText('说一个长长的故事', { exact: true })).toHaveCount(1);
  });
});

test('too little balance keeps the words and leads to 充值', async ({ person, page }) => {
  await person.joins();
  await person.openFirstStory();
  await person.openChat();
  await page.route('**/api/v1/messages', (route) =>
    route.fulfill({
      status: 402,
      contentType: 'application/json',
      body: JSON.stringify({ message: '余额不足', code: 'insufficient_balance', required: 3, balance: 0 }),
    }),
  );
  const { data } = await person.read<{ data: object }>('/api/v1/user');
  await page.route('**/api/v1/user', (route) => route.fulfill({ json: { data: { ...data, balance: 0 } } }));
  await person.says('我想听后来的事');
  await expect(person.log().getByText('我想听后来的事')).toBeVisible();
  await person.log().getByRole('button', { name: '获取点数' }).click();
  await expect(page.getByRole('dialog', { name: '点数不够' }).getByRole('link', { name: /充值/ })).toBeVisible();
});

test('msg.timeout-no-double: an answer that never comes costs once and shows once', async ({ person, page }) => {
  await person.joins();
  await person.openFirstStory();
  await person.openChat();
  let held = 0;
  await page.route('**/api/v1/messages', async (route) => {
    if (route.request().method() !== 'POST' || held > 0) return route.continue();
    held += 1;
    // the server processes the message, but the page gets no response
    await route.fetch();
  });
  await person.says('你还在吗？');
  await person.replied();
  await expect(person.log().getByText('你还在吗？', { exact: true })).toHaveCount(1);
  const { data } = await person.latest();
  expect(data.filter((message) => message.body === '你还在吗？')).toHaveLength(1);
});

/** Holds a transaction over all object stores in another tab, as WebKit sometimes does for a page that was closed. */
async function holdDatabase(page: Page) {
  await page.goto('/manifest.webmanifest');
  await page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('liaozhai');
        opening.onerror = () => reject(opening.error);
        opening.onsuccess = () => {
          const transaction = opening.result.transaction([...opening.result.objectStoreNames], 'readwrite');
          const goOn = () => {
            transaction.objectStore('outbox').count().onsuccess = goOn;
          };
          goOn();
          resolve();
        };
      }),
  );
}

test('an IndexedDB that does not answer holds up neither signing up nor a message nor 聊过', async ({
  person,
  page,
  context,
}) => {
  await person.openFirstStory();
  await person.openChat();
  const { id } = await page.evaluate(() => ({ id: location.pathname.split('/')[2] ?? '' }));
  await holdDatabase(await context.newPage());
  await page.bringToFront();
  await person.says('门外的风停了吗？');
  await person.register();
  await person.replied();
  expect((await person.latestOf(id)).data.filter(({ role }) => role === 'user')).toHaveLength(1);
  await person.open('/conversations');
  await expect(page.getByRole('listitem').first()).toBeVisible();
  // signing out is not blocked either
  await person.open('/my');
  await page.getByRole('button', { name: '退出登录' }).tap();
  await page.getByRole('alertdialog').getByRole('button', { name: '退出登录' }).tap();
  await expect(page.getByRole('button', { name: '注册账号' })).toBeVisible();
});

/** Replaces the device's copies of answers. Runs in the page. */
async function damageCopies() {
  const opening = indexedDB.open('liaozhai');
  const database = await new Promise<IDBDatabase>((resolve) => {
    opening.onsuccess = () => resolve(opening.result);
  });
  const transaction = database.transaction('snapshots', 'readwrite');
  const copies = transaction.objectStore('snapshots');
  const reading = copies.getAll();
  reading.onsuccess = () => {
    for (const copy of reading.result) copies.put({ ...copy, value: {} });
  };
  await new Promise((resolve) => {
    transaction.oncomplete = resolve;
  });
  database.close();
  return reading.result.length;
}

test('a damaged copy on the device is dropped: without a network its screen says so, and opens once it is back', async ({
  person,
  page,
}) => {
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 4 }));
  await person.open('/conversations');
  const row = page.getByRole('link', { name: /聂小倩/ });
  await expect(row).toBeVisible();
  await expect.poll(() => page.evaluate(damageCopies)).toBeGreaterThan(0);
  await page.route('**/api/v1/**', (route) => route.abort());
  await person.open('/conversations');
  await expect(page.getByRole('main').getByText('连不上服务，请检查网络或稍后再试')).toBeVisible();
  await expect(page.getByText('暂时打不开')).toHaveCount(0);
  await page.getByRole('link', { name: '我的' }).tap();
  await expect(page.getByText('用户名')).toBeVisible();
  await page.getByRole('link', { name: '聊过' }).tap();
  await page.unroute('**/api/v1/**');
  await triesAgain(page);
  await expect(row).toBeVisible();
});
