import { loadavg } from 'node:os';
import { measureKeys, measureMount, measurePrepend, measureScroll, openWhole } from './experienceChat.ts';
import { measureLists } from './experienceLists.ts';
import { printRows, type Row } from './experienceReport.ts';
import { measureBackground, measureDrafts, measureKills } from './experienceResume.ts';
import { measureReturns } from './experienceReturn.ts';
import { conditions, type Phone, type Stage, setStage } from './experienceStage.ts';
import { measureStreaming, measureTokenCost } from './experienceStream.ts';

// setContent would drop the listeners of the watch
const emptyPage = `data:text/html,<!doctype html><textarea></textarea><div style="height:200000px">`;

type Part = (stage: Stage) => Promise<Row[]>;

async function withPhone(stage: Stage, work: (phone: Phone) => Promise<Row[]>): Promise<Row[]> {
  const phone = await stage.openPhone();
  const rows = await work(phone);
  await phone.page.close();
  return rows;
}

const parts: Record<string, Part> = {
  chat: (stage) =>
    withPhone(stage, async (chat) => {
      const empty = await stage.openPhone();
      await empty.page.goto(emptyPage);
      await openWhole(chat, stage, 'long');
      const rows = await measureMount(chat);
      rows.push(await measureKeys(chat, empty), await measureScroll(chat, empty));
      rows.push(...(await measureStreaming(chat, empty, stage)));
      await empty.page.close();
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
  // last: it fills the feed
  lists: (stage) =>
    withPhone(stage, async (phone) => {
      const empty = await stage.openPhone();
      await empty.page.goto(emptyPage);
      const rows = await measureLists(phone, empty, stage);
      await empty.page.close();
      return rows;
    }),
};

/** What a reader finds on a mid-range phone; `pnpm bench experience [part …]`, BENCH_CYCLES for more kills. */
export async function run() {
  const wanted = process.argv.slice(3);
  const stage = await setStage();
  const rows: Row[] = [];
  const load = [loadavg()[0]];
  try {
    for (const [name, part] of Object.entries(parts)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      const started = Date.now();
      rows.push(...(await part(stage)));
      console.log(`${name}: ${((Date.now() - started) / 1000).toFixed(0)} s`);
    }
  } finally {
    await stage.stop();
  }
  load.push(loadavg()[0]);
  const { width, height, cpuSlowdown, latencyMs, bitsPerSecond } = conditions;
  const link = `${latencyMs} ms, ${bitsPerSecond / 1e6} Mbit/s`;
  const machine = `load ${load.map((value) => value?.toFixed(1)).join(' → ')}`;
  console.log(`\nChromium, ${width}×${height}, CPU ÷${cpuSlowdown}, ${link}; ${machine}\n`);
  printRows(rows);
  if (rows.some(({ isMet, isVoid }) => !isMet && !isVoid)) process.exitCode = 1;
}
