import type { BrowserContext, Page } from '@playwright/test';
import { expect, test } from '../person.ts';
import { guestScenes } from '../scenes/guestScenes.ts';
import { makeMember, memberScenes } from '../scenes/memberScenes.ts';
import type { Scene } from '../scenes/scene.ts';
import { translate } from '../translator.ts';

/** Scenes of the app, which never starts in an old browser. */
const appScenes = guestScenes.filter(({ name }) => !name.startsWith('old-browser'));

const isTranslated = (page: Page) => expect(page.locator('font').first()).toBeAttached();

test.afterEach(({ trouble }) => {
  expect(trouble.errors, 'errors of the page').toEqual([]);
});

test.describe('with a translator in the browser', () => {
  // each visits about thirty screens
  test.setTimeout(600_000);
  test.beforeEach(({ context }) => translate(context));

  test('a reader registers, checks in, talks and saves a profile', async ({ page, anotherBrowser }) => {
    const storageState = await makeMember(page);
    await isTranslated(page);
    for (const scene of memberScenes)
      await test.step(scene.name, async () => {
        // separate browsers, because tabs of one browser would send each other's messages
        const context = await anotherBrowser({ storageState });
        await translate(context);
        await show(context, scene);
        await context.close();
      });
    await page.goto('/my/profile');
    await page.getByRole('textbox', { name: '昵称' }).fill('霍小玉');
    await expect(page.getByText('有修改还没保存')).toBeVisible();
    await page.getByRole('button', { name: '保存', exact: true }).click();
    await expect(page.getByText('已保存')).toBeVisible();
    await expect(page.getByText('有修改还没保存')).toBeHidden();
  });

  test('a visitor finds every screen', async ({ context }) => {
    for (const scene of appScenes)
      await test.step(scene.name, async () => {
        await show(context, scene);
        // some scenes register, some go offline
        await context.setOffline(false);
        await context.setStorageState({ cookies: [], origins: [] });
      });
  });

  test('the seal stays the product’s mark', async ({ page }) => {
    await page.goto('/explore');
    await isTranslated(page);
    const sign = page.getByText('聊', { exact: true }).first();
    expect(await sign.evaluate(({ tagName }) => tagName)).toBe('SPAN');
  });

  test('a reply grows, is told another way, and a line of one’s own is edited', async ({ person, page }) => {
    await person.joins();
    await person.opensChat('ying-ning');
    for (const line of ['姑娘为何总是笑？', '*拱手* 我姓王']) {
      await person.says(line);
      await person.replied();
    }
    await page.getByRole('button', { name: /^灵感/ }).click();
    await page.getByRole('button', { name: '收起灵感' }).click();
    await page.getByRole('button', { name: /^换一种说法/ }).click();
    await expect(page.getByRole('img', { name: '第 2 种说法，共 2 种' })).toBeVisible();
    await person.replied();
    await page.getByRole('button', { name: /^继续/ }).click();
    await person.replied();
  });
});

/** Shows a scene in a separate page, so that its routes do not affect later scenes. */
async function show(context: BrowserContext, scene: Scene) {
  const page = await context.newPage();
  await scene.show(page);
  await isTranslated(page);
  await page.close();
}
