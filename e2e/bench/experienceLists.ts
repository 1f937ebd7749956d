import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { seedConversation, seedStories } from '../../backend/src/seeding.ts';
import { emulate } from './device.ts';
import { framesRow, scrollFrames } from './experienceChat.ts';
import { conditions, type Phone, type Stage } from './experienceStage.ts';
import { median, type Row, row } from './report.ts';

const STORIES = 5000;
const CONVERSATIONS = 1000;
const ROUNDS = 3;
const RELOAD_GOAL_MS = 3000;

const links = 'main a[href^="/story/"]';

/** Creates longer lists than almost any reader will have; the new stories come first in the feed. */
function seedLists({ services, user }: Stage, folder: string) {
  const file = join(folder, 'long.json');
  const seededStories = Array.from({ length: STORIES }, (_, index) => ({
    id: `long-${index}`,
    title: `长卷第${index}则`,
    summary: '翻到这里，再翻回来，也还是这一页。',
    tags: ['长卷'],
  }));
  writeFileSync(file, JSON.stringify(seededStories));
  seedStories(services, file);
  for (const { id } of seededStories.slice(0, CONVERSATIONS)) seedConversation(services, user.id, id, 2);
}

/** Loads the whole list as fast as possible. */
async function loadAll({ page, cdp }: Phone, count: number) {
  // a page in the background fetches nothing
  await page.bringToFront();
  await emulate(cdp, { latencyMs: 0, bytesPerSecond: -1, cpuSlowdown: 1 });
  await page.evaluate(
    ([selector, targetCount]) =>
      new Promise<void>((resolve) => {
        const loadMore = () => {
          const renderedLinks = [...document.querySelectorAll(selector)];
          // a virtual list keeps only entries near the view in the document
          const entries = Number(renderedLinks.at(-1)?.closest('li')?.ariaPosInSet ?? renderedLinks.length);
          if (entries >= targetCount) return resolve();
          const main = document.querySelector(selector)?.closest('main');
          main?.scrollTo(0, main.scrollHeight);
          setTimeout(loadMore, 16);
        };
        loadMore();
      }),
    [links, count] as const,
  );
  await emulate(cdp, conditions);
}

/**
 * Scroll position of the list, and its first visible entry. Reads only rendered elements: measuring rows out of view would force
 * their layout, which takes seconds for a thousand rows.
 */
const listPosition = (page: Page) =>
  page.evaluate((selector) => {
    const main = document.querySelector(selector)?.closest('main');
    const { left, top, width, height } = main?.getBoundingClientRect() ?? new DOMRect();
    for (let y = 1; y < height; y += 4) {
      const link = document.elementFromPoint(left + width / 3, top + y)?.closest(selector);
      if (link && link.getBoundingClientRect().top >= top) {
        return { top: main?.scrollTop ?? -1, first: link.getAttribute('href') ?? '' };
      }
    }
    return { top: main?.scrollTop ?? -1, first: '' };
  }, links);

/** Milliseconds from the reload until the list has its former position; null if it never has. */
async function timeToPlace(page: Page, goal: { top: number; first: string }): Promise<number | null> {
  const startedAt = Date.now();
  await page.bringToFront();
  await page.reload({ waitUntil: 'commit' });
  while (Date.now() - startedAt < 20_000) {
    const position = await listPosition(page).catch(() => null);
    if (position && position.first === goal.first && Math.abs(position.top - goal.top) <= 1)
      return Date.now() - startedAt;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return null;
}

async function measureList(phone: Phone, empty: Phone, path: string, count: number, what: string): Promise<Row[]> {
  const { page } = phone;
  await page.goto(path, { waitUntil: 'domcontentloaded' });
  await page.locator(links).first().waitFor();
  // duration of a first visit on this machine, as the baseline of the reload
  const firstVisitStartedAt = Date.now();
  await page.reload({ waitUntil: 'commit' });
  await page.locator(links).first().waitFor();
  const firstVisitMs = Date.now() - firstVisitStartedAt;
  await loadAll(phone, count);
  const [ours, machine]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    await page.evaluate((selector) => {
      const main = document.querySelector(selector)?.closest('main');
      main?.scrollTo(0, main.scrollHeight / 2);
    }, links);
    machine.push(await scrollFrames(empty));
    ours.push(await scrollFrames(phone));
  }
  // the list is at rest, and its state is stored
  await page.waitForTimeout(3000);
  const goal = await listPosition(page);
  const reloadMs = await timeToPlace(page, goal);
  return [
    framesRow(`${what}: scrolling by finger`, median(ours), median(machine)),
    row(
      `${what}: reload → the same place`,
      reloadMs === null
        ? 'not found'
        : `${reloadMs} ms, with one page ${firstVisitMs} ms (ratio ${(reloadMs / firstVisitMs).toFixed(2)})`,
      `≤ ${RELOAD_GOAL_MS} ms more than with one page, same entry`,
      reloadMs !== null && reloadMs - firstVisitMs <= RELOAD_GOAL_MS,
    ),
  ];
}

/** Reads 5,000 stories and 1,000 conversations to their end. Runs last, because it changes what 发现 shows. */
export async function measureLists(phone: Phone, empty: Phone, stage: Stage): Promise<Row[]> {
  seedLists(stage, stage.dataDir);
  return [
    ...(await measureList(phone, empty, `${stage.origin}/explore`, STORIES, '5,000 stories')),
    ...(await measureList(phone, empty, `${stage.origin}/conversations`, CONVERSATIONS, '1,000 conversations')),
  ];
}
