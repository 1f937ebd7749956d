import type { Locator } from '@playwright/test';
import { expect, type Person, test } from '../person.ts';
import { type RunningProduct, startProduct } from '../product.ts';
import { seededAccount } from '../seeds.ts';

const story = 'nie-xiaoqian';

async function comesBackTo(person: Person, messages: number, data?: string) {
  await person.returns(await seededAccount({ story, messages }, data));
  await person.opensChat(story);
  await expect(person.log().getByRole('article').last()).toBeVisible();
}

/** Text of the article in view, and its position in px. */
async function inView(log: Locator): Promise<{ text: string; top: number }> {
  return log.evaluate((scroller) => {
    const { top, height } = scroller.getBoundingClientRect();
    const seen = [...scroller.querySelectorAll('article')].find(
      (article) => article.getBoundingClientRect().bottom > top + height / 3,
    );
    if (!seen) throw new Error('nothing in view');
    return { text: seen.textContent ?? '', top: Math.round(seen.getBoundingClientRect().top) };
  });
}

/** Position of the article with this text; NaN if it is missing. */
const topOf = (log: Locator, text: string) =>
  log.evaluate((scroller, wanted) => {
    const found = [...scroller.querySelectorAll('article')].find((article) => article.textContent === wanted);
    return found ? Math.round(found.getBoundingClientRect().top) : Number.NaN;
  }, text);

/** Distance of the view from the end, in px. */
const fromEnd = (log: Locator) =>
  log.evaluate(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop);

const stays = async (log: Locator, { text, top }: { text: string; top: number }) =>
  expect.poll(async () => Math.abs((await topOf(log, text)) - top)).toBeLessThanOrEqual(1);

/** Resolves when the log has neither scrolled nor changed its height for several frames. */
const atRest = (log: Locator) =>
  log.evaluate(
    (scroller) =>
      new Promise<void>((resolve) => {
        let [seen, calm] = ['', 0];
        const look = () => {
          const now = `${scroller.scrollTop} ${scroller.scrollHeight}`;
          calm = now === seen ? calm + 1 : 0;
          seen = now;
          if (calm < 6) requestAnimationFrame(look);
          else resolve();
        };
        look();
      }),
  );

/** Scrolls up with the wheel, and waits until the view is at rest. */
async function scrollUp(person: Person, pixels: number) {
  const log = person.log();
  const before = await log.evaluate(({ scrollTop }) => scrollTop);
  await log.hover();
  await person.page.mouse.wheel(0, -pixels);
  await expect.poll(() => log.evaluate(({ scrollTop }) => scrollTop)).toBeLessThan(before);
  await atRest(log);
}

const slowly = test.extend<object, { product: RunningProduct }>({
  product: [
    async ({ browserName: _ }, use) => {
      const product = await startProduct({ STORYTELLER_PIECE_DELAY_MS: '300' });
      await use(product);
      await product.stop();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  baseURL: ({ product }, use) => use(product.origin),
});

slowly(
  'a reader further up is not moved by a reply and sees that something new has come',
  async ({ person, page, product }) => {
    await comesBackTo(person, 20, product.data);
    await person.says('往下讲吧');
    await expect.poll(() => person.latestStatus()).toBe('streaming');
    await scrollUp(person, 900);
    const place = await inView(person.log());
    const pill = page.getByRole('button', { name: '新消息' });
    await expect(pill).toBeVisible();
    await expect.poll(() => person.latestStatus(), { timeout: 90_000 }).toBe('completed');
    await stays(person.log(), place);
    await pill.tap();
    await person.replied();
    await expect(pill).toBeHidden();
    await expect.poll(() => fromEnd(person.log())).toBeLessThan(40);
  },
);

test('a conversation that the device knows nothing of yet opens at its end', async ({
  person,
  page,
  anotherBrowser,
}) => {
  // small enough that the opening alone fills the screen
  await page.setViewportSize({ width: 320, height: 568 });
  const account = await person.joins();
  await person.opensChat(story);
  await expect.poll(() => person.kept()).toContain(`chat.thread.1.${story}`);
  await person.open('/manifest.webmanifest');
  const elsewhere = person.at(await (await anotherBrowser()).newPage());
  await elsewhere.returns(account);
  await elsewhere.opensChat(story);
  await elsewhere.says('灯下是谁');
  await elsewhere.replied();
  let answer = () => {};
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/messages/latest*', async (route) => {
    await answered;
    await route.continue();
  });
  await person.opensChat(story);
  // the cached thread, from before the first line
  await expect(page.getByText(/余额 \d+ 点/)).toBeVisible();
  await atRest(person.log());
  answer();
  await expect(person.log().getByText('灯下是谁', { exact: true })).toBeAttached();
  await expect.poll(() => fromEnd(person.log())).toBeLessThan(40);
});

test('a reload leaves the reader at the words they were reading', async ({ person, page }) => {
  await comesBackTo(person, 60);
  await scrollUp(person, 2500);
  const place = await inView(person.log());
  const answered = page.waitForResponse((response) => response.url().includes('/messages/latest'));
  await page.reload();
  await expect(person.log().getByRole('article').first()).toBeVisible();
  await expect.poll(async () => Math.abs((await topOf(person.log(), place.text)) - place.top)).toBeLessThanOrEqual(2);
  await (await answered).finished();
  await atRest(person.log());
  // nothing new has arrived
  await expect(page.getByRole('button', { name: '回到最新' })).toBeVisible();
  await expect(page.getByRole('button', { name: '新消息' })).toBeHidden();
});

test('older pages of a long history come without moving what is read', async ({ person, page }) => {
  await comesBackTo(person, 400);
  const olderPages: string[] = [];
  // older messages are held back until the reader's position is recorded
  let come = () => {};
  await page.route(
    (url) => url.searchParams.has('before'),
    async (route) => {
      olderPages.push(route.request().url());
      await new Promise<void>((resolve) => {
        come = resolve;
      });
      await route.continue();
    },
  );
  const height = () => person.log().evaluate(({ scrollHeight }) => scrollHeight);
  for (let turn = 1; turn <= 3; turn += 1) {
    // rows still being measured would make the view follow the end, because no reader scrolls between two frames
    await atRest(person.log());
    const before = await height();
    await person.log().evaluate((scroller) => scroller.scrollTo(0, scroller.clientHeight));
    await expect.poll(() => olderPages.length).toBe(turn);
    await atRest(person.log());
    const place = await inView(person.log());
    come();
    // rows measured for the first time change the height as well, but by far less than fifty messages
    await expect.poll(height).toBeGreaterThan(before + 2000);
    await stays(person.log(), place);
  }
  expect(new Set(olderPages).size).toBe(olderPages.length);
});

const STEP_PX = 4;

/**
 * Scrolls up in each frame. `jump` resolves once more than `pixels` were inserted above and were reached. Its value is the
 * largest movement of visible words in one frame that is not due to scrolling, in px.
 */
const scrollOn = (log: Locator, pixels: number) =>
  log.evaluateHandle(
    (scroller, { wanted, step }) => {
      const { top: edge } = scroller.getBoundingClientRect();
      const topOf = (article: Element) => article.getBoundingClientRect().top;
      const inView = () =>
        [...scroller.querySelectorAll('article')].flatMap((article) => {
          const top = topOf(article);
          return top < edge ? [] : [{ article, top }];
        });
      const height = scroller.scrollHeight;
      const jump = new Promise<number>((resolve) => {
        let [seen, farthest, left] = [inView(), 0, 120];
        const look = () => {
          for (const { article, top } of seen) {
            if (article.isConnected) farthest = Math.max(farthest, Math.abs(topOf(article) - top));
          }
          if (scroller.scrollHeight > height + wanted) left -= 1;
          if (left === 0) return resolve(farthest);
          scroller.scrollTop -= step;
          seen = inView();
          requestAnimationFrame(look);
        };
        look();
      });
      return { jump };
    },
    { wanted: pixels, step: STEP_PX },
  );

const DAY_MS = 86_400_000;

for (const { of, days } of [
  { of: 'the same day', days: 0 },
  { of: 'the day before', days: 1 },
]) {
  test(`who goes on scrolling while older messages of ${of} come sees no word jump`, async ({ person, page }) => {
    // odd, so that the loaded page begins with a reply, whose height is not known exactly before it is rendered
    await comesBackTo(person, 399);
    let come = () => {};
    const mayCome = new Promise<void>((resolve) => {
      come = resolve;
    });
    const isOlder = (url: URL) => url.searchParams.has('before');
    await page.route(isOlder, async (route) => {
      await mayCome;
      const response = await route.fetch();
      const { data, ...rest }: { data: { created_at: string }[] } = await response.json();
      const earlier = data.map((message) => ({
        ...message,
        created_at: new Date(Date.parse(message.created_at) - days * DAY_MS).toISOString(),
      }));
      await route.fulfill({ response, json: { ...rest, data: earlier } });
    });
    const asked = page.waitForRequest((request) => isOlder(new URL(request.url())));
    await atRest(person.log());
    // to the first row, so that its height is measured, and away from it
    await person.log().evaluate((scroller) => scroller.scrollTo(0, 0));
    await asked;
    await atRest(person.log());
    await person.log().evaluate((scroller) => scroller.scrollTo(0, scroller.clientHeight));
    await atRest(person.log());
    const scrolling = await scrollOn(person.log(), 2000);
    come();
    // inserting older messages may skip one step, and browsers round scroll positions
    expect(await scrolling.evaluate(({ jump }) => jump)).toBeLessThan(STEP_PX + 2);
  });
}

test('a long press or ⋯ opens what can be done with a message', async ({ person, page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await comesBackTo(person, 2);
  const reply = person.log().getByRole('article').last();
  await reply.scrollIntoViewIfNeeded();
  const box = await reply.boundingBox();
  if (!box) throw new Error('no reply to press');
  const touch = await context.newCDPSession(page);
  const finger = { x: box.x + box.width / 2, y: box.y + Math.min(box.height / 2, 120) };
  const sheet = page.getByRole('dialog', { name: '聂小倩的消息' });
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [finger] });
  await expect(sheet).toBeVisible();
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await expect(sheet.getByRole('button', { name: '继续' })).toBeVisible();
  await page.goBack();
  await expect(sheet).toBeHidden();
  await expect(person.log()).toBeVisible();
  await reply.getByRole('button', { name: '更多操作' }).tap();
  await sheet.getByRole('button', { name: '复制' }).tap();
  await person.isTold('已复制');
  const body = (await person.latest()).data.at(-1)?.body ?? '';
  expect(body).toContain('*');
  const words = body.replaceAll('*', '');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(words);
  // a long press opens the menu in the log, and selects text here
  await reply.getByRole('button', { name: '更多操作' }).tap();
  await sheet.getByRole('button', { name: '选择文字' }).tap();
  const [firstLine = ''] = words.split('\n');
  const line = sheet.getByText(firstLine, { exact: true });
  await expect(line).toBeVisible();
  expect(await line.evaluate((element) => getComputedStyle(element).userSelect)).toBe('text');
  await line.dblclick({ position: { x: 60, y: 12 } });
  const selected = () => page.evaluate(() => getSelection()?.toString().trim() ?? '');
  await expect.poll(selected).not.toBe('');
  expect(firstLine).toContain(await selected());
  await page.goBack();
  await expect(sheet).toBeHidden();
});

const payloads = [
  '<img src=x onerror="window.__ran=1">',
  '<script>window.__ran=1</script>',
  '*<svg/onload=window.__ran=1>*',
  '**<iframe srcdoc="<script>parent.__ran=1</script>">**',
  '“<a href=javascript:window.__ran=1>点我</a>”',
];

test('sec.xss: markup in words, name and persona is shown as it was written', async ({ person, page }) => {
  await person.returns(await seededAccount({}));
  await person.open('/my/profile');
  await page.locator('input[name="name"]').fill('<b onclick=x>甲');
  await page.locator('textarea[name="persona"]').fill(payloads.join('\n'));
  await page.getByRole('button', { name: /^预览/ }).tap();
  await expect(page.getByRole('figure').getByText('<script>window.__ran=1</script>')).toBeVisible();
  await page.getByRole('button', { name: '保存', exact: true }).tap();
  await expect(page.getByText('已保存')).toBeVisible();
  await person.opensChat(story);
  const text = payloads.join('\n');
  await person.says(text);
  await expect.poll(async () => (await person.latest()).data[0]?.body).toBe(text);
  for (const shown of ['<img src=x onerror="window.__ran=1">', '<svg/onload=window.__ran=1>'])
    await expect(person.log().getByText(shown).first()).toBeVisible();
  await expect.poll(() => person.latestStatus()).toBe('completed');
  await page.reload();
  await expect(person.log().getByText('<script>window.__ran=1</script>').first()).toBeVisible();
  expect(await person.log().locator('script, iframe, [onerror], [onload], a[href^="javascript:"]').count()).toBe(0);
  await person.open('/my');
  await expect(page.getByText('<b onclick=x>甲')).toBeVisible();
  expect(await page.evaluate(() => '__ran' in window)).toBe(false);
});
