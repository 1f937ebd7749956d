import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishLocal } from '@liaozhai/releases';
import type { Request } from 'autocannon';
import { buildPackages } from '../../host/server/buildPackages.ts';
import { startBackend } from '../product.ts';
import { median, printRows, type Row, row, selectParts, spread, startRun } from './report.ts';
import { amount, browser, callPath, cost, fire, pagePaths, requestsFor, rounds, warm } from './serverLoad.ts';
import { runLong } from './serverLong.ts';
import { type Front, fetchRaw, type RunningServer, serveBare, serveFront } from './serverPeers.ts';

const PAGES_GOAL = 0.7;

const firstVisit = { 'accept-encoding': 'gzip, br' };

const perSecond = (microseconds: number) => Math.round(1e6 / microseconds).toLocaleString('en');

/** Measures both in alternation, in reverse order every second round. */
async function compare(front: RunningServer, hono: RunningServer, what: string, requests: Request[]): Promise<Row> {
  const load = { requests, amount };
  const costs = new Map<RunningServer, number[]>([
    [front, []],
    [hono, []],
  ]);
  for (const served of costs.keys()) await fire(served, load);
  for (let round = 0; round < rounds; round += 1)
    for (const [served, serverCosts] of round % 2 ? [...costs] : [...costs].reverse())
      serverCosts.push(await cost(served, load));
  const [ours = [], theirs = []] = [...costs.values()];
  const ratios = ours.map((microseconds, round) => (theirs[round] ?? Number.NaN) / microseconds);
  const figure = `${perSecond(median(ours))}, ${spread(ratios, 2)} of bare Hono`;
  return row(what, figure, `≥ ${PAGES_GOAL}`, median(ratios) >= PAGES_GOAL, perSecond(median(theirs)));
}

/** Paths of the files in the first page. */
async function filesOf(front: RunningServer): Promise<string[]> {
  const { body } = await fetchRaw(front.origin + pagePaths[0]);
  return [...new Set(body.toString('utf8').match(/\/builds\/[^"]+\.(?:js|css)(?=")/g))];
}

/** Responses of the front server, without headers that differ between two responses. */
const answersOf = (front: RunningServer, paths: readonly string[]) =>
  Promise.all(
    paths.map(async (path) => {
      const { headers, body } = await fetchRaw(front.origin + path, browser);
      const { date: _date, connection: _connection, 'keep-alive': _alive, 'x-request-id': _id, ...rest } = headers;
      return { path, headers: rest, body: body.toString('base64') };
    }),
  );

async function comparePages(front: RunningServer, hono: RunningServer, sizes: Map<string, number>) {
  await warm([front, hono], requestsFor(pagePaths, browser));
  const rows: Row[] = [];
  for (const path of pagePaths) {
    const what = `${path}, ${((sizes.get(path) ?? 0) / 1024).toFixed(1)} KiB`;
    rows.push(await compare(front, hono, what, requestsFor([path], browser)));
  }
  const first = requestsFor(pagePaths.slice(0, 1), firstVisit);
  rows.push(await compare(front, hono, `${pagePaths[0]}, first visit`, first));
  console.log('\nRequests a second of CPU time of the server, all its threads:\n');
  printRows(rows, 'bare Hono, same run');
}

interface Servers {
  front: Front;
  backend: string;
  /** Stops the server when the run ends. */
  stopAtEnd<Kind extends { stop(): Promise<void> }>(served: Kind): Kind;
}

const parts: Record<string, (servers: Servers) => Promise<void>> = {
  async pages({ front, stopAtEnd }) {
    const pages = await answersOf(front, pagePaths);
    const sizes = new Map(pages.map(({ path, body }) => [path, Buffer.from(body, 'base64').length]));
    await comparePages(front, stopAtEnd(await serveBare('hono', pages)), sizes);
  },
  async long({ front, backend, stopAtEnd }) {
    const paths = [...pagePaths, ...(await filesOf(front))];
    const bare = stopAtEnd(await serveBare('node', await answersOf(front, paths)));
    const passedOn = requestsFor([callPath, '/api/v1/stories/nie-xiaoqian'], browser);
    await runLong({ front, bare, backend: { origin: backend } }, { answered: requestsFor(paths, browser), passedOn });
  },
};

/** Compares the front server with bare Hono (`pages`), and its later with its earlier figures in a long run (`long`). */
export async function run() {
  const selectedParts = selectParts(parts);
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-bench-server-'));
  const runLine = startRun();
  const stops: (() => Promise<void>)[] = [];
  const stopAtEnd = <Kind extends { stop(): Promise<void> }>(served: Kind): Kind => {
    stops.push(served.stop);
    return served;
  };
  try {
    const packages = await buildPackages(console.log);
    const store = `file:${join(folder, 'store')}`;
    await publishLocal({ dists: packages.map(({ dist }) => dist), store });
    const backend = stopAtEnd(await startBackend()).url;
    const front = stopAtEnd(await serveFront(folder, store, backend));
    for (const [, part] of selectedParts) await part({ front, backend, stopAtEnd });
    console.log(`${runLine()}; loopback, ${availableParallelism()} cores`);
  } finally {
    for (const stop of stops.reverse()) await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}
