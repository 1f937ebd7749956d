import { expect, test } from '../person.ts';
import { Reader } from './reader.ts';

const pages = {
  '/explore': '与故事里的人说说话',
  '/story/nie-xiaoqian': '金华城北的荒寺里',
  '/story/nie-xiaoqian?chat=1': '金华城北的荒寺里',
  '/conversations': '聊过',
  '/my': '我的',
  '/no/such/page': '',
};

for (const [path, kept] of Object.entries(pages))
  test(`below the floor ${path} says kindly what is needed`, async ({ page, trouble }) => {
    const reader = await Reader.at(page);
    await reader.open(path);
    await reader.reads({ role: 'alert' }, '换个新一点的浏览器');
    await reader.isInReach({ role: 'button', name: '复制链接' });
    expect(await page.evaluate(() => document.body.innerText)).toContain(kept);
    // a page that had gone on to load the app would have failed by now
    await page.waitForLoadState('load');
    expect(trouble).toEqual({ violations: [], errors: [] });
  });
