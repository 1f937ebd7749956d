import type { Page } from 'playwright';
import type { Phone, Stage } from './experienceStage.ts';
import { median, type Row, row, spread } from './report.ts';

const ROUNDS = 5;
const card = 'a[href^="/story/"]:not([href*="chat="])';
/** Duration for which a return is observed for late requests. */
const OBSERVATION_MS = 700;

/** Scroll position of the list of stories, in px; with `top`, scrolls there first. */
const scrollPosition = (page: Page, top?: number) =>
  page.evaluate(
    ([selector, to]) => {
      let element = document.querySelector(selector);
      while (element && !/auto|scroll/.test(getComputedStyle(element).overflowY)) element = element.parentElement;
      const list = element ?? document.documentElement;
      if (to !== undefined) list.scrollTop = to;
      return list.scrollTop;
    },
    [card, top] as const,
  );

interface Return {
  milliseconds: number;
  requests: string[];
  movedPx: number;
}

interface Trip {
  leave: (page: Page) => Promise<void>;
  comeBack: (page: Page) => Promise<void>;
}

const tab = (name: string) => (page: Page) => page.getByRole('navigation').getByRole('link', { name }).tap();

const trips: Record<string, Trip> = {
  tab: {
    async leave(page) {
      await tab('我的')(page);
      await page.getByRole('button', { name: /^签到|^今日已签到/ }).waitFor();
    },
    comeBack: tab('发现'),
  },
  story: {
    async leave(page) {
      const visible = page.locator(card).filter({ visible: true });
      const boxes = await visible.evaluateAll((cards) => cards.map((each) => each.getBoundingClientRect().top));
      await visible.nth(boxes.findIndex((top) => top > 80 && top < 500)).tap();
      await page.getByRole('link', { name: /(开始|继续|进入)聊天/ }).waitFor();
    },
    comeBack: (page) => page.getByRole('button', { name: '返回' }).last().tap(),
  },
};

async function measureTrip(page: Page, { leave, comeBack }: Trip): Promise<Return> {
  const before = await scrollPosition(page);
  await leave(page);
  await page.waitForLoadState('networkidle');
  const requests: string[] = [];
  const recordRequest = (request: { url(): string }) => requests.push(new URL(request.url()).pathname);
  await page.evaluate((selector) => window.__watch.clickUntil(selector), card);
  page.on('request', recordRequest);
  await comeBack(page);
  const milliseconds = await page.evaluate(() => window.__watch.clicked());
  await page.waitForTimeout(OBSERVATION_MS);
  page.off('request', recordRequest);
  return { milliseconds, requests, movedPx: Math.abs((await scrollPosition(page)) - before) };
}

/** Leaves the scrolled list of stories and returns, by tab and by story. */
export async function measureReturns({ page }: Phone, { origin }: Stage): Promise<Row[]> {
  await page.goto(`${origin}/explore`, { waitUntil: 'domcontentloaded' });
  await page.locator(card).first().waitFor();
  await page.waitForLoadState('networkidle');
  await scrollPosition(page, 1200);
  const rows: Row[] = [];
  for (const [name, trip] of Object.entries(trips)) {
    await measureTrip(page, trip);
    const returns: Return[] = [];
    for (let round = 0; round < ROUNDS; round += 1) returns.push(await measureTrip(page, trip));
    const times = returns.map(({ milliseconds }) => milliseconds);
    const requests = returns.flatMap((each) => each.requests);
    const movedPx = Math.max(...returns.map((each) => each.movedPx));
    if (requests.length > 0)
      console.log(`requests on the way back from a ${name}: ${[...new Set(requests)].join(' ')}`);
    const figure = `${spread(times)} ms, ${requests.length} requests, ${movedPx} px`;
    const isMet = median(times) <= 100 && requests.length === 0 && movedPx === 0;
    rows.push(row(`${name} and back, ${ROUNDS} times`, figure, '≤ 100 ms, 0 requests, 0 px', isMet));
  }
  return rows;
}
