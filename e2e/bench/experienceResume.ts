import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright';
import { type Phone, type Stage, stories } from './experienceStage.ts';
import { median, quantile, type Row, row } from './report.ts';

const cycles = Number(process.env.BENCH_CYCLES ?? 8);
const DRAFTS = 3;
/** Delay between the last key of a draft and the kill. */
const KILL_AFTER_KEY_MS = 300;

interface MessageDto {
  body: string;
  role: string;
  status: string;
}

const path = `/story/${stories.short}?chat=1`;
const hanzi = (text: string) => (text.match(/[\p{Script=Han}\d]/gu) ?? []).join('');

const latest = async (stage: Stage) =>
  (await stage.elsewhere<{ data: MessageDto[] }>('GET', `/messages/latest?story_id=${stories.short}&limit=100`)).data;

async function waitForReply(stage: Stage, question: string): Promise<MessageDto[]> {
  for (;;) {
    const messages = await latest(stage);
    const questionIndex = messages.findIndex(({ body }) => body === question);
    if (questionIndex >= 0 && messages[questionIndex + 1]?.status === 'completed') return messages;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const lastWords = (messages: MessageDto[]) =>
  messages
    .at(-1)
    ?.body.match(/\p{Script=Han}+/gu)
    ?.at(-1) ?? '';

/** Texts of the last rows, oldest first. */
const shownRows = (page: Page) =>
  page
    .getByRole('log')
    .evaluate((log) =>
      [...log.querySelectorAll('[data-index]')]
        .sort((a, b) => Number(a.getAttribute('data-index')) - Number(b.getAttribute('data-index')))
        .map((row) => row.textContent ?? ''),
    );

/** Whether the page ends with the server's messages in order, without gaps and duplicates. */
async function matchesServer(page: Page, stage: Stage): Promise<boolean> {
  const [rows, messages] = [await shownRows(page), await latest(stage)];
  const tail = messages.slice(-Math.min(rows.length, messages.length));
  const shownTexts = rows.slice(-tail.length).map(hanzi);
  return tail.length > 1 && tail.every(({ body }, index) => shownTexts[index]?.includes(hanzi(body)));
}

async function openChat(phone: Phone, stage: Stage): Promise<Phone> {
  await phone.page.goto(stage.origin + path, { waitUntil: 'domcontentloaded' });
  await phone.page.getByRole('log').locator('[data-index]').last().waitFor();
  return phone;
}

/** Measures how a background page with a frozen document and a dead socket catches up with another device. */
export async function measureBackground(phone: Phone, stage: Stage): Promise<Row> {
  const { page, cdp } = await openChat(phone, stage);
  const times: number[] = [];
  let mismatches = 0;
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    await page.evaluate(() => window.__watch.sleep());
    await cdp.send('Page.setWebLifecycleState', { state: 'frozen' });
    const body = `别处写下的第${cycle}句`;
    await stage.elsewhere('POST', '/messages', { story_id: stories.short, body, client_id: randomUUID() });
    const messages = await waitForReply(stage, body);
    const wokenAt = Date.now();
    await cdp.send('Page.setWebLifecycleState', { state: 'active' });
    times.push(await page.evaluate(([text, start]) => window.__watch.wake(text, start), [body, wokenAt] as const));
    await page.getByRole('log').getByText(lastWords(messages)).last().waitFor();
    if (!(await matchesServer(page, stage))) mismatches += 1;
  }
  return row(
    `back from the background, ${cycles} times`,
    `median ${median(times).toFixed(0)} ms, p95 ${quantile(times, 0.95).toFixed(0)} ms; ${mismatches} lost or doubled`,
    '≤ 1500 ms, 0 lost or doubled',
    quantile(times, 0.95) <= 1500 && mismatches === 0,
  );
}

/** Kills the page's process as a phone without free memory does: no event, no last write. */
async function kill({ page, cdp }: Phone): Promise<void> {
  const crash = page.waitForEvent('crash');
  cdp.send('Page.crash').catch(() => undefined);
  await crash;
  await page.close();
}

/** Kills the page while it sends, at a different moment each time, and opens it again. */
export async function measureKills(stage: Stage): Promise<Row> {
  let [lost, mismatches] = [0, 0];
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const phone = await openChat(await stage.openPhone(), stage);
    const body = `未曾寄出的第${cycle}句`;
    await phone.page.getByRole('textbox').last().fill(body);
    await phone.page.getByRole('button', { name: '发送', exact: true }).tap();
    await phone.page.getByRole('log').getByText(body).waitFor();
    await phone.page.waitForTimeout((cycle * 97) % 500);
    await kill(phone);
    const reopenedPhone = await openChat(await stage.openPhone(), stage);
    const messages = await Promise.race([
      waitForReply(stage, body),
      new Promise<undefined>((resolve) => setTimeout(resolve, 20_000)),
    ]);
    if (!messages) lost += 1;
    else {
      await reopenedPhone.page.getByRole('log').getByText(lastWords(messages)).last().waitFor();
      const copies = (await latest(stage)).filter((message) => message.body === body).length;
      if (copies !== 1 || !(await matchesServer(reopenedPhone.page, stage))) mismatches += 1;
    }
    await reopenedPhone.page.close();
  }
  return row(
    `killed while sending and opened again, ${cycles} times`,
    `${lost} lost, ${mismatches} doubled or out of place`,
    '0 lost, 0 doubled',
    lost + mismatches === 0,
  );
}

export async function measureDrafts(stage: Stage): Promise<Row> {
  let lost = 0;
  for (let round = 0; round < DRAFTS; round += 1) {
    const phone = await openChat(await stage.openPhone(), stage);
    const field = phone.page.getByRole('textbox').last();
    const text = `draft ${round} of a long letter`;
    await field.fill('');
    await field.tap();
    await phone.page.keyboard.type(text, { delay: 20 });
    await phone.page.waitForTimeout(KILL_AFTER_KEY_MS);
    await kill(phone);
    const reopenedPhone = await openChat(await stage.openPhone(), stage);
    const storedDraft = await reopenedPhone.page.getByRole('textbox').last().inputValue();
    lost += storedDraft === text ? 0 : text.length - storedDraft.length || text.length;
    await reopenedPhone.page.close();
  }
  return row(
    `killed ${KILL_AFTER_KEY_MS} ms after the last key, ${DRAFTS} times: draft`,
    `${lost} characters lost`,
    '0 characters lost',
    lost === 0,
  );
}
