import { measureKeys, measureMount, measurePrepend, measureScroll, openWhole } from './experienceChat.ts';
import { measureLists } from './experienceLists.ts';
import { measureBackground, measureDrafts, measureKills } from './experienceResume.ts';
import { measureReturns } from './experienceReturn.ts';
import { conditions, type Phone, type Stage, setStage } from './experienceStage.ts';
import { measureStreaming, measureTokenCost } from './experienceStream.ts';
import { printRows, type Row, selectParts, startRun } from './report.ts';

// `setContent` would remove the listeners of the watch
const emptyPage = `data:text/html,<!doctype html><textarea></textarea><div style="height:200000px">`;

type Part = (stage: Stage) => Promise<Row[]>;

/** Runs a part on a new phone, with an empty page on another phone as the baseline. */
async function withPhone(stage: Stage, work: (phone: Phone, empty: Phone) => Promise<Row[]>): Promise<Row[]> {
  const [phone, empty] = [await stage.openPhone(), await stage.openPhone()];
  await empty.page.goto(emptyPage);
  // a page in the background hardly renders
  await phone.page.bringToFront();
  const rows = await work(phone, empty);
  await Promise.all([phone.page.close(), empty.page.close()]);
  return rows;
}

const parts: Record<string, Part> = {
  chat: (stage) =>
    withPhone(stage, async (chat, empty) => {
      await openWhole(chat, stage, 'long');
      const rows = await measureMount(chat);
      rows.push(await measureKeys(chat, empty), await measureScroll(chat, empty));
      rows.push(...(await measureStreaming(chat, empty, stage)));
      return rows;
    }),
  tokens: (stage) =>
    withPhone(stage, async (chat) => {
      await openWhole(chat, stage, 'middle');
      return measureTokenCost(chat, stage);
    }),
  prepend: (stage) => withPhone(stage, async (chat) => [await measurePrepend(chat, stage)]),
  return: (stage) => withPhone(stage, (phone) => measureReturns(phone, stage)),
  background: (stage) => withPhone(stage, async (phone) => [await measureBackground(phone, stage)]),
  kills: async (stage) => [await measureKills(stage)],
  drafts: async (stage) => [await measureDrafts(stage)],
  // last, because it fills the feed
  lists: (stage) => withPhone(stage, (phone, empty) => measureLists(phone, empty, stage)),
};

/** Measures the product on a mid-range phone: `pnpm bench experience [part …]`, with BENCH_CYCLES for more kills. */
export async function run() {
  const selectedParts = selectParts(parts);
  const stage = await setStage();
  const rows: Row[] = [];
  const runLine = startRun();
  try {
    for (const [name, part] of selectedParts) {
      console.error(`${name} …`);
      rows.push(...(await part(stage)));
    }
  } finally {
    await stage.stop();
  }
  const { width, height, cpuSlowdown, latencyMs, bytesPerSecond } = conditions;
  const link = `${latencyMs} ms, ${(bytesPerSecond * 8) / 1e6} Mbit/s`;
  console.log(`${runLine()}; Chromium, ${width}×${height}, CPU ÷${cpuSlowdown}, ${link}\n`);
  printRows(rows, 'empty page, same run');
}
