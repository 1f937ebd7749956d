import { expect, test } from '../person.ts';

test.use({ viewport: { width: 1280, height: 800 }, hasTouch: false, isMobile: false });

test('beside its story a chat has one way back, which leads to the story', async ({ person, page }) => {
  await person.opensChat('nie-xiaoqian');
  const back = page.getByRole('button', { name: '返回' });
  await expect(back).toHaveCount(1);
  await back.click();
  await expect(page).toHaveURL('/story/nie-xiaoqian');
  await expect(page.getByRole('link', { name: '开始聊天' })).toBeVisible();
});
