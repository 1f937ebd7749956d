import type { Page } from 'playwright';
import { latestMessages } from '../../backend/src/chat/message.ts';
import { lengths, type Phone, type Stage, stories } from './experienceStage.ts';
import { framesPerSecond, median, quantile, type Row, row, spread } from './report.ts';

const KEYS = 40;
const KEY_ROUNDS = 9;
const MOUNTS = 5;
const PREPENDS = 5;
const MS_BETWEEN_KEYS = 90;

const firstPage = (url: URL) => url.pathname.endsWith('/messages/latest') && url.searchParams.has('story_id');

/** Opens a story's chat with its whole history in memory, as after scrolling through all of it. */
export async function openWhole({ page }: Phone, stage: Stage, kind: keyof typeof stories): Promise<void> {
  // a page in the background hardly renders
  await page.bringToFront();
  const history = latestMessages(stage.services, stage.user, { story_id: stories[kind], limit: 100_000 });
  await page.route(firstPage, (route) => route.fulfill({ json: history }));
  await page.goto(`${stage.origin}/story/${stories[kind]}`, { waitUntil: 'domcontentloaded' });
  await openChat(page);
  await page.getByRole('log').locator('[data-index]').last().waitFor();
}

const openChat = (page: Page) => page.getByRole('link', { name: /(继续|进入)聊天/ }).tap();

export async function measureMount(phone: Phone): Promise<Row[]> {
  const { page } = phone;
  const times: number[] = [];
  await page.bringToFront();
  for (let round = 0; round < MOUNTS; round += 1) {
    await page.getByRole('button', { name: '返回' }).last().tap();
    await page.getByRole('log').waitFor({ state: 'detached' });
    await page.evaluate(() => window.__watch.clickUntil('[role=log] [data-index]'));
    await openChat(page);
    times.push(await page.evaluate(() => window.__watch.clicked()));
  }
  const nodes = await page.locator('[role=log] *').count();
  const what = `${lengths.long.toLocaleString('en')} messages`;
  return [
    row(`${what}: tap → painted`, `${spread(times)} ms`, '≤ 300 ms', median(times) <= 300),
    row(`${what}: nodes in the chat`, `${nodes}`, '≤ 300', nodes <= 300),
  ];
}

async function keyPaints(page: Page): Promise<number[]> {
  await page.bringToFront();
  await page.getByRole('textbox').last().tap();
  await page.evaluate(() => {
    window.__watch.keyPaints.length = 0;
  });
  for (let key = 0; key < KEYS; key += 1) await page.keyboard.press('a', { delay: MS_BETWEEN_KEYS });
  return page.evaluate(() => window.__watch.keyPaints);
}

/** Alternates between both pages, so that other load on the machine affects both. */
export async function measureKeys(chat: Phone, empty: Phone): Promise<Row> {
  const [ours, machine]: number[][][] = [[], []];
  for (let round = 0; round < KEY_ROUNDS; round += 1) {
    machine?.push(await keyPaints(empty.page));
    ours?.push(await keyPaints(chat.page));
    await chat.page.getByRole('textbox').last().fill('');
  }
  const p95 = (rounds: number[][] = []) => rounds.map((times) => quantile(times, 0.95));
  const ratio = median(p95(ours).map((time, round) => time / (p95(machine)[round] ?? 0)));
  const format = (rounds: number[][] = []) =>
    `${median(p95(rounds)).toFixed(0)} ms (median ${median(rounds.flat()).toFixed(0)})`;
  return row(
    `key press → painted frame, p95 of ${KEYS}, median of ${KEY_ROUNDS} rounds`,
    `${format(ours)}, ${ratio.toFixed(2)} × the empty page`,
    '≤ 50 ms, ≤ 1.3 × the empty page',
    median(p95(ours)) <= 50 && ratio <= 1.3,
    format(machine),
    median(p95(machine)) > 50,
  );
}

export async function scrollFrames({ page, cdp }: Phone): Promise<number> {
  await page.bringToFront();
  await page.evaluate(() => window.__watch.startFrames());
  const gesture = { x: 195, y: 400, yDistance: 3000, speed: 1500, gestureSourceType: 'touch' as const };
  await cdp.send('Input.synthesizeScrollGesture', gesture);
  const notes = await page.evaluate(() => window.__watch.stopFrames());
  return framesPerSecond(notes.map(({ at }) => at));
}

export async function measureScroll(chat: Phone, empty: Phone): Promise<Row> {
  const [ours, machine]: number[][] = [[], []];
  for (let round = 0; round < 3; round += 1) {
    machine?.push(await scrollFrames(empty));
    ours?.push(await scrollFrames(chat));
  }
  return framesRow('scrolling by finger', median(ours ?? []), median(machine ?? []));
}

export const framesRow = (what: string, ours: number, machine: number): Row =>
  row(what, `${ours.toFixed(1)} fps`, '≥ 55 fps', ours >= 55, `${machine.toFixed(1)} fps`, machine < 55);

/** Scrolls near the top until older messages have loaded. Resolves with the px by which a visible row moved. */
const drift = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<number>((resolve, reject) => {
        const view = document.querySelector('[role=log]');
        if (!view) return reject(new Error('no log'));
        view.scrollTop = view.clientHeight * 1.8;
        const frames = (count: number, then: () => void) =>
          requestAnimationFrame(() => (count > 1 ? frames(count - 1, then) : then()));
        frames(3, () => {
          const middle = view.getBoundingClientRect().top + view.clientHeight / 2;
          const rows = [...view.querySelectorAll('[data-index]')];
          const row = rows.find((each) => each.getBoundingClientRect().bottom > middle);
          const [start, height] = [row?.getBoundingClientRect().top ?? 0, view.scrollHeight];
          let worst = 0;
          let remainingFrames = 30;
          const measure = () => {
            worst = Math.max(worst, Math.abs((row?.getBoundingClientRect().top ?? 0) - start));
            if (view.scrollHeight > height + 1000) remainingFrames -= 1;
            remainingFrames > 0 ? requestAnimationFrame(measure) : resolve(worst);
          };
          measure();
        });
      }),
  );

export async function measurePrepend({ page }: Phone, { origin }: Stage): Promise<Row> {
  await page.goto(`${origin}/story/${stories.middle}?chat=1`, { waitUntil: 'domcontentloaded' });
  await page.getByRole('log').locator('[data-index]').last().waitFor();
  const drifts: number[] = [];
  for (let round = 0; round < PREPENDS; round += 1) drifts.push(await drift(page));
  const worst = Math.max(...drifts);
  return row(`50 older put before, worst of ${PREPENDS}: drift`, `${worst.toFixed(2)} px`, '≤ 1 px', worst <= 1);
}
