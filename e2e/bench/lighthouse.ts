import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright';
import { provideChromium, testFlags } from '../needs.ts';
import { freePort, startProduct } from '../product.ts';
import { makeMember } from '../scenes/memberScenes.ts';
import { table } from './statistics.ts';

/** Fetched when asked for: its hundred packages serve nothing else. Version 13 wants a newer Node than ours. */
const lighthouse = 'lighthouse@12.8.2';
const judged = ['accessibility', 'best-practices', 'seo'] as const;
const goal = 0.95;
const story = 'nie-xiaoqian';

const guestPages = ['/explore', `/story/${story}`, '/conversations', '/my'];
const memberPages = [
  `/story/${story}?chat=1`,
  '/conversations',
  '/my',
  '/my/profile',
  '/my/support',
  '/my/wallet/transactions',
  '/my/wallet/recharge',
];

interface Audit {
  id: string;
  title: string;
  score: number | null;
}

interface Report {
  categories: Record<string, { score: number | null; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<string, Audit>;
  runtimeError?: { message: string };
}

async function audit(url: string, port: number, folder: string): Promise<Report> {
  const file = join(folder, 'report.json');
  const categories = `--only-categories=${judged.join(',')}`;
  // the browser stays who it is: signed in
  const options = [`--port=${port}`, '--disable-storage-reset', categories, '--output=json', `--output-path=${file}`];
  await promisify(execFile)('npx', ['--yes', lighthouse, url, '--quiet', ...options], {
    shell: process.platform === 'win32',
  });
  const report: Report = JSON.parse(readFileSync(file, 'utf8'));
  if (report.runtimeError) throw new Error(`${url}: ${report.runtimeError.message}`);
  return report;
}

const scoreOf = (report: Report, name: string) => report.categories[name]?.score ?? 0;

/** What costs points: "id: title". */
const faults = (report: Report) =>
  judged.flatMap((name) =>
    (report.categories[name]?.auditRefs ?? [])
      .filter(({ weight }) => weight > 0)
      .map(({ id }) => report.audits[id])
      .filter((found) => found?.score !== null && (found?.score ?? 1) < 1)
      .map((found) => `${found?.id}: ${found?.title}`),
  );

/** Lighthouse's own audits of every page, as a guest and as a member; needs the registry at hand. */
export async function run() {
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-lighthouse-'));
  const product = await startProduct();
  const port = await freePort();
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: await provideChromium(),
    args: [...testFlags, `--remote-debugging-port=${port}`],
    baseURL: product.origin,
    locale: 'zh-CN',
  });
  const rows: string[][] = [];
  const look = async (path: string, who: string) => {
    const report = await audit(`${product.origin}${path}`, port, folder);
    const scores = judged.map((name) => scoreOf(report, name));
    const isMet = scores.every((score) => score >= goal);
    rows.push([`${path}, ${who}`, ...scores.map((score) => score.toFixed(2)), isMet ? 'met' : '**missed**']);
    for (const fault of faults(report)) console.log(`${path}, ${who}: ${fault}`);
    if (!isMet) process.exitCode = 1;
  };
  try {
    for (const path of guestPages) await look(path, 'guest');
    await makeMember(await context.newPage());
    for (const path of memberPages) await look(path, 'member');
  } finally {
    await context.close();
    await product.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  console.log(`\n${new Date().toISOString().slice(0, 10)}, ${lighthouse}, load ${loadavg()[0]?.toFixed(1)}\n`);
  console.log(table(['page', ...judged, `goal ≥ ${goal}`], rows));
}
