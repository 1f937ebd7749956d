import { framesRow } from './experienceChat.ts';
import { hangWord, mainThreadClock, type Phone, type Stage, stories } from './experienceStage.ts';
import type { RunningReply } from './experienceWatch.ts';
import { framesPerSecond, type Row, row } from './report.ts';

interface MessageDto {
  id: string;
  conversation_id: string;
  revision: number;
  body: string;
  status: string;
}

const lastHanzi = (text: string) => text.match(/\p{Script=Han}{3,}/gu)?.at(-1) ?? text;

/** Sends a message whose reply stops half-way, and waits until that half is visible. */
async function startReply({ page }: Phone, stage: Stage, story: string): Promise<RunningReply> {
  await page.getByRole('textbox').last().fill(`${hangWord}，让我听听雨声`);
  await page.getByRole('button', { name: '发送', exact: true }).tap();
  const latest = `/messages/latest?story_id=${story}&limit=1`;
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { data } = await stage.elsewhere<{ data: MessageDto[] }>('GET', latest);
    const reply = data.at(-1);
    if (reply?.status === 'streaming' && reply.body) {
      await page.getByRole('log').getByText(lastHanzi(reply.body)).last().waitFor();
      const { id: messageId, conversation_id: conversationId, revision, body } = reply;
      return { userId: stage.user.id, messageId, conversationId, revision, offset: [...body].length };
    }
    await page.waitForTimeout(100);
  }
  throw new Error('the reply did not begin');
}

/** Streams pieces into the reply. `busyMs` is the CPU time of the page's main thread. */
async function stream({ page, cdp }: Phone, reply: RunningReply, perSecond: number, seconds: number) {
  const taskMs = await mainThreadClock(cdp);
  const before = await taskMs();
  const pieces = await page.evaluate(([running, rate, duration]) => window.__watch.stream(running, rate, duration), [
    reply,
    perSecond,
    seconds,
  ] as const);
  return { pieces, busyMs: (await taskMs()) - before };
}

/** Streams thirty pieces a second into the long chat; the empty page records its frames right before. */
export async function measureStreaming(chat: Phone, empty: Phone, stage: Stage): Promise<Row[]> {
  const reply = await startReply(chat, stage, stories.long);
  await empty.page.bringToFront();
  await empty.page.evaluate(() => window.__watch.startFrames());
  await empty.page.waitForTimeout(3000);
  const idle = await empty.page.evaluate(() => window.__watch.stopFrames());
  await chat.page.bringToFront();
  await chat.page.evaluate(() => window.__watch.startFrames());
  await stream(chat, reply, 30, 6);
  const notes = await chat.page.evaluate(() => window.__watch.stopFrames());
  const times = notes.map(({ at }) => at);
  // until the reply's first line reaches the top, where the view stays
  const pinnedDistances = notes.filter(({ lastRowTop }) => lastRowTop > 8).map(({ toEnd }) => toEnd);
  const furthest = Math.max(...pinnedDistances);
  return [
    framesRow('streaming 30 events/s', framesPerSecond(times), framesPerSecond(idle.map(({ at }) => at))),
    row(
      `streaming, pinned (${pinnedDistances.length} frames): furthest from the end`,
      `${furthest.toFixed(0)} px`,
      '≤ 40 px',
      pinnedDistances.length > 0 && furthest <= 40,
    ),
  ];
}

/**
 * Measures the main thread's cost per piece, at a hundred pieces a second into a chat of a thousand messages. Frames are not
 * recorded meanwhile, because that would force each frame and its layout.
 */
export async function measureTokenCost(chat: Phone, stage: Stage): Promise<Row[]> {
  const reply = await startReply(chat, stage, stories.middle);
  const { pieces, busyMs } = await stream(chat, reply, 100, 5);
  const msPerToken = busyMs / pieces;
  return [
    row(
      '1,000 messages, 100 tokens/s: main thread',
      `${msPerToken.toFixed(2)} ms (${pieces} tokens)`,
      '≤ 4 ms of CPU per token',
      msPerToken <= 4,
    ),
  ];
}
