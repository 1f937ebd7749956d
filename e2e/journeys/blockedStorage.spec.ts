import { expect, test } from '../person.ts';

// A WebView without storage, or a browser that blocks it: accessing any storage throws.
test.beforeEach(({ context }) =>
  context.addInitScript(() => {
    const insecure = () => {
      throw new DOMException('The operation is insecure.', 'SecurityError');
    };
    for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches'])
      Object.defineProperty(window, name, { get: insecure, configurable: true });
    Object.defineProperty(window, 'BroadcastChannel', { value: insecure });
    if (navigator.locks) navigator.locks.request = () => Promise.reject(new DOMException('denied', 'SecurityError'));
  }),
);

test('storage.blocked: a reader signs up, talks, and finds the talk in 聊过', async ({ person, page }) => {
  await person.openFirstStory();
  await person.openChat();
  await person.says('灯还亮着吗？');
  await person.register();
  await person.replied();
  await page.getByRole('button', { name: '返回' }).click();
  await page.getByRole('button', { name: '返回' }).click();
  await page.getByRole('link', { name: '聊过' }).click();
  await expect(page.getByRole('listitem').first()).toContainText('刚刚');
  await page.getByRole('link', { name: '我的' }).click();
  await page.getByRole('radio', { name: '深色' }).check({ force: true });
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  // the next document has lost the setting, and still starts
  await person.openFirstStory();
  expect(person.trouble.errors).toEqual([]);
});
