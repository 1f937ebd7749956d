// Whether everything is as it was said, once the sky is clear: nothing lost, doubled, out of order or different.
import { mkdirSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { calmDown, type Device, type Line, linesOn, openStory, type Sent, stories, tidyUp, wordsOf } from './device.ts';
import { balanceFault, type Message, messagesOf } from './record.ts';

const HEALED_WITHIN_MS = 60_000;
/** Replies that run when the storm ends are waited for. */
const REPLIED_WITHIN_MS = 90_000;
const PICTURES = 'test-results/storm';

const isRunning = ({ status }: Message) => status === 'pending' || status === 'streaming';

const linesOf = (messages: readonly Message[]): Line[] =>
  messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, body }) => ({ mine: role === 'user', words: wordsOf(body) }));

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
    const found = await inTime(find(), milliseconds).catch((cause: Error) => cause.message.split('\n')[0] ?? '');
    if (found === null || Date.now() > until) return found;
    await pause(500);
  }
}

/** A page that answers nothing any more must not keep the judge waiting for ever. */
const inTime = <Result>(work: Promise<Result>, milliseconds: number): Promise<Result> =>
  Promise.race([
    work,
    pause(milliseconds, undefined, { ref: false }).then((): never => {
      throw new Error('the page does not answer');
    }),
  ]);

const viewDifference = async ({ context, direct, page }: Device, story: string) =>
  differenceOf(await linesOn(page), linesOf(await messagesOf(context, direct, story)));

/** The set that the open document was made of. */
const setOn = ({ page }: Device): Promise<string> =>
  page.evaluate(() => JSON.parse(document.getElementById('liaozhai-set')?.textContent ?? '{}').set);

const clock = (at: number) => `${Math.floor(at / 60_000)}:${String(Math.floor(at / 1000) % 60).padStart(2, '0')}`;

/** What the device did around a time of the storm, or at its end. */
function deedsAround({ diary, name }: Device, at = Number.POSITIVE_INFINITY): string {
  const index = diary.findIndex((deed) => deed.at > at);
  const end = index < 0 ? diary.length : index;
  return diary
    .slice(Math.max(0, end - 6), end + 6)
    .map((deed) => `\n    ${name} ${clock(deed.at)} ${deed.what}`)
    .join('');
}

/** Where a device stands and what it shows, with a picture and its document. */
async function sceneOf(device: Device): Promise<string> {
  const { name, page } = device;
  mkdirSync(PICTURES, { recursive: true });
  const picture = `${PICTURES}/${name}-${Date.now()}.png`;
  await page.screenshot({ path: picture }).catch(() => undefined);
  writeFileSync(picture.replace('.png', '.html'), await inTime(page.content(), 10_000).catch(String));
  const text = await page.locator('body').innerText().catch(String);
  return `\n    ${page.url()} (${picture})\n    ${text.replace(/\s+/g, ' ').slice(0, 400)}${deedsAround(device)}`;
}

/** A view has to heal as it stands, without being opened anew. */
async function viewsThatStayWrong(device: Device): Promise<string[]> {
  const story = openStory(device.page);
  const found = await untilNone(async () => {
    await tidyUp(device);
    return story && openStory(device.page) === story ? viewDifference(device, story) : null;
  }, HEALED_WITHIN_MS);
  return found ? [`${device.name}: ${story} did not heal: ${found}${await sceneOf(device)}`] : [];
}

async function wrongWhenOpenedAnew(device: Device, set: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const story of stories) {
    let isAnew = false;
    const found = await untilNone(async () => {
      if (!isAnew || openStory(device.page) !== story) await device.page.goto(`/story/${story}?chat=1`);
      isAnew = true;
      await tidyUp(device);
      const shown = await setOn(device);
      isAnew = shown === set;
      return isAnew ? viewDifference(device, story) : `the set ${shown} for ${set}, which is live`;
    }, HEALED_WITHIN_MS);
    if (found) wrong.push(`${device.name}: ${story} opened anew: ${found}${await sceneOf(device)}`);
  }
  return wrong;
}

/** The device's lines in a conversation against all that the server has of it. */
function wrongLines(device: Device, story: string, messages: readonly Message[]): string[] {
  const wrong: string[] = [];
  const onServer = linesOf(messages).flatMap(({ mine, words }) => (mine ? [words] : []));
  const sent = device.sent.filter((line) => line.story === story);
  const say = ({ text, at }: Sent, what: string) =>
    wrong.push(`${device.name}: ${story}, said at ${clock(at)}: ${what}: ${text}${deedsAround(device, at)}`);
  for (const line of sent) {
    const copies = onServer.filter((known) => known === wordsOf(line.text)).length;
    if (copies === 0 && !line.wasGivenUp) say(line, 'lost');
    if (copies > 1) say(line, `there ${copies} times`);
  }
  let last = -1;
  for (const line of sent) {
    const place = onServer.indexOf(wordsOf(line.text));
    if (place < 0) continue;
    if (place < last) {
      const overtaken = device.sent.find(({ text }) => wordsOf(text) === onServer[last]);
      say(line, `out of order, before ${onServer[last]}${overtaken && deedsAround(device, overtaken.at)}\n   `);
    }
    last = Math.max(last, place);
  }
  const answered = messages.findIndex(({ role }, index) => role === 'assistant' && messages[index - 1]?.role === role);
  if (answered >= 0) wrong.push(`${device.name}: ${story}: two replies to ${messages[answered - 2]?.body}`);
  return wrong;
}

/** Whether the reader's devices tell their list of conversations as the server does. */
async function wrongList({ name, page, context, direct }: Device): Promise<string[]> {
  const found = await untilNone(async () => {
    const answer = await context.request.get(`${direct}/api/v1/conversations`);
    const { data } = (await answer.json()) as { data: { story: { id: string } }[] };
    await page.goto('/conversations');
    const isShown = (story: string) =>
      page
        .locator(`a[href*="/story/${story}?chat"]`)
        .first()
        .waitFor({ timeout: HEALED_WITHIN_MS / 4 });
    for (const { story } of data) await isShown(story.id);
    return null;
  }, HEALED_WITHIN_MS);
  return found ? [`${name}: 聊过 is another than the server's: ${found}`] : [];
}

/** All that is wrong once the sky is clear, in words; `set` is the one that is live. */
export async function judge(devices: readonly Device[], set: string): Promise<string[]> {
  const wrong: string[] = [];
  const looks = [viewsThatStayWrong, (device: Device) => wrongWhenOpenedAnew(device, set), wrongList];
  for (const device of devices) {
    const calmed = await untilNone(() => calmDown(device).then(() => null), HEALED_WITHIN_MS);
    if (calmed) wrong.push(`${device.name}: ${calmed}`);
  }
  console.log('the sky is clear');
  for (const look of looks) {
    for (const device of devices) wrong.push(...(await look(device)));
    console.log(`looked at views, ${wrong.length} wrong so far`);
  }
  for (const device of devices) {
    const { name, context, direct } = device;
    for (const story of stories) {
      const replied = await untilNone(
        async () => ((await messagesOf(context, direct, story)).some(isRunning) ? 'a reply runs without end' : null),
        REPLIED_WITHIN_MS,
      );
      if (replied) wrong.push(`${name}: ${story}: ${replied}`);
      wrong.push(...wrongLines(device, story, await messagesOf(context, direct, story)));
    }
    const fault = await balanceFault(context, direct);
    if (fault) wrong.push(`${name}: ${fault}`);
    wrong.push(...device.errors);
  }
  return [...new Set(wrong)];
}
