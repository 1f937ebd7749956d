import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { publishLocal } from '@liaozhai/releases';
import autocannon, { type Request } from 'autocannon';
import { buildPackages } from '../../host/server/buildPackages.ts';
import { Catalog } from '../../releases/src/builds/catalog.ts';
import { localClient } from '../../releases/src/releaseClient.ts';
import { openStore, requireKey } from '../../releases/src/store/store.ts';
import { startBackend } from '../product.ts';
import { ask, cpuOf, residentOf, type Served, serveBareHono, serveFront, serveNginx } from './serverPeers.ts';
import { median, table } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
/** of one side in one round, and as many before to warm it up */
const amount = Number(process.env.BENCH_AMOUNT ?? 3_000);
/** of the long run, in windows */
const requests = Number(process.env.BENCH_REQUESTS ?? 200_000);
const windows = 10;
const switches = 10;
const connections = 16;
const filesGoal = 0.6;
const pagesGoal = 0.7;
/** What a page that was asked for may be behind the store, as the front server promises. */
const promiseMs = 1_000;
/** How far the later half of the long run may lie over the earlier one and still count as flat. */
const flat = { latency: 1.25, memory: 1.1 };

const pagePaths = ['/explore', '/story/nie-xiaoqian'];
const callPath = '/api/v1/stories';
const browser = { 'accept-encoding': 'gzip, br', cookie: `lz_visitor=${'5e'.repeat(16)}` };
const firstVisit = { 'accept-encoding': 'gzip, br' };
/** What nginx of Debian can serve compressed as well. */
const anyBrowser = { 'accept-encoding': 'gzip' };

const requestsFor = (paths: readonly string[], headers: Record<string, string>): Request[] =>
  paths.map((path) => ({ method: 'GET', path, headers }));

interface Load {
  requests: Request[];
  amount: number;
  /** a second, whether answers come or not; left out: as fast as they come */
  rate?: number;
}

async function fire({ origin }: Served, { requests: asked, amount: count, rate }: Load) {
  const result = await autocannon({ url: origin, connections, amount: count, requests: asked, overallRate: rate });
  const failed = result.errors + result.non2xx;
  if (failed > 0) throw new Error(`${failed} of ${count} requests to ${origin}${asked[0]?.path} failed`);
  return result;
}

/** CPU time of one request, in microseconds. */
async function cost(served: Served, load: Load): Promise<number> {
  const before = cpuOf(served);
  await fire(served, load);
  return (cpuOf(served) - before) / load.amount;
}

interface Comparison {
  part: 'pages' | 'files' | 'calls';
  what: string;
  requests: Request[];
  peer: Served | null;
  peerName: string;
  goal: number | null;
  /** Fewer where the load generator takes long to read an answer. */
  share?: number;
}

const verdict = (isMet: boolean) => (isMet ? 'met' : '**missed**');
const perCore = (microseconds: number) => `${Math.round(1e6 / microseconds).toLocaleString('en')}`;

/** Both sides in turns; which is first changes with each round. */
async function compare(
  front: Served,
  { what, requests: asked, peer, peerName, goal, share = 1 }: Comparison,
): Promise<string[]> {
  const load = { requests: asked, amount: Math.ceil(amount * share) };
  const ratios: number[] = [];
  const [ours, theirs]: [number[], number[]] = [[], []];
  const both = [{ served: front, costs: ours }, ...(peer ? [{ served: peer, costs: theirs }] : [])];
  for (const { served } of both) await fire(served, load);
  for (let round = 0; round < rounds; round += 1) {
    const turn = round % 2 ? both : [...both].reverse();
    for (const { served, costs } of turn) costs.push(await cost(served, load));
    ratios.push((theirs[round] ?? Number.NaN) / (ours[round] ?? Number.NaN));
  }
  const figure = `${perCore(median(ours))} (${median(ours).toFixed(0)} µs)`;
  if (!peer) return [what, figure, `${peerName}: not measured`, '–', goal ? `≥ ${goal}` : '–', 'not measured'];
  const ratio = median(ratios);
  return [
    what,
    figure,
    `${peerName}: ${perCore(median(theirs))} (${median(theirs).toFixed(0)} µs)`,
    `${ratio.toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
    goal ? `≥ ${goal}` : '–',
    goal ? verdict(ratio >= goal) : '',
  ];
}

/** The files that the page asks for, from the largest to the smallest. */
async function filesOf(front: Served): Promise<{ path: string; bytes: number }[]> {
  const { body } = await ask(front.origin + pagePaths[0]);
  const paths = new Set(body.toString('utf8').match(/\/builds\/[^"]+\.(?:js|css)(?=")/g));
  const sized = [...paths].map(async (path) => {
    const answer = await ask(front.origin + path, anyBrowser);
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    return { path, bytes: answer.body.length };
  });
  return (await Promise.all(sized)).sort((a, b) => b.bytes - a.bytes);
}

async function pagesOf(front: Served) {
  const pages = pagePaths.map(async (path) => {
    const { headers, body } = await ask(front.origin + path, browser);
    const { date: _date, connection: _connection, 'keep-alive': _alive, 'x-request-id': _id, ...own } = headers;
    return { path, headers: own, body: body.toString('base64') };
  });
  return Promise.all(pages);
}

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;

async function compareAll(front: Served, nginx: Served | null, wanted: (part: string) => boolean) {
  const pages = await pagesOf(front);
  const files = await filesOf(front);
  const [largest, smallest] = [files[0], files.at(-1)];
  if (!largest || !smallest) throw new Error(`${pagePaths[0]} names no files`);
  const bare = await serveBareHono(pages);
  const page = { part: 'pages', peer: bare, peerName: 'bare Hono', goal: pagesGoal } as const;
  const file = { part: 'files', peer: nginx, peerName: 'nginx', goal: filesGoal } as const;
  const size = (path: string) => kib(Buffer.from(pages.find((one) => one.path === path)?.body ?? '', 'base64').length);
  const comparisons: Comparison[] = [
    ...pagePaths.map((path) => ({ ...page, what: `${path}, ${size(path)}`, requests: requestsFor([path], browser) })),
    { ...page, what: `${pagePaths[0]}, first visit`, requests: requestsFor(pagePaths.slice(0, 1), firstVisit) },
    ...[largest, smallest].map(({ path, bytes }) => ({
      ...file,
      what: `${path.split('/').at(-1)}, ${kib(bytes)}`,
      requests: requestsFor([path], anyBrowser),
      share: bytes > 100_000 ? 0.1 : 1,
    })),
    {
      ...file,
      what: `every file that ${pagePaths[0]} names, ${files.length}`,
      requests: requestsFor(
        files.map(({ path }) => path),
        anyBrowser,
      ),
    },
    {
      part: 'calls',
      peer: nginx,
      peerName: 'nginx',
      goal: null,
      what: `GET ${callPath}, passed on`,
      requests: requestsFor([callPath], browser),
    },
  ];
  console.log('\nRequests a second of CPU time of the server, all its threads (CPU time of one):\n');
  console.log(table(['', 'front server', 'peer, same run', 'ratio (min–max)', 'goal', ''], []));
  try {
    // each as soon as it is there: a run takes minutes
    for (const comparison of comparisons)
      if (wanted(comparison.part)) console.log(`| ${(await compare(front, comparison)).join(' | ')} |`);
  } finally {
    await bare.stop();
  }
  return files.map(({ path }) => path);
}

/** A visit: two pages, files and calls, as one browser after the other would ask for them. */
const visit = (files: readonly string[]): Request[] => [
  ...requestsFor(pagePaths, browser),
  ...requestsFor(files, browser),
  ...requestsFor([callPath, '/api/v1/stories/nie-xiaoqian'], browser),
];

/** Many requests at a fixed rate: what the last ones meet beside the first ones. */
async function runLong(front: Served, load: Request[]) {
  const trial = await fire(front, { requests: load, amount });
  const rate = Number(process.env.BENCH_RATE ?? Math.max(50, Math.round(amount / trial.duration / 2)));
  const found: { p50: number; p99: number; resident: number }[] = [];
  for (let window = 0; window < windows; window += 1) {
    const { latency } = await fire(front, { requests: load, amount: Math.round(requests / windows), rate });
    found.push({ p50: latency.p50, p99: latency.p99, resident: residentOf(front) });
  }
  const halves = (read: (window: (typeof found)[number]) => number) =>
    [found.slice(0, windows / 2), found.slice(windows / 2)].map((half) => median(half.map(read))) as [number, number];
  const row = (what: string, [before, after]: [number, number], most: number, unit: string, all: string) => [
    what,
    `${before.toFixed(0)} ${unit}`,
    `${after.toFixed(0)} ${unit}`,
    (after / before).toFixed(2),
    `≤ ${most}`,
    verdict(after / before <= most),
    all,
  ];
  const all = (read: (window: (typeof found)[number]) => number) => found.map((one) => read(one).toFixed(0)).join(' ');
  console.log(`\n${requests} requests at ${rate} a second: pages, files and calls of a visit in turn; ten windows:\n`);
  console.log(
    table(
      ['', 'first half', 'second half', 'ratio', 'goal', '', 'each window'],
      [
        row(
          'p99',
          halves(({ p99 }) => p99),
          flat.latency,
          'ms',
          all(({ p99 }) => p99),
        ),
        row(
          'resident',
          halves(({ resident }) => resident),
          flat.memory,
          'MB',
          all(({ resident }) => resident),
        ),
      ],
    ),
  );
}

/** As fast as answers come, from all servers at once: requests a second, and whose CPU time it took. */
async function together(all: readonly Served[], load: Request[]) {
  const [from, cpu] = [performance.now(), all.map(cpuOf)];
  const own = process.cpuUsage();
  await Promise.all(all.map((served) => fire(served, { requests: load, amount: (amount * rounds) / all.length })));
  const seconds = (performance.now() - from) / 1000;
  const { user, system } = process.cpuUsage(own);
  const [asking, serving] = [
    user + system,
    all.reduce((sum, served, index) => sum + cpuOf(served) - (cpu[index] ?? 0), 0),
  ];
  const done = amount * rounds;
  return { perSecond: done / seconds, perCpuSecond: done / (serving / 1e6), share: asking / (asking + serving) };
}

async function scale(one: Served, two: Served) {
  const load = requestsFor(pagePaths, browser);
  await fire(two, { requests: load, amount });
  const [single, pair] = [await together([one], load), await together([one, two], load)];
  const row = (what: string, { perSecond, perCpuSecond, share }: typeof single) => [
    what,
    perSecond.toFixed(0),
    perCpuSecond.toFixed(0),
    `${(share * 100).toFixed(0)} %`,
  ];
  console.log(
    `\nPages from one and from two servers on one store, on ${availableParallelism()} cores with the load generator:\n`,
  );
  console.log(
    table(
      ['', 'requests a second', 'a second of CPU time', 'the load generator’s share of CPU time'],
      [
        row('one server', single),
        row('two servers', pair),
        [
          'ratio',
          (pair.perSecond / single.perSecond).toFixed(2),
          (pair.perCpuSecond / single.perCpuSecond).toFixed(2),
          '',
        ],
      ],
    ),
  );
}

const stateOf = async ({ origin }: Served) =>
  Number(/"seq":(\d+)/.exec((await ask(origin + pagePaths[0])).body.toString('utf8'))?.[1]);

/** Milliseconds from a switch to the page of each server that shows it, while visitors ask both. */
async function switchUnderLoad(store: string, walletDist: string, servers: readonly Served[]) {
  const opened = await openStore(store);
  const key = await requireKey(opened);
  const catalog = new Catalog(opened.store);
  const writer = { store: opened.store, catalog, key, channel: 'production', who: 'bench', now: () => new Date() };
  const provenance = () => ({ commit: null, at: new Date().toISOString(), publisher: 'bench' });
  const manager = localClient(writer, { smoke: null, provenance });
  const published = [await manager.publish(walletDist, '98.0.0'), await manager.publish(walletDist, '99.0.0')];
  const load = requestsFor(pagePaths, browser);
  let isOver = false;
  const visitors = servers.map(async (served) => {
    while (!isOver) await fire(served, { requests: load, amount: 200, rate: 100 });
  });
  const waits: number[][] = servers.map(() => []);
  for (let index = 0; index < switches; index += 1) {
    const { id = '' } = published[index % 2] ?? {};
    const { document } = await manager.activate({ builds: [id], why: 'bench', force: true });
    const from = performance.now();
    const shown = servers.map(async (served, server) => {
      while ((await stateOf(served)) < document.seq) await wait(5);
      waits[server]?.push(performance.now() - from);
    });
    await Promise.all(shown);
  }
  isOver = true;
  await Promise.all(visitors);
  const rows = waits.map((all, index) => [
    `server ${index + 1}`,
    `${median(all).toFixed(0)} ms`,
    `${Math.max(...all).toFixed(0)} ms`,
    `≤ ${promiseMs} ms`,
    verdict(Math.max(...all) <= promiseMs),
  ]);
  console.log(`\n${switches} switches while both serve, until a new page shows them:\n`);
  console.log(table(['', 'median', 'slowest', 'goal', ''], rows));
}

/** The front server beside nginx and bare Hono, over a long run, and as two processes on one store. */
export async function run() {
  const parts = process.argv.slice(3);
  const wanted = (part: string) => parts.length === 0 || parts.includes(part);
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-bench-server-'));
  const load = [loadavg()[0]];
  const stops: (() => Promise<void>)[] = [];
  const opened = <Kind extends { stop(): Promise<void> } | null>(served: Kind): Kind => {
    if (served) stops.push(served.stop);
    return served;
  };
  try {
    const packages = await buildPackages(console.log);
    const store = `file:${join(folder, 'store')}`;
    await publishLocal({ dists: packages.map(({ dist }) => dist), store });
    const backend = opened(await startBackend());
    const front = opened(await serveFront(folder, 'one', store, backend.url));
    const nginx = opened(await serveNginx(folder, join(folder, 'store'), backend.url));
    if (!nginx) console.log('nginx is not installed here: its rows are not measured.');
    const compared = ['pages', 'files', 'calls'].some(wanted);
    const files = compared ? await compareAll(front, nginx, wanted) : (await filesOf(front)).map(({ path }) => path);
    if (wanted('long')) await runLong(front, visit(files));
    if (wanted('scale')) {
      const second = opened(await serveFront(folder, 'two', store, backend.url));
      await scale(front, second);
      const wallet = packages.find(({ name }) => name === 'wallet')?.dist ?? '';
      await switchUnderLoad(store, wallet, [front, second]);
    }
    load.push(loadavg()[0]);
    console.log(
      `\nloopback, ${availableParallelism()} cores; load ${load.map((value) => value?.toFixed(1)).join(' → ')}`,
    );
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
