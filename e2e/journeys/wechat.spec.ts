import type { Page } from '@playwright/test';
import { expect, test } from '../person.ts';

const agent = 'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36';

interface Call {
  name: string;
  given: Record<string, unknown>;
}

/** Imitates the bridge that WeChat adds to each page; it allows every call. */
function provideBridge() {
  const calls: Call[] = [];
  const invoke = (name: string, given: Record<string, unknown>, answer: (said: object) => void) => {
    calls.push({ name, given });
    setTimeout(() => answer({ err_msg: `${name}:ok` }));
  };
  Object.assign(globalThis, { calls, WeixinJSBridge: { invoke, on: () => undefined } });
}

const callsOf = (page: Page, named: string) =>
  page.evaluate(
    (name) =>
      (Reflect.get(globalThis, 'calls') as Call[]).filter((call) => call.name === name).map(({ given }) => given),
    named,
  );

/** Imitates a backend with an Official Account; the backend's tests cover signing. */
async function signPages(page: Page): Promise<string[]> {
  const signed: string[] = [];
  const known = await (await page.request.get('/api/v1/capabilities')).json();
  await page.route('**/api/v1/capabilities', (route) =>
    route.fulfill({ json: { ...known, data: [...known.data, 'wechat.share'] } }),
  );
  await page.route('**/api/v1/wechat/signature?*', (route) => {
    signed.push(new URL(route.request().url()).searchParams.get('url') ?? '');
    const json = { data: { app_id: 'wx1', timestamp: 1764057600, nonce_str: 'n', signature: 's' } };
    return route.fulfill({ json });
  });
  return signed;
}

const filesOf = (page: Page) =>
  page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname));

test.describe('in WeChat', () => {
  test.use({ userAgent: `${agent} MicroMessenger/8.0.49` });

  test('a link has the title, words, picture and address of the story in sight', async ({ page, baseURL }) => {
    await page.addInitScript(provideBridge);
    const signed = await signPages(page);
    await page.goto('/story/nie-xiaoqian?invite=ABC#top', { waitUntil: 'domcontentloaded' });
    const story = {
      title: '聂小倩',
      desc: expect.stringMatching(/\p{Script=Han}{8}/u),
      link: `${baseURL}/story/nie-xiaoqian`,
      imgUrl: expect.stringMatching(/^http.*\/api\/media\/share\/nie-xiaoqian\.png/),
    };
    await expect.poll(() => callsOf(page, 'updateAppMessageShareData')).toMatchObject([story]);
    const { desc: _, ...titled } = story;
    expect(await callsOf(page, 'updateTimelineShareData')).toMatchObject([titled]);
    expect(await callsOf(page, 'preVerifyJSAPI')).toMatchObject([{ verifyAppId: 'wx1', verifySignature: 's' }]);
    expect(signed).toEqual([`${baseURL}/story/nie-xiaoqian?invite=ABC`]);

    // another screen of the open app, for which Android requires another signature
    await page.getByRole('button', { name: '返回' }).click();
    const front = {
      title: expect.stringMatching(/^聊斋 · /),
      link: `${baseURL}/explore`,
      imgUrl: `${baseURL}/icon-512.png`,
    };
    await expect.poll(() => callsOf(page, 'updateAppMessageShareData')).toMatchObject([story, front]);
    expect(signed).toHaveLength(2);
  });
});

test('elsewhere nothing of it is loaded', async ({ page }) => {
  const signed = await signPages(page);
  await page.goto('/story/nie-xiaoqian', { waitUntil: 'domcontentloaded' });
  // the last file, which loads when the browser is idle
  await expect.poll(() => filesOf(page)).toContainEqual(expect.stringMatching(/\/vitals\.\w+\.js$/));
  expect(await filesOf(page)).not.toContainEqual(expect.stringMatching(/\/wechat\./));
  expect(signed).toEqual([]);
});
