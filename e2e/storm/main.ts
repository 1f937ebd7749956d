// `pnpm storm`: two readers with two devices each, and faults in all that lies between them and the product. Nothing they said may be lost,
// doubled, out of order, or different on another device.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BrowserContext } from '@playwright/test';
import { launchChromium } from '../needs.ts';
import { freePort, type RunningProduct, startProduct } from '../product.ts';
import { seededAccount } from '../seeds.ts';
import { act, type Device, type Line, linesOn, openDevice, openStory, stories, tidyUp, wordsOf } from './device.ts';
import { startFaultyProxy } from './faultyProxy.ts';
import { createRandom, type Random } from './random.ts';

const usage = `pnpm storm [--seed N] [--minutes M]
  --seed     which storm; default: another each time, and printed
  --minutes  how long it lasts; default 2
  --files    share of the builds' files that faults may meet; default 0.1
  --diary    also prints what each device did`;

const HEALED_WITHIN_MS = 60_000;
/** Replies that run when the storm ends are waited for. */
const REPLIED_WITHIN_MS = 90_000;

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

interface Message {
  role: string;
  status: string;
  body: string;
}

async function serverLines(context: BrowserContext, story: string): Promise<{ lines: Line[]; isRunning: boolean }> {
  const answer = await context.request.get(`/api/v1/messages/latest?story_id=${story}&limit=100`);
  if (!answer.ok()) throw new Error(`the latest messages of ${story}: ${answer.status()}`);
  const { data } = (await answer.json()) as { data: Message[] };
  const said = data.filter(({ role }) => role !== 'system');
  return {
    lines: said.map(({ role, body }) => ({ mine: role === 'user', words: wordsOf(body) })),
    isRunning: said.some(({ status }) => status === 'pending' || status === 'streaming'),
  };
}

/** Whether what stands on a page is the end of what the server has: a page may have loaded less, and shows the opening besides. */
function differenceOf(page: readonly (Line & { isOnTheWay: boolean })[], server: readonly Line[]): string | null {
  const waiting = page.filter(({ isOnTheWay }) => isOnTheWay);
  if (waiting.length > 0) return `${waiting.length} still on the way: ${waiting[0]?.words}`;
  const mine = page.filter((line) => line.mine).map(({ words }) => words);
  const theirs = server.filter((line) => line.mine).map(({ words }) => words);
  if (mine.length === 0 && theirs.length > 0) return `nothing of ${theirs.length} messages`;
  const tail = theirs.slice(theirs.length - mine.length);
  const at = mine.findIndex((words, index) => words !== tail[index]);
  if (mine.length > theirs.length || at >= 0) return `own lines differ at ${at}: ${mine[at]} for ${tail[at]}`;
  const replies = page.filter((line) => !line.mine).map(({ words }) => words);
  const lacking = server
    .slice(server.findIndex((line) => line.mine && line.words === mine[0]))
    .find((line) => !line.mine && line.words !== '' && !replies.includes(line.words));
  return lacking ? `a reply is missing or another: ${lacking.words.slice(0, 30)}` : null;
}

async function untilNone(find: () => Promise<string | null>, milliseconds: number): Promise<string | null> {
  const until = Date.now() + milliseconds;
  for (;;) {
    const found = await find().catch((cause: Error) => cause.message.split('\n')[0] ?? '');
    if (found === null || Date.now() > until) return found;
    await pause(500);
  }
}

const viewDifference = async (device: Device, story: string) => {
  const { lines } = await serverLines(device.context, story);
  return differenceOf(await linesOn(device.page), lines);
};

/** Where a device stands and what it shows, with a picture and its document. */
async function sceneOf({ name, page }: Device): Promise<string> {
  const picture = `test-results/storm/${name}-${Date.now()}.png`;
  await page.screenshot({ path: picture }).catch(() => undefined);
  writeFileSync(picture.replace('.png', '.html'), await page.content().catch(String));
  const text = await page.locator('body').innerText().catch(String);
  return `  ${page.url()} (${picture})\n  ${text.replace(/\s+/g, ' ').slice(0, 400)}`;
}

/** All that is wrong once the sky is clear, in words. */
async function judge(devices: Device[]): Promise<string[]> {
  const wrong: string[] = [];
  // first as they stand: a view has to heal without being opened anew
  for (const device of devices) {
    const story = openStory(device.page);
    const found = await untilNone(async () => {
      await tidyUp(device);
      return story && openStory(device.page) === story ? viewDifference(device, story) : null;
    }, HEALED_WITHIN_MS);
    if (found) wrong.push(`${device.name}: ${story} did not heal: ${found}\n${await sceneOf(device)}`);
  }
  for (const device of devices) {
    for (const story of stories) {
      const found = await untilNone(async () => {
        if (openStory(device.page) !== story) await device.page.goto(`/story/${story}?chat=1`);
        await tidyUp(device);
        return viewDifference(device, story);
      }, HEALED_WITHIN_MS);
      if (found) wrong.push(`${device.name}: ${story} opened anew: ${found}\n${await sceneOf(device)}`);
    }
  }
  for (const story of stories)
    for (const device of devices) {
      const replied = await untilNone(
        async () => ((await serverLines(device.context, story)).isRunning ? 'a reply runs without end' : null),
        REPLIED_WITHIN_MS,
      );
      if (replied) wrong.push(`${device.name}: ${story}: ${replied}`);
      const { lines } = await everything(device.context, story);
      const onServer = lines.filter(({ mine }) => mine).map(({ words }) => words);
      const sent = device.sent.filter((line) => line.story === story).map(({ text }) => wordsOf(text));
      for (const words of sent) {
        const copies = onServer.filter((known) => known === words).length;
        if (copies === 0) wrong.push(`${device.name}: lost: ${words}`);
        if (copies > 1) wrong.push(`${device.name}: ${copies} times: ${words}`);
      }
      const order = onServer.filter((words) => sent.includes(words));
      const expected = sent.filter((words) => order.includes(words));
      if (order.join() !== expected.join())
        wrong.push(`${device.name}: ${story} out of order: ${order} for ${expected}`);
    }
  for (const { name, context } of devices) wrong.push(...(await balanceFaults(name, context)));
  wrong.push(...devices.flatMap(({ errors }) => errors));
  return [...new Set(wrong)];
}

/** All messages of a conversation, page by page. */
async function everything(context: BrowserContext, story: string): Promise<{ lines: Line[] }> {
  const lines: Line[] = [];
  for (let before = ''; ; ) {
    const answer = await context.request.get(`/api/v1/messages/latest?story_id=${story}&limit=100${before}`);
    const { data } = (await answer.json()) as { data: (Message & { seq: number })[] };
    lines.unshift(
      ...data.map(({ role, body }) => ({ mine: role === 'user', words: role === 'system' ? '' : wordsOf(body) })),
    );
    const [first] = data;
    if (data.length < 100 || !first) return { lines };
    before = `&before=${first.seq}`;
  }
}

async function balanceFaults(name: string, context: BrowserContext): Promise<string[]> {
  const user = (await (await context.request.get('/api/v1/user')).json()) as { data: { balance: number } };
  let sum = 0;
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer = await context.request.get(
      `/api/v1/transactions${cursor && `?cursor=${encodeURIComponent(cursor)}`}`,
    );
    const page = (await answer.json()) as { data: { amount: number }[]; meta?: { next_cursor: string | null } };
    sum += page.data.reduce((total, { amount }) => total + amount, 0);
    cursor = page.meta?.next_cursor ?? null;
  }
  return sum === user.data.balance ? [] : [`${name}: a balance of ${user.data.balance} for entries of ${sum}`];
}

async function main() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: String(Date.now() % 100_000) },
      minutes: { type: 'string', default: '2' },
      files: { type: 'string', default: '0.1' },
      diary: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const seed = Number(values.seed);
  const minutes = Number(values.minutes);
  const fileShare = Number(values.files);
  if (values.help || !Number.isInteger(seed) || !(minutes > 0 && minutes <= 120 && fileShare >= 0 && fileShare <= 1)) {
    console.log(usage);
    process.exit(values.help ? 0 : 2);
  }
  console.log(`pnpm storm --seed ${seed} --minutes ${minutes} --files ${fileShare}`);
  const wrong = await storm({ seed, milliseconds: minutes * 60_000, fileShare, showsDiary: values.diary });
  for (const line of wrong) console.log(`✗ ${line}`);
  console.log(wrong.length === 0 ? '✓ nothing lost, doubled, out of order or different' : `${wrong.length} faults`);
  process.exit(wrong.length === 0 ? 0 : 1);
}

interface Storm {
  seed: number;
  milliseconds: number;
  fileShare: number;
  showsDiary: boolean;
}

async function storm({ seed, milliseconds, fileShare, showsDiary }: Storm): Promise<string[]> {
  const data = mkdtempSync(join(tmpdir(), 'liaozhai-storm-'));
  const env = {
    PORT: String(await freePort()),
    DATA_DIR: data,
    RATE_LIMIT_LOGIN: '100000',
    RATE_LIMIT_MESSAGES: '100000',
    RATE_LIMIT_WRITES: '100000',
    STORYTELLER_START_DELAY_MS: '100',
    STORYTELLER_PIECE_DELAY_MS: '30',
    STORYTELLER_PIECE_CHARACTERS: '12',
    STORYTELLER_FAIL_RATE: '0.05',
    LOG_LEVEL: 'silent',
  };
  const running: { product: RunningProduct } = { product: await startProduct(env) };
  const proxy = await startFaultyProxy(Number(env.PORT), createRandom(seed + 1), fileShare);
  const browser = await launchChromium();
  try {
    const devices: Device[] = [];
    for (const reader of ['甲', '乙']) {
      const account = await seededAccount({ balance: 1_000_000 }, data);
      for (const name of [`${reader}一`, `${reader}二`])
        devices.push(await openDevice(browser, proxy.origin, name, account));
    }
    const until = Date.now() + milliseconds;
    proxy.storm(true);
    const restarts = keepCrashing(running, env, createRandom(seed + 2), until);
    await Promise.all(
      devices.map(async (device, index) => {
        const own = createRandom(seed + 10 + index);
        while (Date.now() < until) await act(device, own);
      }),
    );
    proxy.storm(false);
    const crashes = await restarts;
    for (const { context } of devices) await context.setOffline(false);
    const sent = devices.reduce((sum, device) => sum + device.sent.length, 0);
    const faults = Object.entries(proxy.counts()).map(([name, count]) => `${name} ${count}`);
    console.log(`${sent} lines sent; ${crashes} crashes of the product; requests: ${faults.join(', ')}`);
    const wrong = await judge(devices);
    if (showsDiary) for (const { name, diary } of devices) console.log(`\n${name}\n${diary.join('\n')}`);
    return wrong;
  } finally {
    await browser.close();
    await proxy.stop();
    await running.product.stop();
    rmSync(data, { recursive: true, force: true });
  }
}

/** Kills the product now and then, and starts it again a while later. Resolves with how often, once it runs for good. */
async function keepCrashing(
  running: { product: RunningProduct },
  env: Record<string, string>,
  random: Random,
  until: number,
): Promise<number> {
  for (let crashes = 0; ; crashes += 1) {
    const next = Date.now() + random.between(12_000, 40_000);
    if (next > until - 5000) {
      await pause(Math.max(0, until - Date.now()));
      return crashes;
    }
    await pause(next - Date.now());
    await running.product.crash();
    await pause(random.between(300, 4000));
    running.product = await startProduct(env);
  }
}

await main();
