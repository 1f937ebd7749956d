import { expect, test } from '../person.ts';
import { makeMember } from '../scenes/memberScenes.ts';
import { isTranslated, translate } from '../translator.ts';

// every screen is shown with a translator in accessibility.spec.ts

test.afterEach(({ trouble }) => {
  expect(trouble.errors, 'errors of the page').toEqual([]);
});

test.describe('with a translator in the browser', () => {
  test.beforeEach(({ context }) => translate(context));

  test('a reader registers, talks and saves a profile', async ({ page }) => {
    await makeMember(page);
    await isTranslated(page);
    await page.goto('/my/profile');
    await page.getByRole('textbox', { name: '昵称' }).fill('霍小玉');
    await expect(page.getByText('有修改还没保存')).toBeVisible();
    await page.getByRole('button', { name: '保存', exact: true }).click();
    await expect(page.getByText('已保存')).toBeVisible();
    await expect(page.getByText('有修改还没保存')).toBeHidden();
  });

  test('the seal stays the product’s mark', async ({ page }) => {
    await page.goto('/explore');
    await isTranslated(page);
    const sign = page.getByText('聊', { exact: true }).first();
    expect(await sign.evaluate(({ tagName }) => tagName)).toBe('SPAN');
  });

  test('a reply grows, is rewritten, and a line of one’s own is edited', async ({ person, page }) => {
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
