import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import type { APIRequestContext, Page } from '@playwright/test';
import { oddRows } from '../../shared/src/testing/oddAnswers.ts';
import type { Edition } from './site/edition.ts';
import { folderOf } from './site/site.ts';
import { card, expect, goToTab, shownSet, test } from './site/test.ts';

const good: Edition = { remote: 'account', part: 'my', says: '旧的一版' };
const next: Edition = { remote: 'account', part: 'my', says: '新的一版' };
const VISITORS = 24;
const badge = '正在预览未发布的版本';

test('mf.rollback: one command, and the next page runs what ran before', async ({ site, page }) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.succeed(older, newer);
  await page.goto('/my');
  await expect(page.getByText(next.says, { exact: true })).toBeVisible();
  await site.release('rollback', 'account', '--why', 'a test');
  await page.goto('/my');
  await expect(page.getByText(good.says, { exact: true })).toBeVisible();
});

/** Whether the service worker can serve 我的 from its cache. */
const isKept = (page: Page) =>
  page.evaluate(async () => {
    const kept = await caches.match('/my', { cacheName: 'screens' });
    return navigator.serviceWorker.controller !== null && kept !== undefined;
  });

test('mf.switch: 更新 brings one new document, past what the service worker kept to begin with', async ({
  site,
  anotherBrowser,
}) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.activate(older);
  const reader = await anotherBrowser({ baseURL: site.front.origin, serviceWorkers: 'allow' });
  const page = await reader.newPage();
  await page.goto('/my');
  await expect.poll(() => isKept(page)).toBe(true);
  await site.activate(newer);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await expect(page.getByText('有新版本')).toBeVisible();
  await expect.poll(() => isKept(page)).toBe(false);
  const documents: string[] = [];
  page.on('domcontentloaded', (document) => documents.push(document.url()));
  await page.getByRole('button', { name: '更新' }).click();
  await expect(page.getByText(next.says, { exact: true })).toBeVisible();
  expect(documents).toHaveLength(1);
});

test('mf.rollback: what a device keeps of a build that was rolled back is never run again', async ({
  site,
  anotherBrowser,
}) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.succeed(older, newer);
  const reader = await anotherBrowser({ baseURL: site.front.origin, serviceWorkers: 'allow' });
  const page = await reader.newPage();
  // in any document, because the worker may first serve a cached one
  await page.addInitScript((text) => {
    new MutationObserver(() => {
      if (document.body?.textContent?.includes(text)) sessionStorage.setItem('ran', text);
    }).observe(document, { childList: true, subtree: true });
  }, next.says);
  const ran = () => page.evaluate(() => sessionStorage.getItem('ran'));
  // repeated, because the worker serves its cached page if the response is slow
  await expect(async () => {
    await site.activate(newer);
    await page.goto('/my');
    await expect(page.getByText(next.says, { exact: true })).toBeVisible();
    await expect.poll(() => isKept(page)).toBe(true);
    expect(await ran()).toBe(next.says);
    await page.evaluate(() => sessionStorage.clear());
    await site.release('rollback', 'account', '--why', 'a test');
    await page.goto('/my', { waitUntil: 'commit' });
    await expect(page.getByText(good.says, { exact: true })).toBeVisible();
    expect(await ran()).toBeNull();
  }).toPass({ timeout: 180_000 });
});

/** Requests a page; returns whether it preloads the build. */
const runs = async (visitor: APIRequestContext, build: string) =>
  (await (await visitor.get('/my')).text()).includes(`<link rel="preload" as="script" href="${folderOf(build)}`);

test('mf.canary: about half the visitors, the same ones on every load, and more only on a higher share', async ({
  site,
  page,
  playwright,
}) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.activate(older);
  await site.release('canary', newer, '--percent', '50');
  const crowd = await Promise.all(
    Array.from({ length: VISITORS }, () => playwright.request.newContext({ baseURL: site.front.origin })),
  );
  const look = () => Promise.all(crowd.map((visitor) => runs(visitor, newer)));
  const first = await look();
  const share = first.filter(Boolean).length / VISITORS;
  expect(share).toBeGreaterThan(0.1);
  expect(share).toBeLessThan(0.9);
  expect(await look()).toEqual(first);
  await site.release('canary', '--percent', '80');
  const wider = await look();
  expect(first.filter((was, at) => was && !wider[at])).toEqual([]);
  // the same cookie in a browser
  const chosen = crowd[first.indexOf(true)];
  const { cookies } = (await chosen?.storageState()) ?? { cookies: [] };
  await page.context().addCookies(cookies);
  await page.goto('/my');
  await expect(page.getByText(next.says, { exact: true })).toBeVisible();
  expect((await shownSet(page)).candidate).toBe(true);
  await site.release('abort', '--why', 'a test');
  expect(await look()).toEqual(first.map(() => false));
  await Promise.all(crowd.map((visitor) => visitor.dispose()));
});

/** Adds rows to a response: each odd value of each field, and a row that fails to render. */
const withOddRows = (json: string) => {
  const { data, ...rest } = JSON.parse(json) as { data: Record<string, unknown>[] };
  const last = data.at(-1) ?? {};
  const odd = oddRows(last).map((row, at) => ({ seq: 1000 + at, ...row }));
  const dark = {
    ...last,
    id: 'dark',
    seq: Number.MAX_SAFE_INTEGER,
    body: '风，夜里停了',
    story: { id: 'dark', title: '夜里停了', cover_url: '' },
  };
  return JSON.stringify({ ...rest, data: [...data, ...odd, dark] });
};

/** Makes a row with this text throw. Runs in every page. */
function refuseToDraw() {
  const { createTextNode } = document;
  const { get, set } = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent') as Required<PropertyDescriptor>;
  const drawn = (text: string) => {
    if (String(text).includes('夜里停了')) throw new RangeError('Invalid time value');
    return text;
  };
  document.createTextNode = (text) => createTextNode.call(document, drawn(text));
  Object.defineProperty(Node.prototype, 'textContent', {
    get,
    set(text) {
      set.call(this, drawn(text));
    },
  });
}

test('mf.canary: odd values of a backend at full traffic stop no candidate, and words stay', async ({
  site,
  page,
  person,
}) => {
  const chat: Edition = { remote: 'chat', part: 'story.chat', says: '新的聊天' };
  const candidate = await site.publish(chat);
  await site.release('canary', candidate, '--percent', '100');
  await person.joins();
  await person.opensChat();
  await person.says('窗外是谁？');
  await expect(person.log()).toContainText('窗外是谁？');
  await page.addInitScript(refuseToDraw);
  site.front.breaks(/\/api\/v1\/(messages\/latest|conversations)(\?|$)/, { rewrite: withOddRows });
  const field = page.getByRole('textbox', { name: '说点什么' });
  await field.fill('我还没写完');
  await expect.poll(() => page.evaluate(() => JSON.stringify(localStorage))).toContain('我还没写完');
  for (const path of ['/story/nie-xiaoqian?chat=1', '/conversations', '/story/nie-xiaoqian?chat=1']) {
    await page.goto(path);
    await expect(page.getByText('这一条暂时显示不出来').first()).toBeVisible();
    await expect(page.getByText(card)).toHaveCount(0);
  }
  await expect(page.getByText(chat.says, { exact: true })).toBeVisible();
  await expect(field).toHaveValue('我还没写完');
  const { candidate: isCandidate, builds } = await shownSet(page);
  expect([isCandidate, builds.chat]).toEqual([true, candidate]);
  expect(site.front.beacons().filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  expect(await page.evaluate(() => localStorage.getItem('liaozhai-quarantine'))).toBeNull();
  await site.release('abort', '--why', 'a test');
});

const types: Record<string, string> = { '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' };

/** Serves a folder with CORS, as a team's dev server does. */
async function serveAsDev(folder: string) {
  const server = createServer((request, response) => {
    const file = join(folder, new URL(request.url ?? '/', 'http://localhost').pathname);
    const type = types[extname(file)];
    response.setHeader('access-control-allow-origin', '*');
    if (!type || !existsSync(file)) return response.writeHead(404).end();
    createReadStream(file).pipe(response.setHeader('content-type', type));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as { port: number };
  return { origin: `http://localhost:${port}`, close: () => new Promise((done) => server.close(done)) };
}

test('mf.local: a remote of a dev server runs for whom a manager let, who agreed, and for nobody else', async ({
  site,
  page,
  anotherBrowser,
}) => {
  await site.activate(await site.publish(good));
  // a build that was never live, as a dev server's is: the global of a live or last good one is refused
  const own: Edition = { ...next, says: '自己的一版' };
  const dev = await serveAsDev(join(site.store, folderOf(await site.publish(own))));
  const link = `/my?override=${encodeURIComponent(`account@${dev.origin}`)}`;
  await page.goto(link);
  await expect(page.getByRole('heading', { name: '还没有允许' })).toBeVisible();
  const request = (await page.locator('pre').first().textContent()) ?? '';
  await site.release('preview', 'open', request, '--person', 'Li Hua', '--for', '30m');
  await page.reload();
  await page.getByRole('button', { name: '运行我的代码' }).click();
  await expect(page).toHaveURL('/my');
  await expect(page.getByText(own.says, { exact: true })).toBeVisible();
  const local = page.getByRole('complementary', { name: '本地预览' });
  await expect(local).toContainText(`account 来自你的 ${dev.origin}`);
  const elsewhere = await (await anotherBrowser({ baseURL: site.front.origin })).newPage();
  await elsewhere.goto(link);
  await expect(elsewhere.getByRole('heading', { name: '还没有允许' })).toBeVisible();
  await elsewhere.goto('/my');
  await expect(elsewhere.getByText(good.says, { exact: true })).toBeVisible();
  await local.getByRole('link', { name: '结束预览' }).click();
  await expect(page).toHaveURL('/explore');
  await expect(local).toBeHidden();
  await page.goto('/my');
  await expect(page.getByText(good.says, { exact: true })).toBeVisible();
  await dev.close();
});

test('mf.override: a link runs a build in one anotherBrowser, says so, and has a way out', async ({
  site,
  page,
  anotherBrowser,
}) => {
  const [older, newer] = [await site.publish(good), await site.publish(next)];
  await site.activate(older);
  const { query } = await site.release('override', newer, '--for', '30m');
  await page.goto(`/my${query}`);
  await expect(page.getByText(badge)).toBeVisible();
  await expect(page.getByText(next.says, { exact: true })).toBeVisible();
  await page.goto('/my');
  await expect(page.getByText(badge)).toBeVisible();
  const other = await anotherBrowser({ baseURL: site.front.origin });
  const elsewhere = await other.newPage();
  await elsewhere.goto('/my');
  await expect(elsewhere.getByText(good.says, { exact: true })).toBeVisible();
  await page.getByRole('link', { name: '退出预览' }).click();
  await expect(page).toHaveURL('/explore');
  await expect(page.getByText(badge)).toBeHidden();
  await page.goto('/my');
  await expect(page.getByText(good.says, { exact: true })).toBeVisible();
});

interface Felt {
  vitals: { name: string; metrics: { metric: string; stable: { pages: number } }[] }[];
}

test('mf.vitals: what a reader of a remote felt reaches the figures of its build, once they leave', async ({
  site,
  anotherBrowser,
}) => {
  const pagesTold = async () => {
    const { vitals } = (await site.release('health')) as unknown as Felt;
    const { metrics = [] } = vitals.find(({ name }) => name === 'account') ?? {};
    const pages = (wanted: string) => metrics.find(({ metric }) => metric === wanted)?.stable.pages ?? 0;
    return [pages('lcp'), pages('load')];
  };
  await site.activate(await site.publish(good));
  const [lcp = 0, load = 0] = await pagesTold();
  const reader = await anotherBrowser({ baseURL: site.front.origin, serviceWorkers: 'allow' });
  const page = await reader.newPage();
  await page.goto('/my');
  await expect(page.getByText(good.says, { exact: true })).toBeVisible();
  await page.waitForFunction(() =>
    performance.getEntriesByType('resource').some(({ name }) => name.includes('/vitals.')),
  );
  // from here on the worker handles the page's requests
  await page.waitForFunction(() => navigator.serviceWorker.controller);
  // the first tap finalizes the largest contentful paint, and the page stores its builds
  await goToTab(page, '发现');
  await page.waitForFunction(() => localStorage.getItem('liaozhai-ran-builds'));
  // same origin, because a page left for another origin has half a second for its last requests
  await page.goto('/manifest.webmanifest');
  const more = async () => {
    const [lcpNow = 0, loadNow = 0] = await pagesTold();
    return lcpNow > lcp && loadNow > load;
  };
  await expect.poll(more).toBe(true);
});
