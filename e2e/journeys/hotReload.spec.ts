import type { Page } from '@playwright/test';
import { test as base, expect } from '../person.ts';
import { copySources, type Sources } from '../sources.ts';

const test = base.extend<{ sources: Sources }, { copy: Sources }>({
  copy: [
    async ({ browserName: _ }, use) => {
      const sources = await copySources();
      await use(sources);
      sources.remove();
    },
    { scope: 'worker' },
  ],
  sources: async ({ copy }, use) => {
    await use(copy);
    await copy.reset();
  },
});

const grid = 'remotes/stories/src/components/StoryGrid';

/** Identifies the document by the time at which it began. */
const documentOf = (page: Page) => page.evaluate(() => performance.timeOrigin);

/** Opens 发现, and waits for parts that the dev server compiles on demand. */
const opens = (page: Page, server: string) => page.goto(`${server}/explore`, { waitUntil: 'networkidle' });

/** Edits of a remote's component and style show on 发现, on any dev server. */
async function showsEditsOfRemote(page: Page, sources: Sources) {
  const title = page.getByRole('heading', { level: 2 }).first();
  await expect(title).toBeVisible();
  await test.step('component', async () => {
    sources.edit(`${grid}.tsx`, '{story.title}</h2>', '{story.title}（改）</h2>');
    await expect(title).toContainText('（改）');
  });
  await test.step('style', async () => {
    sources.edit(`${grid}.module.css`, /$/, '\n.title { letter-spacing: 7px; }\n');
    await expect(title).toHaveCSS('letter-spacing', '7px');
  });
  await test.step('texts', async () => {
    sources.edit('remotes/stories/src/texts.ts', "lead: '", "lead: '（改）");
    await expect(page.getByText(/^（改）/)).toBeVisible();
  });
}

test('dev.hot: pnpm dev shows an edit of component, style, texts, shared UI and tokens in the page as it stands', async ({
  sources,
  page,
  baseURL,
}) => {
  await opens(page, await sources.dev(String(baseURL)));
  const document = await documentOf(page);
  await showsEditsOfRemote(page, sources);
  await page.getByRole('button', { name: '搜索故事' }).click();
  const field = page.getByRole('searchbox', { name: '搜索故事' });
  await field.fill('聂');
  await test.step('shared UI', async () => {
    sources.edit('shared/src/ui/Chip.tsx', '<span>{children}</span>', '<span>{children}（改）</span>');
    await expect(page.getByRole('button', { name: '最新（改）' })).toBeVisible();
  });
  await test.step('tokens', async () => {
    sources.edit('shared/src/ui/tokens.css', /$/, '\n:root { --ink: rgb(1, 2, 3); }\n');
    await expect(page.locator('body')).toHaveCSS('color', 'rgb(1, 2, 3)');
  });
  await expect(field).toHaveValue('聂');
  expect(await documentOf(page)).toBe(document);
});

test('dev.hot: a remote alone shows an edit of component, style and texts in the page as it stands', async ({
  sources,
  page,
  baseURL,
  trouble,
}) => {
  await opens(page, await sources.devOf('stories', 'alone', String(baseURL)));
  await expect(page.getByRole('button', { name: '搜索故事' }), 'what the server can').toBeVisible();
  const document = await documentOf(page);
  await showsEditsOfRemote(page, sources);
  expect(await documentOf(page)).toBe(document);
  await page.evaluate(() => {
    setTimeout(() => {
      globalThis.document.createElement('div').innerHTML = '';
    });
  });
  await expect.poll(() => trouble.violations.join(), 'the policy that the product has').toContain('innerHTML');
  trouble.violations.length = 0;
});

test('dev.hot: inside a deployed host every edit shows with a reload of its own', async ({
  sources,
  page,
  baseURL,
}) => {
  const server = await sources.devOf('stories', 'inside', String(baseURL));
  await page.goto(`/explore?override=${encodeURIComponent(`stories@${server}`)}`);
  await page.getByRole('button', { name: '运行我的代码' }).click();
  await expect(page.getByRole('complementary', { name: '本地预览' })).toContainText(server);
  await showsEditsOfRemote(page, sources);
});
