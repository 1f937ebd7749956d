import { expect, test } from '../person.ts';
import { startProduct } from '../product.ts';

test('boot.fresh: from an empty data folder the one command brings a product that can be used', async ({ page }) => {
  const product = await startProduct();
  try {
    await page.goto(`${product.origin}/explore`);
    await page.getByRole('link', { name: /聂小倩/ }).click();
    await expect(page.getByRole('heading', { name: '聂小倩', level: 1 })).toBeVisible();
  } finally {
    await product.stop();
  }
});
