import type { BrowserContext, Locator, Page, WebSocketRoute } from '@playwright/test';
import { expect, holdBack, type Person, test } from '../person.ts';
import { seededAccount } from '../seeds.ts';

const own = (person: Person, text: string) => person.log().getByText(text, { exact: true });

/** Expects the message once on the page, on the server and in the ledger, and no pending state. */
async function sentOnce(person: Person, text: string) {
  const stored = async () => (await person.latest()).data.filter(({ body }) => body === text).length;
  await expect.poll(stored).toBe(1);
  await expect(own(person, text)).toHaveCount(1);
  for (const state of ['发送中', '等待网络', '点按重试']) await expect(person.log().getByText(state)).toHaveCount(0);
  const ledger = await person.read<{ data: { type: string }[] }>('/api/v1/transactions?type=message');
  expect(ledger.data).toHaveLength(1);
}

async function opensChat(person: Person) {
  await person.returns(await seededAccount({ balance: 100 }));
  await person.opensChat();
}

const posts = (url: URL) => url.pathname === '/api/v1/messages';

for (const reached of [true, false]) {
  test(`a reload while sending ${reached ? 'after' : 'before'} the server has it sends once`, async ({
    person,
    page,
  }) => {
    await opensChat(person);
    let underWay = false;
    await page.route(posts, async (route) => {
      if (reached) await route.fetch();
      underWay = true;
    });
    await person.says('风雪夜归人');
    await expect.poll(() => underWay).toBe(true);
    await expect(own(person, '风雪夜归人')).toBeVisible();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.reload();
    await sentOnce(person, '风雪夜归人');
  });
}

test('words of a page that is gone go on from 聊过, whose rows do not wait for what sends them', async ({
  person,
  page,
}) => {
  await person.returns(await seededAccount({ story: 'nie-xiaoqian', messages: 2, balance: 100 }));
  await person.opensChat();
  const isUnderWay = page.waitForRequest((request) => request.method() === 'POST' && posts(new URL(request.url())));
  await page.route(posts, () => undefined);
  await person.says('风雪夜归人');
  await isUnderWay;
  const letCome = await holdBack(page, /\/outbox\.\w+\.js/);
  const stored = async () =>
    (await person.latestOf('nie-xiaoqian')).data.filter(({ body }) => body === '风雪夜归人').length;
  await person.open('/conversations');
  await expect(page.getByRole('link', { name: /聂小倩/ })).toBeVisible();
  expect(await stored()).toBe(0);
  await page.unroute(posts);
  letCome();
  await expect.poll(stored).toBe(1);
});

/** Network of one page: its requests and its socket fail and recover together. */
async function network(page: Page, context: BrowserContext) {
  const open = new Set<WebSocketRoute>();
  let up = true;
  await page.routeWebSocket(/\/app\//, (socket) => {
    if (!up) return socket.close();
    open.add(socket);
    socket.connectToServer();
  });
  return async (now: boolean) => {
    up = now;
    await context.setOffline(!now);
    if (up) return;
    for (const socket of open) await socket.close();
    open.clear();
  };
}

test('words written without a network wait, say so, and go by themselves when it is back', async ({
  person,
  page,
  context,
}) => {
  const setNetwork = await network(page, context);
  await opensChat(person);
  await setNetwork(false);
  await person.says('山路断了');
  await expect(own(person, '山路断了')).toBeVisible();
  await expect(person.log().getByText('等待网络')).toBeVisible();
  await expect(page.getByText('当前没有网络')).toBeVisible();
  await setNetwork(true);
  await expect(person.log().getByText('等待网络')).toBeHidden();
  await sentOnce(person, '山路断了');
});

/** Whether the element is on top at its centre, so that no layer hides it. */
const isUncovered = (element: Locator) =>
  element.evaluate((node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return node.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });

test('net.dead: words lost on a line that looks alive say so over the chat, and go by themselves once it is', async ({
  person,
  page,
}) => {
  const open = new Set<WebSocketRoute>();
  let isDead = false;
  await page.routeWebSocket(/\/app\//, (socket) => {
    if (isDead) return socket.close();
    open.add(socket);
    socket.connectToServer();
  });
  await page.route('**/api/v1/**', (route) => (isDead ? route.abort('connectionreset') : route.continue()));
  await opensChat(person);
  isDead = true;
  for (const socket of open) await socket.close();
  await person.says('雁过无声');
  await expect(person.log().getByText('恢复后自动发出')).toBeVisible();
  await expect.poll(() => isUncovered(page.getByText('连不上服务，只能看'))).toBe(true);
  isDead = false;
  await sentOnce(person, '雁过无声');
});

test('outbox.401: words of an expired session never go out under another name', async ({ person, context }) => {
  const first = await seededAccount({});
  await person.returns(first);
  await person.opensChat();
  await person.hasCaughtUp();
  await context.clearCookies();
  await person.says('只有我知道的话');
  await person.register();
  await expect(own(person, '只有我知道的话')).toHaveCount(0);
  await person.says('我是另一个人');
  await sentOnce(person, '我是另一个人');
  expect((await person.latest()).data.map(({ body }) => body)).not.toContain('只有我知道的话');
  const kept = await person.kept();
  expect(kept).not.toContain('只有我知道的话');
  expect(kept).not.toContain(first.login);
});

test('a tab that is closed in the middle of sending leaves the words to the other', async ({
  person,
  page,
  context,
}) => {
  await opensChat(person);
  const second = await context.newPage();
  await second.goto(page.url());
  await expect(second.getByRole('log')).toBeVisible();
  // either tab may send the message
  const asked: Page[] = [];
  await context.route(posts, (route) => {
    asked.push(route.request().frame().page());
    if (asked.length > 1) return route.continue();
  });
  await person.says('替我说完');
  await expect.poll(() => asked.length).toBe(1);
  const other = person.at(asked[0] === page ? second : page);
  await expect(own(other, '替我说完')).toBeVisible();
  await asked[0]?.close();
  await sentOnce(other, '替我说完');
});

test('a draft outlives reload, other screens and an expired session', async ({ person, page, context }) => {
  const account = await seededAccount({ story: 'nie-xiaoqian', messages: 2 });
  await person.returns(account);
  await person.opensChat();
  const field = page.getByRole('textbox', { name: '说点什么' });
  await field.fill('还没想好怎么说');
  await page.reload();
  await expect(field).toHaveValue('还没想好怎么说');
  await page.getByRole('button', { name: '返回' }).tap();
  await person.openChat();
  await expect(field).toHaveValue('还没想好怎么说');
  const suggestions = page.getByRole('button', { name: /^灵感/ });
  await expect(suggestions).toBeEnabled();
  await person.hasCaughtUp();
  await context.clearCookies();
  await suggestions.tap();
  await expect(person.popup()).toBeVisible();
  await person.signIn(account);
  await expect(field).toHaveValue('还没想好怎么说');
});

test('a reader with too few points learns so before sending, checks in, and sends the words that are still there', async ({
  person,
  page,
}) => {
  await person.returns(await seededAccount({ balance: 1 }));
  await person.opensChat();
  await expect(page.getByText('发一条要 3 点，余额 1 点不够')).toBeVisible();
  await person.says('囊中羞涩');
  const ways = page.getByRole('dialog', { name: '点数不够' });
  await ways.getByRole('link', { name: /每日签到/ }).tap();
  await expect(page).toHaveURL('/my');
  await page.getByRole('button', { name: /^签到/ }).tap();
  await expect(page.getByText(/^今日已签到/)).toBeVisible();
  await page.goBack();
  await expect(person.log()).toBeVisible();
  await expect(ways).toBeHidden();
  expect((await person.latest()).data).toEqual([]);
  await expect(page.getByRole('textbox', { name: '说点什么' })).toHaveValue('囊中羞涩');
  await page.getByRole('button', { name: '发送', exact: true }).tap();
  await sentOnce(person, '囊中羞涩');
});

test('what the server refuses for want of points all goes by one tap once they are there', async ({ person, page }) => {
  await person.returns(await seededAccount({ balance: 50 }));
  await person.opensChat();
  await expect(page.getByText('每条 3 点 · 余额 50 点')).toBeVisible();
  await page.route('**/api/v1/messages', (route) =>
    route.fulfill({
      status: 402,
      json: { message: '余额不足', code: 'insufficient_balance', required: 3, balance: 1 },
    }),
  );
  await person.says('第一句话');
  const log = person.log();
  await expect(log.getByRole('button', { name: '获取点数' })).toBeVisible();
  await page.unroute('**/api/v1/messages');
  // the balance on the server is higher, which the sheet finds out when it opens
  await log.getByRole('button', { name: '点按重试' }).tap();
  await expect(page.getByText('每条 3 点 · 余额 50 点')).toBeVisible();
  await expect(page.getByRole('dialog', { name: '点数不够' })).toBeHidden();
  await log.getByRole('button', { name: '点按重试' }).tap();
  await sentOnce(person, '第一句话');
});

for (const write of [1, 2]) {
  test(`a device that is full at write ${write} of a line still has it once, and sends it once`, async ({
    person,
    page,
  }) => {
    await opensChat(person);
    await page.evaluate((refused) => {
      const { put } = IDBObjectStore.prototype;
      let writes = 0;
      IDBObjectStore.prototype.put = function (...record) {
        if (this.name === 'outbox' && ++writes === refused) throw new DOMException('full', 'QuotaExceededError');
        return put.apply(this, record);
      };
    }, write);
    await page.route(posts, (route) => route.fulfill({ status: 403, json: {} }));
    await person.says('箧中已满');
    await expect(person.log().getByText('点按重试')).toBeVisible();
    await expect(own(person, '箧中已满')).toHaveCount(1);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await person.log().getByText('点按重试').click();
    await sentOnce(person, '箧中已满');
  });
}
