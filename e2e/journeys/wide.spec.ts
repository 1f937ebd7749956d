import { expect, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

test.use({ viewport: { width: 1280, height: 800 }, hasTouch: false, isMobile: false });

test('next to its story a chat has one way back, which leads to the story', async ({ person, page }) => {
  await person.opensChat('nie-xiaoqian');
  const back = page.getByRole('button', { name: '返回' });
  await expect(back).toHaveCount(1);
  await back.click();
  await expect(page).toHaveURL('/story/nie-xiaoqian');
  await expect(page.getByRole('link', { name: '开始聊天' })).toBeVisible();
});

test('the conversations stand next to the open chat, which another one replaces', async ({ person, page }) => {
  await person.returns(await seededAccount({ story: ['hua-pi', 'nie-xiaoqian'], messages: 4 }));
  await person.open('/conversations');
  const row = (title: string) => page.getByRole('link', { name: new RegExp(title) }).filter({ visible: true });
  const top = async () => (await row('聂小倩').boundingBox())?.y;
  await expect(row('聂小倩')).toBeVisible();
  const before = await top();
  await row('聂小倩').click();
  await expect(person.log()).toBeVisible();
  await expect(row('聂小倩')).toHaveAttribute('aria-current', 'page');
  expect(await top()).toBe(before);
  await row('画皮').click();
  await expect(page).toHaveURL('/story/hua-pi?chat=1');
  await expect(row('画皮')).toHaveAttribute('aria-current', 'page');
  for (const width of [1024, 1280, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await expect(page.getByRole('button', { name: '返回' }).filter({ visible: true })).toHaveCount(1);
    const tab = page.getByRole('navigation', { name: '主导航' }).getByRole('link', { name: '聊过' });
    await expect(tab).toHaveAttribute('aria-current', 'true');
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(row('画皮')).toHaveCount(0);
  await page.goBack();
  await expect(page).toHaveURL('/conversations');
  await expect(row('画皮')).toBeVisible();
});
