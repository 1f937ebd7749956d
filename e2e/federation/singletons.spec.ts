import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../person.ts';
import { markers } from '../sharedLibraries.ts';

test('mf.one-copy: only the host carries React, the store, the router and the client', async ({
  person,
  page,
  request,
}) => {
  const scripts = new Set<string>();
  page.on('request', (asked) => {
    const { pathname } = new URL(asked.url());
    if (pathname.startsWith('/builds/') && pathname.endsWith('.js')) scripts.add(pathname);
  });
  await person.joins();
  await page.getByRole('link', { name: '聊过' }).click();
  await person.openFirstStory();
  await person.openChat();
  await expect.poll(() => [...scripts].filter((path) => path.includes('/chat/')).length).toBeGreaterThan(1);
  const outside = [...scripts].filter((path) => !path.startsWith('/builds/host/'));
  expect(outside.length).toBeGreaterThan(5);
  const served = await Promise.all(
    [...scripts].map(async (path) => ({ path, text: await (await request.get(path)).text() })),
  );
  for (const [library, marker] of Object.entries(markers)) {
    const carriers = served.filter(({ text }) => text.includes(marker)).map(({ path }) => path);
    // a marker found in no script would prove nothing about the others
    expect(carriers, `${library} in the host's script alone`).toEqual([expect.stringMatching(/^\/builds\/host\//)]);
  }
});

test('mf.one-store: what one remote changes, another shows', async ({ person, page }) => {
  await person.joins();
  // the wallet fills a slot on the account remote's page from the same store and client
  const balance = page.locator('a[href="/my/wallet/recharge"], a[href="/my/wallet/transactions"]').first();
  await expect(balance).toBeVisible();
  const before = await page.evaluate(() => localStorage.getItem('user-store'));
  await page.getByRole('button', { name: /^签到/ }).click();
  await expect.poll(() => page.evaluate(() => localStorage.getItem('user-store'))).not.toBe(before);
  const { balance: points } = JSON.parse((await page.evaluate(() => localStorage.getItem('user-store'))) ?? '{}') as {
    balance: number;
  };
  await expect(page.getByText(points.toLocaleString('zh-CN')).first()).toBeVisible();
});

test('mf.builds: no build carries a marker of a library it shares', () => {
  const root = join(import.meta.dirname, '../..');
  for (const remote of ['stories', 'chat', 'account', 'wallet']) {
    const folder = join(root, 'remotes', remote, 'dist/static/js');
    for (const file of readdirSync(folder)) {
      const text = readFileSync(join(folder, file), 'utf8');
      for (const marker of Object.values(markers))
        expect(text.includes(marker), `${remote}/${file}: ${marker}`).toBe(false);
    }
  }
});
