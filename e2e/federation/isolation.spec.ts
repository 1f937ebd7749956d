import type { Route } from '@playwright/test';
import { expect, holdBack, test, triesAgain } from '../person.ts';

const walletFiles = /\/builds\/wallet\//;
const card = '暂时打不开';

const failures: Record<string, (route: Route) => Promise<void>> = {
  dead: (route) => route.abort('connectionrefused'),
  missing: (route) => route.fulfill({ status: 404, body: 'not found' }),
  hanging: async () => {},
  throwing: (route) =>
    route.fulfill({ status: 200, contentType: 'text/javascript', body: 'throw new Error("broken build")' }),
  tampered: async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: `${await answer.text()};globalThis.__tampered = true;` });
  },
};

for (const [kind, fail] of Object.entries(failures)) {
  test(`mf.isolation: a ${kind} remote takes down its own pane only`, async ({ person, page }) => {
    await person.joins();
    await page.route(walletFiles, fail);
    await person.open('/my/wallet/transactions');
    await expect(page.getByText(card).first()).toBeVisible();
    expect(await page.evaluate(() => Reflect.get(globalThis, '__tampered'))).toBeUndefined();
    // screens of the other remotes still work
    await page.getByRole('link', { name: '发现' }).click();
    await expect(page.locator('a[href^="/story/"]').first()).toBeVisible();
  });
}

test('mf.retry: a repaired remote opens by its retry button', async ({ person, page }) => {
  await person.joins();
  await page.route(walletFiles, (route) => route.abort('connectionrefused'));
  await person.open('/my/wallet/recharge');
  await expect(page.getByText(card).first()).toBeVisible();
  await page.unroute(walletFiles);
  await triesAgain(page);
  await expect(page.getByRole('heading', { name: '充值', exact: true })).toBeVisible();
});

test('mf.retry: a part of a screen whose late file was lost comes by its retry button, and the screen stays', async ({
  person,
  page,
}) => {
  const file = /\/builds\/account\/.*support\.tickets\./;
  await person.joins();
  await page.route(file, (route) => route.abort('connectionrefused'));
  await person.open('/my/support');
  const part = page.getByRole('form', { name: '写反馈' });
  await expect(page.getByText(card)).toBeVisible();
  await page.getByText('聊天怎么收费？').tap();
  await page.unroute(file);
  await triesAgain(page);
  await expect(part).toBeVisible();
  // the answer that was open before
  await expect(page.getByText(/每发一条消息/)).toBeVisible();
});

test('mf.client: without the file that carries requests the network counts as lost, until the file comes', async ({
  person,
  page,
}) => {
  const file = /\/builds\/host\/.*\/client\.\w+\.js/;
  await person.joins();
  await page.route(file, (route) => route.abort('connectionrefused'));
  await person.open('/my/wallet/transactions');
  await expect(page.getByRole('button', { name: '重试' }).first()).toBeVisible();
  await page.unroute(file);
  await triesAgain(page);
  await expect(page.getByRole('region', { name: '今天' })).toBeVisible();
});

test.describe('on a network that is not slow', () => {
  test.use({ judgesHangs: true });

  test('mf.late: a file that had been given up opens its pane when it comes', async ({ person, page }) => {
    await person.joins();
    const release = await holdBack(page, walletFiles);
    await person.open('/my/wallet/recharge');
    await expect(page.getByText(card).first()).toBeVisible();
    release();
    await expect(page.getByRole('heading', { name: '充值', exact: true })).toBeVisible();
    await expect(page.getByText(card)).toHaveCount(0);
  });
});

test('mf.tamper: a changed late chunk never runs', async ({ person, page }) => {
  await person.joins();
  await page.route(/\/builds\/wallet\/.*static\/js\/transactions/, failures.tampered ?? (() => {}));
  await person.open('/my/wallet/transactions');
  await expect(page.getByText(card).first()).toBeVisible();
  expect(await page.evaluate(() => Reflect.get(globalThis, '__tampered'))).toBeUndefined();
});
