import { expect, test } from '../engines/test.ts';

/** Addresses, with text that stays readable. */
const pages = {
  '/explore': '与故事里的人说说话',
  '/story/nie-xiaoqian': '金华城北的荒寺里',
  '/story/nie-xiaoqian?chat=1': '金华城北的荒寺里',
  '/conversations': '聊过',
  '/my': '我的',
  '/no/such/page': '',
};

for (const [path, kept] of Object.entries(pages))
  test(`below the floor ${path} says kindly what is needed`, async ({ phone }) => {
    await phone.open(path);
    await phone.reads({ role: 'alert' }, '换个新一点的浏览器');
    await phone.reaches({ role: 'button', name: '复制链接' });
    expect(await phone.engine.run(() => document.body.innerText)).toContain(kept);
    expect(await phone.engine.run(() => '__liaozhai' in globalThis), 'the app was begun').toBe(false);
  });
