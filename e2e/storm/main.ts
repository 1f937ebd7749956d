// `pnpm storm`: two readers with two devices each, and faults between them and the product. No message may be lost, duplicated,
// out of order, or different on another device.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { launchChromium } from '../needs.ts';
import { freePort, type RunningProduct, startProduct } from '../product.ts';
import { seededAccount } from '../seeds.ts';
import { act, type Device, openDevice } from './device.ts';
import { startFaultyProxy } from './faultyProxy.ts';
import { judge } from './judge.ts';
import { createRandom, type Random } from './random.ts';
import { buildEditions, switchRandomly } from './switching.ts';

const usage = `pnpm storm [--seed N] [--minutes M]
  --seed     which storm; default: another each time, and printed
  --minutes  how long it lasts; default 2
  --files    share of the builds' files that faults may meet; default 0.1
  --diary    also prints what each device did`;

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
  const command = `pnpm storm --seed ${seed} --minutes ${minutes} --files ${fileShare}`;
  console.log(command);
  const problems = await storm({ seed, milliseconds: minutes * 60_000, fileShare, showsDiary: values.diary });
  for (const line of problems) console.log(`✗ ${line}`);
  console.log(
    problems.length === 0
      ? '✓ nothing lost, doubled, out of order or different'
      : `${problems.length} faults; again: ${command}`,
  );
  process.exit(problems.length === 0 ? 0 : 1);
}

interface StormOptions {
  seed: number;
  milliseconds: number;
  fileShare: number;
  showsDiary: boolean;
}

const formatCounts = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

async function storm({ seed, milliseconds, fileShare, showsDiary }: StormOptions): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-storm-'));
  const data = join(folder, 'data');
  mkdirSync(data);
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
  const editions = await buildEditions();
  const devices: Device[] = [];
  try {
    const start = { at: Date.now() };
    const now = () => Date.now() - start.at;
    for (const reader of ['甲', '乙']) {
      const account = await seededAccount({ balance: 1_000_000 }, data);
      const options = { account, origin: proxy.origin, direct: running.product.origin, now };
      devices.push(await openDevice({ ...options, name: `${reader}一` }, { browser }));
      devices.push(await openDevice({ ...options, name: `${reader}二` }, { profile: join(folder, 'profiles') }));
    }
    start.at = Date.now();
    const until = start.at + milliseconds;
    proxy.storm(true);
    const restarts = restartRandomly(running, env, createRandom(seed + 2), until);
    const switching = switchRandomly(join(data, 'releases'), editions, createRandom(seed + 3), until);
    await Promise.all(
      devices.map(async (device, index) => {
        const deviceRandom = createRandom(seed + 10 + index);
        while (Date.now() < until) await act(device, deviceRandom);
      }),
    );
    proxy.storm(false);
    const ends = await restarts;
    const { done, refusals, set } = await switching;
    const sent = devices.reduce((sum, device) => sum + device.sent.filter(({ wasSeen }) => wasSeen).length, 0);
    console.log(
      `${sent} lines sent; the product: ${formatCounts(ends)}; releases: ${formatCounts(done)}; requests: ${formatCounts(proxy.counts())}`,
    );
    console.log(`acts: ${formatCounts(countOf(devices))}`);
    for (const refusal of refusals) console.log(`releases, refused: ${refusal}`);
    for (const device of devices) console.log(`${device.name}: ${summaryOf(device)}`);
    const problems = await judge(devices, set);
    problems.push(...proxy.failures().map((failure) => `the product failed: ${failure}`));
    if (showsDiary)
      for (const { name, diary } of devices)
        console.log(`\n${name}\n${diary.map(({ at, what }) => `${at} ${what}`).join('\n')}`);
    return problems;
  } finally {
    for (const { context } of devices) await context.close().catch(() => undefined);
    await browser.close();
    await proxy.stop();
    await running.product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Summary of a device: its messages, its failed actions and its longest time without a message. */
function summaryOf({ sent, diary }: Device): string {
  const seenMessages = sent.filter(({ wasSeen }) => wasSeen);
  const givenUpCount = seenMessages.filter(({ wasGivenUp }) => wasGivenUp).length;
  const undoneCount = diary.filter(({ what }) => what.includes(', not done')).length;
  const times = [0, ...seenMessages.map(({ at }) => at), diary.at(-1)?.at ?? 0];
  const gap = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? 0)));
  return `${seenMessages.length} lines, ${givenUpCount} given up by logging out, ${undoneCount} of ${diary.length} acts not done, at most ${Math.round(gap / 1000)} s without a line`;
}

/** Number of successful actions, by name. */
function countOf(devices: readonly Device[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { what } of devices.flatMap(({ diary }) => diary)) {
    const [name = ''] = what.split(/[ ,]/);
    if (!what.includes(', not done')) counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Kills or stops the product at random times, and restarts it. Resolves with the counts once the time is over and the product runs. */
async function restartRandomly(
  running: { product: RunningProduct },
  env: Record<string, string>,
  random: Random,
  until: number,
): Promise<Record<string, number>> {
  const ends = { killed: 0, stopped: 0 };
  for (;;) {
    const nextAt = Date.now() + random.between(12_000, 40_000);
    if (nextAt > until - 5000) {
      await pause(Math.max(0, until - Date.now()));
      return ends;
    }
    await pause(nextAt - Date.now());
    if (random.next() < 0.7) {
      await running.product.crash();
      ends.killed += 1;
    } else {
      await running.product.stop();
      ends.stopped += 1;
    }
    await pause(random.between(300, 4000));
    running.product = await startProduct(env);
  }
}

await main();
