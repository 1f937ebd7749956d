import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '../person.ts';
import { startProduct } from '../product.ts';

test('boot.fresh: from an empty data folder the one command brings a product that can be used', async ({ page }) => {
  const data = mkdtempSync(join(tmpdir(), 'liaozhai-fresh-'));
  const product = await startProduct({ DATA_DIR: data });
  try {
    await page.goto(`${product.origin}/explore`);
    await page.getByRole('link', { name: /聂小倩/ }).click();
    await expect(page.getByRole('heading', { name: '聂小倩', level: 1 })).toBeVisible();
  } finally {
    await product.stop();
    rmSync(data, { recursive: true, force: true });
  }
});
