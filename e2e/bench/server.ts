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
import {
  ask,
  cpuOf,
  type Front,
  memoryAfterCollecting,
  type Served,
  serveBare,
  serveFront,
  serveNginx,
} from './serverPeers.ts';
import { median, table } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
/** of one side in one round, and as many before to warm it up */
const amount = Number(process.env.BENCH_AMOUNT ?? 3_000);
/** of each server before all that, of each part, until its code is compiled: what a request costs is flat after 20,000 */
const warming = Number(process.env.BENCH_WARMING ?? 30_000);
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
const flat = { latency: 1.25, memory: 1.1, cpu: 1.1 };
/** How much dearer a request may be where two servers share a store. */
const sharingGoal = 1.1;

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

async function warm(all: readonly Served[], requests: Request[], amount = warming) {
  for (const served of all) await fire(served, { requests, amount: Math.ceil(amount) });
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

/** All sides in turns; which is first changes with each round. `bare` is Node's own server with nothing around it. */
async function compare(
  front: Served,
  bare: Served,
  { what, requests: asked, peer, peerName, goal, share = 1 }: Comparison,
): Promise<string[]> {
  const load = { requests: asked, amount: Math.ceil(amount * share) };
  const isFixed = goal !== null;
  const sides = { front, ...(isFixed && { bare }), ...(peer && { peer }) };
  const costs: Record<string, number[]> = { front: [], bare: [], peer: [] };
  for (const served of Object.values(sides)) await fire(served, load);
  for (let round = 0; round < rounds; round += 1) {
    const turn = round % 2 ? Object.entries(sides) : Object.entries(sides).reverse();
    for (const [side, served] of turn) costs[side]?.push(await cost(served, load));
  }
  const { front: ours = [], bare: ceiling = [], peer: theirs = [] } = costs;
  const figure = (own: number[]) => `${perCore(median(own))} (${median(own).toFixed(0)} µs)`;
  const ratios = (own: number[]) => own.map((microseconds, round) => (theirs[round] ?? Number.NaN) / microseconds);
  const highest = isFixed ? figure(ceiling) : '–';
  if (!peer) return [what, figure(ours), `${peerName}: not measured`, '–', goal ? `≥ ${goal}` : '–', '–', highest, '–'];
  const own = ratios(ours);
  return [
    what,
    figure(ours),
    `${peerName}: ${figure(theirs)}`,
    `${median(own).toFixed(2)} (${Math.min(...own).toFixed(2)}–${Math.max(...own).toFixed(2)})`,
    goal ? `≥ ${goal}` : '–',
    goal ? verdict(median(own) >= goal) : '',
    highest,
    isFixed ? median(ratios(ceiling)).toFixed(2) : '–',
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

/** The answers of the front server to these, without what each has of its own. */
const answersOf = (front: Served, paths: readonly string[], headers: Record<string, string>) =>
  Promise.all(
    paths.map(async (path) => {
      const { headers: told, body } = await ask(front.origin + path, headers);
      const { date: _date, connection: _connection, 'keep-alive': _alive, 'x-request-id': _id, ...own } = told;
      return { path, headers: own, body: body.toString('base64') };
    }),
  );

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;

async function compareAll(front: Served, nginx: Served | null, wanted: (part: string) => boolean) {
  const pages = await answersOf(front, pagePaths, browser);
  const files = await filesOf(front);
  const [largest, smallest] = [files[0], files.at(-1)];
  if (!largest || !smallest) throw new Error(`${pagePaths[0]} names no files`);
  const filePaths = files.map(({ path }) => path);
  const hono = await serveBare('hono', pages);
  const bare = await serveBare('node', [...pages, ...(await answersOf(front, filePaths, anyBrowser))]);
  const page = { part: 'pages', peer: hono, peerName: 'bare Hono', goal: pagesGoal } as const;
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
      requests: requestsFor(filePaths, anyBrowser),
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
  const head = ['', 'front server', 'peer, same run', 'ratio (min–max)', 'goal', '', 'Node alone', 'its ratio'];
  console.log(table(head, []));
  try {
    if (wanted('pages')) await warm([front, bare, hono], requestsFor(pagePaths, browser));
    if (wanted('files')) await warm([front, bare, ...(nginx ? [nginx] : [])], requestsFor([smallest.path], anyBrowser));
    if (wanted('calls')) await warm([front, ...(nginx ? [nginx] : [])], requestsFor([callPath], browser), warming / 3);
    // each as soon as it is there: a run takes minutes
    for (const comparison of comparisons)
      if (wanted(comparison.part)) console.log(`| ${(await compare(front, bare, comparison)).join(' | ')} |`);
  } finally {
    await Promise.all([bare.stop(), hono.stop()]);
  }
  return filePaths;
}

/** A visit: two pages, files and calls, as one browser after the other would ask for them. */
const visit = (files: readonly string[]): Request[] => [
  ...requestsFor(pagePaths, browser),
  ...requestsFor(files, browser),
  ...requestsFor([callPath, '/api/v1/stories/nie-xiaoqian'], browser),
];

interface Tenth {
  p50: number;
  p99: number;
  /** MB after its garbage has been collected */
  resident: number;
  heapUsed: number;
  external: number;
  /** of a request, in microseconds */
  cpu: number;
  /** the same of Node alone, right after */
  bareCpu: number;
}

/**
 * Many requests at a fixed rate: what the last ones meet beside the first ones. Node alone answers half as many after each tenth: it
 * keeps nothing, so where it gets slower the machine has. A tenth more goes ahead, since requests cost more from the first collection
 * on that is asked for.
 */
async function runLong(front: Front, bare: Served, load: Request[]) {
  await warm([front, bare], load);
  const trial = await fire(front, { requests: load, amount });
  const rate = Number(process.env.BENCH_RATE ?? Math.max(50, Math.round(amount / trial.duration / 2)));
  const found: Tenth[] = [];
  const each = Math.round(requests / windows);
  await fire(front, { requests: load, amount: each, rate });
  await memoryAfterCollecting(front);
  for (let window = 0; window < windows; window += 1) {
    const before = cpuOf(front);
    const { latency } = await fire(front, { requests: load, amount: each, rate });
    const cpu = (cpuOf(front) - before) / each;
    const memory = await memoryAfterCollecting(front);
    const bareCpu = await cost(bare, { requests: load, amount: Math.ceil(each / 2), rate });
    const tenth = { p50: latency.p50, p99: latency.p99, cpu, bareCpu, ...memory };
    found.push(tenth);
    console.log(
      `tenth ${window + 1}: p99 ${tenth.p99} ms, ${cpu.toFixed(0)} µs a request (Node alone ${bareCpu.toFixed(0)}), ${tenth.resident.toFixed(0)} MB, of it objects ${tenth.heapUsed.toFixed(1)} and buffers ${tenth.external.toFixed(1)}`,
    );
  }
  const row = (what: string, read: (window: Tenth) => number, most: number | null, unit: string, digits = 0) => {
    const all = found.map(read);
    const [first = 0, last = 0] = [all[0], all.at(-1)];
    const [before, after] = [all.slice(0, windows / 2), all.slice(windows / 2)].map(median) as [number, number];
    const drift = `${last < first ? '−' : '+'}${(Math.abs(last / first - 1) * 100).toFixed(0)} %`;
    const shown = (figure: number) => `${figure.toFixed(digits)} ${unit}`.trimEnd();
    const figures = [shown(first), shown(last), drift, (after / before).toFixed(2)];
    const judged = most === null ? ['–', ''] : [`≤ ${most}`, verdict(after / before <= most)];
    return [what, ...figures, ...judged, all.map((one) => one.toFixed(digits)).join(' ')];
  };
  console.log(`\n${requests} requests at ${rate} a second: pages, files and calls of a visit in turn; ten windows:\n`);
  console.log(
    table(
      ['', 'first tenth', 'last tenth', 'drift', 'second half : first half, medians', 'goal', '', 'each tenth'],
      [
        row('p99', ({ p99 }) => p99, flat.latency, 'ms'),
        row('p50', ({ p50 }) => p50, flat.latency, 'ms'),
        row('CPU time of a request', ({ cpu }) => cpu, null, 'µs'),
        row('the same of Node alone', ({ bareCpu }) => bareCpu, null, 'µs'),
        row('the one : the other', ({ cpu, bareCpu }) => cpu / bareCpu, flat.cpu, '', 2),
        row('resident after a collection', ({ resident }) => resident, flat.memory, 'MB'),
        row('objects after a collection', ({ heapUsed }) => heapUsed, flat.memory, 'MB'),
        row('buffers after a collection', ({ external }) => external, flat.memory, 'MB'),
      ],
    ),
  );
}

interface Shared {
  microseconds: number;
  /** What the load generator took of all CPU time. */
  share: number;
}

/** CPU time of one request, where each of these servers answers its part. */
async function shared(servers: readonly Served[], load: Request[], isAtOnce: boolean): Promise<Shared> {
  const [cpu, own] = [servers.map(cpuOf), process.cpuUsage()];
  const part = { requests: load, amount: Math.ceil(amount / servers.length) };
  if (isAtOnce) await Promise.all(servers.map((served) => fire(served, part)));
  else for (const served of servers) await fire(served, part);
  const { user, system } = process.cpuUsage(own);
  const serving = servers.reduce((sum, served, index) => sum + cpuOf(served) - (cpu[index] ?? 0), 0);
  return { microseconds: serving / (part.amount * servers.length), share: (user + system) / (user + system + serving) };
}

/**
 * Whether sharing a store costs anything: two servers on one store beside two on a store each, both pairs answering at the same
 * time. Servers that answer at once share caches and cores with each other and the load generator, whatever they read.
 */
async function scale(one: Served, two: Served, apart: Served) {
  const load = requestsFor(pagePaths, browser);
  await warm([one, two, apart], load);
  const ways = [
    { what: 'one after the other', servers: [one, two], isAtOnce: false, found: [] as Shared[] },
    { what: 'at the same time, a store each', servers: [one, apart], isAtOnce: true, found: [] as Shared[] },
    { what: 'at the same time, one store', servers: [one, two], isAtOnce: true, found: [] as Shared[] },
  ] as const;
  for (let round = 0; round < rounds; round += 1)
    for (const way of round % 2 ? [...ways].reverse() : ways)
      way.found.push(await shared(way.servers, load, way.isAtOnce));
  const ratiosTo = (base: number) =>
    ways[2].found.map(
      ({ microseconds }, round) => microseconds / (ways[base]?.found[round]?.microseconds ?? Number.NaN),
    );
  const sharing = ratiosTo(1);
  const spread = `${Math.min(...sharing).toFixed(2)}–${Math.max(...sharing).toFixed(2)}`;
  const rows = ways.map(({ what, found }) => [
    what,
    `${median(found.map(({ microseconds }) => microseconds)).toFixed(0)} µs`,
    `${(median(found.map(({ share }) => share)) * 100).toFixed(0)} %`,
    '',
    '',
  ]);
  console.log(`\nPages from two servers, on ${availableParallelism()} cores with the load generator:\n`);
  console.log(
    table(
      ['', 'CPU time of a request', 'the load generator’s share of CPU time', 'goal', ''],
      [
        ...rows,
        [
          'one store : a store each',
          `${median(sharing).toFixed(2)} (${spread})`,
          '',
          `≤ ${sharingGoal}`,
          verdict(median(sharing) <= sharingGoal),
        ],
        ['at the same time : one after the other', median(ratiosTo(0)).toFixed(2), '', '–', ''],
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
    if (wanted('long')) {
      const asked = visit(files);
      const paths = asked.flatMap(({ path }) => path ?? []);
      const bare = opened(await serveBare('node', await answersOf(front, paths, browser)));
      await runLong(front, bare, asked);
    }
    if (wanted('scale')) {
      const second = opened(await serveFront(folder, 'two', store, backend.url));
      const ownStore = `file:${join(folder, 'own-store')}`;
      await publishLocal({ dists: packages.map(({ dist }) => dist), store: ownStore });
      await scale(front, second, opened(await serveFront(folder, 'three', ownStore, backend.url)));
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
