import { keptHere } from '../keptHere.ts';
import type { Trouble } from '../trouble.ts';
import type { Phone, Target } from './phone.ts';
import { expect, expectNoTrouble, test, withPhone } from './test.ts';

const story = { id: 'nie-xiaoqian', title: '聂小倩' };
const said = '夜深了，门外是谁？';
const persona = '赶考的书生';

const tab = (name: string): Target => ({ role: 'link', name, within: { role: 'navigation' } });
const button = (name: string | RegExp): Target => ({ role: 'button', name });
const field = (name: string | RegExp): Target => ({ role: 'textbox', name });
const log: Target = { role: 'log' };
const composer = field('说点什么');
const row: Target = { role: 'link', name: new RegExp(story.title), within: { role: 'list', name: '聊过的故事' } };

interface Message {
  role: string;
  status: string;
  body: string;
}
const latest = async (phone: Phone) =>
  (await phone.asks<{ data: Message[] }>(`/api/v1/messages/latest?story_id=${story.id}`)).data;

/** Waits until the last reply is complete on the server and visible on the page. */
async function replied(phone: Phone) {
  let body = '';
  await phone.until(
    'a complete reply on the server',
    async () => {
      const last = (await latest(phone)).at(-1);
      body = last?.body ?? '';
      return last?.role === 'assistant' && last.status === 'completed' ? undefined : `${last?.role} ${last?.status}`;
    },
    40_000,
  );
  const end = body.match(/[\p{Script=Han}]{4,}/gu)?.at(-1) ?? '';
  await phone.reads(log, end);
}

const onServer = async (phone: Phone, text: string) =>
  (await latest(phone)).filter(({ role, body }) => role === 'user' && body === text).length;

const colours = (phone: Phone) =>
  phone.engine.run(() => {
    const brightness = (colour: string) => {
      const [red = 0, green = 0, blue = 0] = colour.match(/[\d.]+/g)?.map(Number) ?? [];
      return (red + green + blue) / 3;
    };
    const { backgroundColor, color } = getComputedStyle(document.body);
    return { background: brightness(backgroundColor), text: brightness(color) };
  });

/** Steps that run again without features that older engines lack. */
const older = { tag: '@older' };

test.describe.configure({ mode: 'serial' });

const account = { login: '', password: '', name: '' };

test('发现 shows its stories and their covers', older, async ({ phone }) => {
  await phone.open('/explore');
  await phone.sees({ role: 'link', name: /聂小倩/ });
  await phone.until('four stories with their covers', () =>
    phone.engine.run(() => {
      const cards = document.querySelectorAll('a[href^="/story/"]').length;
      const covers = [...document.images].filter((image) => image.complete && image.naturalWidth > 0).length;
      return cards >= 4 && covers >= 3 ? undefined : `${cards} cards, ${covers} covers`;
    }),
  );
});

test('the app takes over what the server had drawn, and fits the phone', older, async ({ phone }) => {
  await phone.until('the app in place of the prerendered page', () =>
    phone.engine.run(() => (document.querySelector('[data-first]') ? 'still prerendered' : undefined)),
  );
  const page = await phone.engine.run(() => ({
    size: [innerWidth, innerHeight],
    overflow: document.documentElement.scrollWidth - innerWidth,
    title: document.title,
  }));
  expect(page).toEqual({ size: [390, 844], overflow: 0, title: expect.stringContaining('发现') });
});

test('a card leads to its story', older, async ({ phone }) => {
  await phone.taps({ role: 'link', name: /聂小倩/ });
  await phone.isAt(`/story/${story.id}`);
  await phone.sees({ role: 'heading', name: story.title });
});

test('the story is read to its opening, with the way to the chat in reach', async ({ phone }) => {
  await phone.engine.run(() => {
    const opening = [...document.querySelectorAll('h2')].find(({ textContent }) => textContent === '开篇');
    opening?.scrollIntoView({ behavior: 'instant' });
  });
  await phone.sees({ role: 'heading', name: '人物' });
  await phone.sees({ role: 'heading', name: '开篇' });
  await phone.sees({ role: 'link', name: '开始聊天' });
});

test('the arrow leads back to 发现', async ({ phone }) => {
  await phone.taps(button('返回'));
  await phone.isAt('/explore');
  await phone.sees({ role: 'link', name: /画皮/ });
});

test('a shared address opens the chat directly, with the opening words', older, async ({ phone }) => {
  await phone.open(`/story/${story.id}?chat=1`);
  await phone.reads(log, '金华');
});

test('what a guest writes asks for an account', older, async ({ phone }) => {
  await phone.types(composer, said);
  await phone.taps(button('发送'));
  await phone.sees({ role: 'dialog', name: '注册' });
  await phone.reads(log, said);
});

test('the form comes filled in', async ({ phone }) => {
  await phone.reads(field('用户名'), /^a\d+$/);
  await phone.reads(field('密码'), /^\d{6}$/);
  await phone.reads(field('昵称'), /^\p{Script=Han}{2,4}$/u);
});

test('another nickname comes by a tap, of the other gender as well', async ({ phone }) => {
  const names = new Set<string>();
  for (const target of [button('换一个昵称'), { role: 'radio', name: '男' }, { role: 'radio', name: '女' }]) {
    await phone.taps(target);
    names.add((await phone.sees(field('昵称'))).value);
  }
  expect(names.size, [...names].join(' ')).toBeGreaterThan(1);
});

test('signing up ends with the credentials in the reader’s hands and the popup closed', older, async ({ phone }) => {
  account.login = (await phone.sees(field('用户名'))).value;
  account.password = (await phone.sees(field('密码'))).value;
  account.name = (await phone.sees(field('昵称'))).value;
  await phone.taps(button('注册（请截图保存）'));
  const byHand: Target = { role: 'alertdialog', name: '自动复制失败' };
  const isByHand = await phone.seesEither({ text: '账号密码已复制到剪贴板' }, byHand);
  if (isByHand) {
    await phone.reads({ role: 'textbox', within: byHand }, `用户名：${account.login}\n密码：${account.password}`);
    await phone.taps(button('我已经复制'));
  }
  await phone.misses({ role: 'alertdialog' });
  await phone.misses({ role: 'dialog' });
});

test('the reply grows before the reader’s eyes', async ({ phone }) => {
  const lengths = new Set<number>();
  const reply: Target = { role: 'article', name: story.title, within: log, last: true };
  await phone.until('a reply that is seen at four lengths', async () => {
    const { text } = await phone.sees(reply);
    lengths.add(text.length);
    return lengths.size >= 4 ? undefined : `lengths ${[...lengths].join(', ')}`;
  });
});

test('it ends as the server has it, and the message was sent once', older, async ({ phone }) => {
  await replied(phone);
  expect(await onServer(phone, said)).toBe(1);
  await phone.counts({ text: said, within: log }, 1);
});

test('灵感 offers words that fill the field', async ({ phone }) => {
  await phone.taps(button(/^灵感/));
  const idea = button(/^填入：/);
  await phone.sees(idea, 40_000);
  const sideways = await phone.engine.run(() => {
    const panel = document.querySelector('section[aria-label="灵感"]');
    return panel ? panel.scrollWidth - panel.clientWidth : 'no panel';
  });
  expect(sideways, 'px that the panel scrolls sideways').toBe(0);
  await phone.taps(idea);
  await phone.reads(composer, /\p{Script=Han}{2}/u);
  await phone.misses(idea);
});

test('a message’s menu stands at the bottom over the dimmed page, and closes', older, async ({ phone }) => {
  await phone.taps({ role: 'button', name: /更多操作/, within: log, last: true });
  await phone.reaches(button('复制'));
  const sheet = await phone.engine.run(() => {
    const dialog = document.querySelector('dialog[open]');
    const panel = dialog?.firstElementChild;
    if (!dialog || !panel) return null;
    const { left, right, bottom } = panel.getBoundingClientRect();
    const [x, y] = [[left, right].map(Math.round), Math.round(bottom)];
    return { x, bottom: y, scrim: getComputedStyle(dialog).backgroundColor };
  });
  expect(sheet).toEqual({ x: [0, 390], bottom: 844, scrim: expect.stringMatching(/^rgba\(/) });
  await phone.taps(button('关闭'));
  await phone.misses({ role: 'dialog' });
});

test('a reload finds the conversation and what was not sent', async ({ phone }) => {
  await phone.engine.reload();
  await phone.reads(log, said);
  await phone.reads(composer, /\p{Script=Han}{2}/u);
});

test('聊过 has the conversation with its last words', older, async ({ phone }) => {
  await phone.open('/conversations');
  await phone.reads(row, story.title);
  await phone.reads(row, /\p{Script=Han}{6}/u);
});

test('⋯ offers 删除, and Escape leaves everything as it was', older, async ({ phone }) => {
  await phone.taps(button(`《${story.title}》的更多操作`));
  await phone.sees({ role: 'menuitem', name: '删除' });
  await phone.engine.press('Escape');
  await phone.misses({ role: 'menuitem' });
  await phone.sees(row);
});

test('a tap on the row goes on with the conversation and deletes nothing', older, async ({ phone }) => {
  await phone.taps(row);
  await phone.isAt(`/story/${story.id}?chat=1`);
  await phone.reads(log, said);
  const { data } = await phone.asks<{ data: unknown[] }>('/api/v1/conversations');
  expect(data).toHaveLength(1);
});

test('我的 knows who is signed in', older, async ({ phone }) => {
  await phone.open('/conversations');
  await phone.taps(tab('我的'));
  await phone.isAt('/my');
  await phone.sees({ text: `用户名 ${account.login}` });
  await phone.sees({ text: account.name });
});

const balance = async (phone: Phone) => (await phone.asks<{ data: { balance: number } }>('/api/v1/user')).data.balance;

test('a check-in brings its points', async ({ phone }) => {
  const before = await balance(phone);
  await phone.taps(button(/^签到/));
  await phone.sees({ text: /^今日已签到/ });
  expect(await balance(phone)).toBe(before + 10);
  await phone.reads({ role: 'region', name: '余额' }, `${before + 10}`);
});

test('消费明细 lists what came and went', async ({ phone }) => {
  await phone.taps({ role: 'link', name: /消费明细/ });
  await phone.isAt('/my/wallet/transactions');
  const today: Target = { role: 'region', name: '今天' };
  for (const kind of ['签到', '消息', '灵感']) await phone.reads(today, kind);
  await phone.taps(button('返回'));
  await phone.isAt('/my');
});

test('the profile offers portraits, and one is chosen', older, async ({ phone }) => {
  await phone.open('/my/profile');
  await phone.until('six portraits', () =>
    phone.engine.run(() => {
      const shown = [...document.querySelectorAll<HTMLImageElement>('fieldset label img')].filter(
        (image) => image.naturalWidth > 0,
      );
      return shown.length >= 6 ? undefined : `${shown.length}`;
    }),
  );
  await phone.taps({ role: 'radio', name: '头像 3' });
  await phone.until('the third portrait to be chosen', async () =>
    (await phone.sees({ role: 'radio', name: '头像 3' })).isChecked ? undefined : 'it is not',
  );
});

test('a persona is saved and stays', older, async ({ phone }) => {
  await phone.types(field(/人设/), persona);
  await phone.taps(button('保存'));
  await phone.sees({ text: '已保存' });
  await phone.engine.reload();
  await phone.reads(field(/人设/), persona);
  expect((await phone.sees({ role: 'radio', name: '头像 3' })).isChecked).toBe(true);
});

test('墨 makes it night, and a reload leaves it so', async ({ phone }) => {
  await phone.open('/my');
  await phone.taps({ role: 'radio', name: '深色' });
  const isNight = async () => {
    const { background, text } = await colours(phone);
    return background < 60 && text > 160 ? undefined : `background ${background}, text ${text}`;
  };
  await phone.until('light words on a dark page', isNight);
  await phone.engine.reload();
  await phone.until('light words on a dark page', isNight);
});

test('特大 makes the words larger', async ({ phone }) => {
  const fontSize = () => phone.engine.run(() => Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
  const before = await fontSize();
  await phone.taps({ role: 'radio', name: '特大' });
  await phone.until('a larger font', async () => {
    const now = await fontSize();
    return now > before ? undefined : `${before} px → ${now} px`;
  });
  await phone.taps({ role: 'radio', name: '标准' });
  await phone.taps({ role: 'radio', name: '跟随系统' });
});

test('a dark system makes the app dark automatically', async ({ engineName }) => {
  await withPhone({ engineName, colours: 'dark' }, async (phone) => {
    await phone.open('/explore');
    await phone.sees({ role: 'link', name: /聂小倩/ });
    const { background, text } = await colours(phone);
    expect(background).toBeLessThan(60);
    expect(text).toBeGreaterThan(160);
    expectNoTrouble(phone);
  });
});

test('logging out asks first, and leaves nothing of the reader on the phone', older, async ({ phone }) => {
  await phone.open('/my');
  await phone.taps(button('退出登录'));
  await phone.taps({ role: 'button', name: '退出登录', within: { role: 'alertdialog' } });
  await phone.sees(button('注册账号'));
  await phone.until('no trace of the account', async () => {
    const kept = await phone.engine.run(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    return kept.includes(account.login) ? kept : undefined;
  });
  await phone.taps(tab('聊过'));
  await phone.sees({ text: /聊过的故事会留在这里/ });
});

test('a wrong password is said at its field', async ({ phone }) => {
  await phone.taps(button('登录'));
  // a phone that knows an account offers to sign in
  await phone.sees({ role: 'dialog', name: '登录' });
  await phone.types(field('用户名'), account.login);
  await phone.types({ label: '密码' }, '000000x');
  await phone.taps({ role: 'button', name: '登录', within: { role: 'dialog' } });
  await phone.until('a field that is called invalid', () =>
    phone.engine.run(() => (document.querySelector('dialog [aria-invalid="true"]') ? undefined : 'none')),
  );
});

test('the right one signs in, and the conversation is there again', async ({ phone }) => {
  await phone.types({ label: '密码' }, account.password);
  await phone.taps({ role: 'button', name: '登录', within: { role: 'dialog' } });
  await phone.misses({ role: 'dialog' });
  await phone.taps(row);
  await phone.reads(log, said);
  // a later step opens the conversation offline
  await phone.until('the conversation kept on the phone', async () =>
    (await phone.engine.run(keptHere)).includes(said) ? undefined : 'not kept',
  );
});

test('an unknown address says so and leads on', async ({ phone }) => {
  await phone.open('/no/such/page');
  await phone.sees({ text: /没有这个页面/ });
  await phone.open('/story/no-such-story');
  await phone.sees({ text: /这个故事不在了/ });
});

test('a visit shows the last stories before the page has answered', async ({ phone }) => {
  await phone.open('/explore');
  await phone.sees({ role: 'link', name: /聂小倩/ });
  await phone.until('everything kept that the app opens with', () =>
    phone.engine.run(async () => {
      if (!navigator.serviceWorker.controller) return 'no service worker is in charge';
      const builds = await (await caches.open('builds')).keys();
      const kept = new Set(builds.map(({ url }) => new URL(url).pathname));
      const files = [...document.querySelectorAll<HTMLScriptElement | HTMLLinkElement>('script[src], link[href]')];
      const missing = files
        .map((file) => new URL('src' in file ? file.src : file.href).pathname)
        .filter((path) => path.startsWith('/builds/') && !kept.has(path));
      if (!(await caches.match('/explore', { cacheName: 'screens' }))) return 'the page is not kept';
      return missing.length === 0 ? undefined : `not kept: ${missing.join(' ')}`;
    }),
  );
  const letGo = phone.front.holdDocuments();
  await phone.open('/explore');
  await phone.sees({ role: 'link', name: /聂小倩/ });
  await phone.until('a paint before the rest of the page was there', () =>
    phone.engine.run(() => {
      const [paint] = performance.getEntriesByName('first-contentful-paint');
      const [{ domInteractive }] = performance.getEntriesByType('navigation') as [PerformanceNavigationTiming];
      return paint && paint.startTime < domInteractive ? undefined : `${paint?.startTime}, the rest ${domInteractive}`;
    }),
  );
  letGo();
});

test('without a network the app opens, with the last stories', async ({ phone }) => {
  await phone.front.goOffline();
  await phone.engine.reload();
  await phone.sees({ role: 'link', name: /聂小倩/ });
});

const written = '灯灭之前，再说一句';

test('what is written without a network waits on the phone', async ({ phone }) => {
  // the cached page may list the stories in another order than the app
  await phone.until('the app in the place of the kept page', () =>
    phone.engine.run(() => (document.querySelector('[data-first]') ? 'the kept page' : undefined)),
  );
  // 继续读 above the shelf would open the chat directly
  await phone.taps({ role: 'link', name: /聂小倩/, within: { role: 'list', name: '故事' } });
  await phone.taps({ role: 'link', name: /^(开始|继续|进入)聊天$/ });
  await phone.types(composer, written);
  await phone.taps(button('发送'));
  await phone.reads(log, written);
  await phone.reads({ role: 'article', name: '我', last: true }, /等待网络|发送中|没有收到回应|连不上/);
  // `navigator.onLine` is still true
  await phone.sees({ text: /当前没有网络|连不上服务/ });
});

test('the network comes back, and it is sent once', async ({ phone }) => {
  await phone.front.goOnline();
  await phone.until(
    'the message on the server',
    async () => ((await onServer(phone, written)) === 1 ? undefined : 'not there'),
    40_000,
  );
  await phone.misses({ text: /当前没有网络|连不上服务/ });
  await replied(phone);
  await phone.counts({ text: written, within: log }, 1);
  expect(await onServer(phone, written)).toBe(1);
});

test('删除 takes the conversation away, with a while to undo it', async ({ phone }) => {
  await phone.open('/conversations');
  await phone.taps(button(`《${story.title}》的更多操作`));
  await phone.taps({ role: 'menuitem', name: '删除' });
  await phone.misses(row);
  await phone.taps(button('撤销'));
  await phone.sees(row);
});

test('a remote of ES modules runs, with what it fetches late', async ({ phone }) => {
  await phone.open(`/modules${process.env.ENGINES_MODULES}`);
  await phone.taps(button('fetch'));
  await phone.sees(button('late module'));
  await phone.open('/explore?override=off');
  await phone.sees(tab('发现'));
});

test('the watch over these steps sees an error and a policy violation', older, async ({ phone }) => {
  await phone.engine.run(() => {
    setTimeout(() => {
      throw new Error('made for the watch');
    });
    document.body.append(Object.assign(new Image(), { src: 'http://elsewhere.invalid/picture.png' }));
  });
  const seen: Trouble = { violations: [], errors: [] };
  await phone.until('one of each', async () => {
    const { violations, errors } = phone.front.trouble();
    seen.violations.push(...violations);
    seen.errors.push(...errors);
    return seen.violations.length && seen.errors.length ? undefined : JSON.stringify(seen);
  });
  expect(seen.violations).toEqual([expect.stringContaining('img-src')]);
  // Chromium hides the details of an error in a script of its driver
  expect(seen.errors).toEqual([expect.stringMatching(/made for the watch|Script error/)]);
});
