// Compares all devices with the server once the faults have ended: nothing may be lost, duplicated, out of order or different.
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import {
  calmDown,
  composerOn,
  type Device,
  linesOn,
  openStory,
  rowsOn,
  stories,
  tidyUp,
  unsentCountOn,
  volatileStory,
} from './device.ts';
import { accountOf, balanceOf, conversationsOf, type Message, messagesOf } from './record.ts';
import {
  differenceOf,
  findAccountFaults,
  findConversationFaults,
  findLineFaults,
  isRunning,
  linesOf,
  listDifference,
} from './verdict.ts';

const HEALED_WITHIN_MS = 60_000;
/** Time limit for replies that are still running when the storm ends. */
const REPLIED_WITHIN_MS = 90_000;
const PICTURES = 'test-results/storm';

/** Multiple of the time limit that a slow queue may take while it makes progress. */
const MAX_PROGRESS_FACTOR = 10;

/** Repeats `find` until it returns null, or the same problem for this long. */
async function waitForNoProblem(find: () => Promise<string | null>, milliseconds: number): Promise<string | null> {
  const end = Date.now() + milliseconds * MAX_PROGRESS_FACTOR;
  let until = Date.now() + milliseconds;
  let previousProblem: string | null = null;
  for (;;) {
    const problem = await withTimeout(find(), milliseconds).catch((cause: Error) => cause.message.split('\n')[0] ?? '');
    if (problem === null || Date.now() > Math.min(until, end)) return problem;
    if (problem !== previousProblem) until = Date.now() + milliseconds;
    previousProblem = problem;
    await pause(500);
  }
}

/** Rejects after a time limit, because a crashed page would never answer. */
const withTimeout = <Result>(work: Promise<Result>, milliseconds: number): Promise<Result> =>
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
  writeFileSync(picture.replace('.png', '.html'), await withTimeout(page.content(), 10_000).catch(String));
  const text = await page.locator('body').innerText().catch(String);
  return `\n    ${page.url()} (${picture})\n    ${text.replace(/\s+/g, ' ').slice(0, 400)}${deedsAround(device)}`;
}

/** An open chat must recover without a reload. */
async function findUnhealedViews(device: Device): Promise<string[]> {
  const story = openStory(device.page);
  const problem = await waitForNoProblem(async () => {
    await tidyUp(device);
    return story && openStory(device.page) === story ? viewDifference(device, story) : null;
  }, HEALED_WITHIN_MS);
  return problem ? [`${device.name}: ${story} did not heal: ${problem}${await sceneOf(device)}`] : [];
}

/** Each reopened chat must end like the server's record, with the right balance and draft. */
async function findReopenProblems(device: Device, set: string): Promise<string[]> {
  const { context, direct, drafts, name, page } = device;
  const problems: string[] = [];
  for (const story of [...stories, volatileStory]) {
    let isFresh = false;
    const problem = await waitForNoProblem(async () => {
      if (!isFresh || openStory(page) !== story) await page.goto(`/story/${story}?chat=1`);
      isFresh = true;
      await tidyUp(device);
      const shownSet = await setOn(device);
      isFresh = shownSet === set;
      if (!isFresh) return `the set ${shownSet} for ${set}, which is live`;
      const difference = await viewDifference(device, story);
      if (difference) return difference;
      const { balance, text } = await composerOn(page);
      const serverBalance = await balanceOf(context, direct);
      const draft = drafts.get(story)?.text ?? text;
      if (text !== draft) return `a draft is lost: ${draft}, and there is ${text || 'nothing'}`;
      if (balance !== serverBalance) return `a balance of ${balance} for ${serverBalance}`;
      // a message that waited on the device now gets its reply, which would arrive after the reader has left
      if ((await messagesOf(context, direct, story)).some(isRunning)) return 'a reply is being written';
      // leaving before the server has recorded the chat as read would leave it unread
      const listedConversation = (await conversationsOf(context, direct)).find(
        (conversation) => conversation.story.id === story,
      );
      return listedConversation?.unread ? 'it is unread while it is open' : null;
    }, HEALED_WITHIN_MS);
    if (problem) problems.push(`${name}: ${story} opened again: ${problem}${await sceneOf(device)}`);
  }
  return problems;
}

/** Expects 聊过 to equal the server's list, with everything read, and no unsent message on the device. */
async function findListProblems(device: Device): Promise<string[]> {
  const { name, page, context, direct } = device;
  const listProblem = await waitForNoProblem(async () => {
    const serverConversations = await conversationsOf(context, direct);
    const unread = serverConversations.find((conversation) => conversation.unread);
    if (unread) return `${unread.story.id} is unread again, which was read to its end`;
    await page.goto('/conversations');
    await page
      .getByText('都在这里了')
      .or(page.getByText('还没有聊过'))
      .first()
      .waitFor({ timeout: HEALED_WITHIN_MS / 4 });
    return listDifference(await rowsOn(page), serverConversations);
  }, HEALED_WITHIN_MS);
  const unsentProblem = await waitForNoProblem(async () => {
    const count = await unsentCountOn(page);
    return count > 0 ? `${count} messages lie on it unsent` : null;
  }, HEALED_WITHIN_MS);
  const problems: string[] = [];
  if (listProblem) problems.push(`${name}: 聊过 is another than the server's: ${listProblem}${await sceneOf(device)}`);
  if (unsentProblem) problems.push(`${name}: ${unsentProblem}`);
  return problems;
}

/** Waits until no reply is running. */
async function findEndlessReplies({ name, context, direct }: Device): Promise<string[]> {
  const problem = await waitForNoProblem(async () => {
    for (const story of [...stories, volatileStory])
      if ((await messagesOf(context, direct, story)).some(isRunning)) return `${story}: a reply runs without end`;
    return null;
  }, REPLIED_WITHIN_MS);
  return problem ? [`${name}: ${problem}`] : [];
}

/** Problems in the server's record, for all devices of one reader. */
async function findRecordProblems(devices: readonly Device[]): Promise<string[]> {
  const [firstDevice] = devices;
  if (!firstDevice) return [];
  const { context, direct, account } = firstDevice;
  const problems: string[] = [];
  const messagesByStory: Message[][] = [];
  for (const story of stories) {
    const messages = await messagesOf(context, direct, story);
    messagesByStory.push(messages);
    for (const device of devices) {
      for (const { line, what, others } of findLineFaults(device, story, messages)) {
        const around = [line, ...others].map(({ at }) => deedsAround(device, at)).join('');
        problems.push(`${device.name}: ${story}, said at ${clock(line.at)}: ${what}: ${line.text}${around}`);
      }
    }
    problems.push(
      ...findConversationFaults(devices, story, messages).map((what) => `${firstDevice.name}: ${story}: ${what}`),
    );
  }
  const shortMessages = await messagesOf(context, direct, volatileStory);
  problems.push(
    ...findConversationFaults(devices, volatileStory, shortMessages).map((what) => `${firstDevice.name}: ${what}`),
  );
  const accounts = await accountOf(context, direct);
  const faults = findAccountFaults(accounts, [...messagesByStory, shortMessages], [TITLE_OF_SHORT_LIVED]);
  problems.push(...faults.map((what) => `${firstDevice.name}: ${what}`));
  if (problems.length > 0) {
    mkdirSync(PICTURES, { recursive: true });
    const sent = devices.map((device) => ({ name: device.name, sent: device.sent, diary: device.diary }));
    const record = JSON.stringify({ kept: messagesByStory, shortMessages, accounts, sent }, null, 1);
    writeFileSync(`${PICTURES}/${account.login}.json`, record);
  }
  return problems;
}

const TITLE_OF_SHORT_LIVED = '婴宁';

/** Returns all problems once the faults have ended; `set` is the live set. */
export async function judge(devices: readonly Device[], set: string): Promise<string[]> {
  const problems: string[] = [];
  const checks = {
    'open chats': findUnhealedViews,
    'replies that run': findEndlessReplies,
    'chats opened again': (device: Device) => findReopenProblems(device, set),
    聊过: findListProblems,
  };
  for (const device of devices) {
    const calmProblem = await waitForNoProblem(() => calmDown(device).then(() => null), HEALED_WITHIN_MS);
    if (calmProblem) problems.push(`${device.name}: ${calmProblem}`);
  }
  console.log('all faults have ended');
  for (const [name, check] of Object.entries(checks)) {
    for (const device of devices) problems.push(...(await check(device)));
    console.log(`${name}: ${problems.length} wrong so far`);
  }
  for (const login of new Set(devices.map(({ account }) => account.login)))
    problems.push(...(await findRecordProblems(devices.filter(({ account }) => account.login === login))));
  for (const { errors } of devices) problems.push(...errors);
  return [...new Set(problems)];
}
