import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishLocal } from '@liaozhai/releases';
import type { Request } from 'autocannon';
import { buildPackages } from '../../host/server/buildPackages.ts';
import { startBackend } from '../product.ts';
import {
  amount,
  browser,
  callPath,
  cost,
  fire,
  pagePaths,
  requestsFor,
  rounds,
  verdict,
  warm,
  warming,
} from './serverLoad.ts';
import { runLong, type Visit } from './serverLong.ts';
import { ask, type Served, serveBare, serveFront, serveNginx } from './serverPeers.ts';
import { scale, switchUnderLoad } from './serverSharing.ts';
import { median, table } from './statistics.ts';

const filesGoal = 0.6;
const pagesGoal = 0.7;

const firstVisit = { 'accept-encoding': 'gzip, br' };
/** What nginx of Debian can serve compressed as well. */
const anyBrowser = { 'accept-encoding': 'gzip' };

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

/** What a visit asks for, as one browser after the other would: pages and files, which the front server has, and calls. */
const visit = (files: readonly string[]): Visit => ({
  answered: [...requestsFor(pagePaths, browser), ...requestsFor(files, browser)],
  passedOn: requestsFor([callPath, '/api/v1/stories/nie-xiaoqian'], browser),
});

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
      const paths = asked.answered.flatMap(({ path }) => path ?? []);
      const bare = opened(await serveBare('node', await answersOf(front, paths, browser)));
      await runLong({ front, bare, backend: { origin: backend.url } }, asked);
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
