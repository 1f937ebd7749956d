// Compares all devices with the server once the faults have ended: nothing may be lost, duplicated, out of order or different.
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  calmDown,
  composerOn,
  type Device,
  keptOn,
  linesOn,
  openStory,
  rowsOn,
  shortLived,
  stories,
  tidyUp,
} from './device.ts';
import { accountOf, balanceOf, conversationsOf, type Message, messagesOf } from './record.ts';
import {
  differenceOf,
  isRunning,
  linesOf,
  listDifference,
  wrongAccount,
  wrongConversation,
  wrongLines,
} from './verdict.ts';

const HEALED_WITHIN_MS = 60_000;
/** Time limit for replies that are still running when the storm ends. */
const REPLIED_WITHIN_MS = 90_000;
const PICTURES = 'test-results/storm';

/** Multiple of the time limit that a slow queue may take while it makes progress. */
const MOVES_FOR_AT_MOST = 10;

/** Repeats `find` until it returns null, or the same problem for this long. */
async function untilNone(find: () => Promise<string | null>, milliseconds: number): Promise<string | null> {
  const end = Date.now() + milliseconds * MOVES_FOR_AT_MOST;
  let until = Date.now() + milliseconds;
  let before: string | null = null;
  for (;;) {
    const found = await inTime(find(), milliseconds).catch((cause: Error) => cause.message.split('\n')[0] ?? '');
    if (found === null || Date.now() > Math.min(until, end)) return found;
    if (found !== before) until = Date.now() + milliseconds;
    before = found;
    await pause(500);
  }
}

/** Rejects after a time limit, because a crashed page would never answer. */
const inTime = <Result>(work: Promise<Result>, milliseconds: number): Promise<Result> =>
  Promise.race([
    work,
    pause(milliseconds, undefined, { ref: false }).then((): never => {
      throw new Error('the page does not answer');
    }),
  ]);

const viewDifference = async ({ context, direct, page }: Device, story: string) =>
  differenceOf(await linesOn(page), linesOf(await messagesOf(context, direct, story)));

const setOn = ({ page }: Device): Promise<string> =>
  page.evaluate(() => JSON.parse(document.getElementById('liaozhai-set')?.textContent ?? '{}').set);

const clock = (at: number) => `${Math.floor(at / 60_000)}:${String(Math.floor(at / 1000) % 60).padStart(2, '0')}`;

/** Actions of the device around a time of the storm, or at its end. */
function deedsAround({ diary, name }: Device, at = Number.POSITIVE_INFINITY): string {
  const index = diary.findIndex((deed) => deed.at > at);
  const end = index < 0 ? diary.length : index;
  return diary
    .slice(Math.max(0, end - 6), end + 6)
    .map((deed) => `\n    ${name} ${clock(deed.at)} ${deed.what}`)
    .join('');
}

/** URL and text of a device's page. Also saves a screenshot and the document. */
async function sceneOf(device: Device): Promise<string> {
  const { name, page } = device;
  mkdirSync(PICTURES, { recursive: true });
  const picture = `${PICTURES}/${name}-${Date.now()}.png`;
  await page.screenshot({ path: picture }).catch(() => undefined);
  writeFileSync(picture.replace('.png', '.html'), await inTime(page.content(), 10_000).catch(String));
  const text = await page.locator('body').innerText().catch(String);
  return `\n    ${page.url()} (${picture})\n    ${text.replace(/\s+/g, ' ').slice(0, 400)}${deedsAround(device)}`;
}

/** An open chat must recover without a reload. */
async function viewsThatStayWrong(device: Device): Promise<string[]> {
  const story = openStory(device.page);
  const found = await untilNone(async () => {
    await tidyUp(device);
    return story && openStory(device.page) === story ? viewDifference(device, story) : null;
  }, HEALED_WITHIN_MS);
  return found ? [`${device.name}: ${story} did not heal: ${found}${await sceneOf(device)}`] : [];
}

/** Each reopened chat must end like the server's record, with the right balance and draft. */
async function wrongWhenReopened(device: Device, set: string): Promise<string[]> {
  const { context, direct, drafts, name, page } = device;
  const wrong: string[] = [];
  for (const story of [...stories, shortLived]) {
    let isAnew = false;
    const found = await untilNone(async () => {
      if (!isAnew || openStory(page) !== story) await page.goto(`/story/${story}?chat=1`);
      isAnew = true;
      await tidyUp(device);
      const shown = await setOn(device);
      isAnew = shown === set;
      if (!isAnew) return `the set ${shown} for ${set}, which is live`;
      const difference = await viewDifference(device, story);
      if (difference) return difference;
      const { balance, text } = await composerOn(page);
      const known = await balanceOf(context, direct);
      const draft = drafts.get(story)?.text ?? text;
      if (text !== draft) return `a draft is lost: ${draft}, and there is ${text || 'nothing'}`;
      if (balance !== known) return `a balance of ${balance} for ${known}`;
      // a message that waited on the device now gets its reply, which would arrive after the reader has left
      if ((await messagesOf(context, direct, story)).some(isRunning)) return 'a reply is being written';
      // leaving before the server has recorded the chat as read would leave it unread
      const listed = (await conversationsOf(context, direct)).find((conversation) => conversation.story.id === story);
      return listed?.unread ? 'it is unread while it is open' : null;
    }, HEALED_WITHIN_MS);
    if (found) wrong.push(`${name}: ${story} opened again: ${found}${await sceneOf(device)}`);
  }
  return wrong;
}

/** Expects 聊过 to equal the server's list, with everything read, and no unsent message on the device. */
async function wrongList(device: Device): Promise<string[]> {
  const { name, page, context, direct } = device;
  const list = await untilNone(async () => {
    const known = await conversationsOf(context, direct);
    const unread = known.find((conversation) => conversation.unread);
    if (unread) return `${unread.story.id} is unread again, which was read to its end`;
    await page.goto('/conversations');
    await page
      .getByText('都在这里了')
      .or(page.getByText('还没有聊过'))
      .first()
      .waitFor({ timeout: HEALED_WITHIN_MS / 4 });
    return listDifference(await rowsOn(page), known);
  }, HEALED_WITHIN_MS);
  const kept = await untilNone(async () => {
    const count = await keptOn(page);
    return count > 0 ? `${count} messages lie on it unsent` : null;
  }, HEALED_WITHIN_MS);
  const wrong: string[] = [];
  if (list) wrong.push(`${name}: 聊过 is another than the server's: ${list}${await sceneOf(device)}`);
  if (kept) wrong.push(`${name}: ${kept}`);
  return wrong;
}

/** Waits until no reply is running. */
async function repliesThatRunOn({ name, context, direct }: Device): Promise<string[]> {
  const found = await untilNone(async () => {
    for (const story of [...stories, shortLived])
      if ((await messagesOf(context, direct, story)).some(isRunning)) return `${story}: a reply runs without end`;
    return null;
  }, REPLIED_WITHIN_MS);
  return found ? [`${name}: ${found}`] : [];
}

/** Problems in the server's record, for all devices of one reader. */
async function wrongRecord(devices: readonly Device[]): Promise<string[]> {
  const [any] = devices;
  if (!any) return [];
  const { context, direct, account } = any;
  const wrong: string[] = [];
  const kept: Message[][] = [];
  for (const story of stories) {
    const messages = await messagesOf(context, direct, story);
    kept.push(messages);
    for (const device of devices) {
      for (const { line, what, others } of wrongLines(device, story, messages)) {
        const around = [line, ...others].map(({ at }) => deedsAround(device, at)).join('');
        wrong.push(`${device.name}: ${story}, said at ${clock(line.at)}: ${what}: ${line.text}${around}`);
      }
    }
    wrong.push(...wrongConversation(devices, story, messages).map((what) => `${any.name}: ${story}: ${what}`));
  }
  const shortMessages = await messagesOf(context, direct, shortLived);
  wrong.push(...wrongConversation(devices, shortLived, shortMessages).map((what) => `${any.name}: ${what}`));
  const accounts = await accountOf(context, direct);
  const faults = wrongAccount(accounts, [...kept, shortMessages], [TITLE_OF_SHORT_LIVED]);
  wrong.push(...faults.map((what) => `${any.name}: ${what}`));
  if (wrong.length > 0) {
    mkdirSync(PICTURES, { recursive: true });
    const sent = devices.map((device) => ({ name: device.name, sent: device.sent, diary: device.diary }));
    const record = JSON.stringify({ kept, shortMessages, accounts, sent }, null, 1);
    writeFileSync(`${PICTURES}/${account.login}.json`, record);
  }
  return wrong;
}

const TITLE_OF_SHORT_LIVED = '婴宁';

/** Returns all problems once the faults have ended; `set` is the live set. */
export async function judge(devices: readonly Device[], set: string): Promise<string[]> {
  const wrong: string[] = [];
  const looks = {
    'open chats': viewsThatStayWrong,
    'replies that run': repliesThatRunOn,
    'chats opened again': (device: Device) => wrongWhenReopened(device, set),
    聊过: wrongList,
  };
  for (const device of devices) {
    const calmed = await untilNone(() => calmDown(device).then(() => null), HEALED_WITHIN_MS);
    if (calmed) wrong.push(`${device.name}: ${calmed}`);
  }
  console.log('the sky is clear');
  for (const [name, look] of Object.entries(looks)) {
    for (const device of devices) wrong.push(...(await look(device)));
    console.log(`${name}: ${wrong.length} wrong so far`);
  }
  for (const login of new Set(devices.map(({ account }) => account.login)))
    wrong.push(...(await wrongRecord(devices.filter(({ account }) => account.login === login))));
  for (const { errors } of devices) wrong.push(...errors);
  return [...new Set(wrong)];
}
