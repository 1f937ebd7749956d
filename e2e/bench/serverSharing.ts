import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Request } from 'autocannon';
import { Catalog } from '../../releases/src/builds/catalog.ts';
import { localClient } from '../../releases/src/releaseClient.ts';
import { openStore, requireKey } from '../../releases/src/store/store.ts';
import { amount, browser, fire, pagePaths, requestsFor, rounds, verdict, warm } from './serverLoad.ts';
import { ask, cpuOf, type Served } from './serverPeers.ts';
import { median, table } from './statistics.ts';

const switches = 10;
/** What a page that was asked for may be behind the store, as the front server promises. */
const promiseMs = 1_000;
/** How much dearer a request may be where two servers share a store. */
const sharingGoal = 1.1;

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
 * Whether sharing a store costs anything: two servers on one store beside two on a store each, both pairs answering at the same time.
 * Servers that answer in parallel share caches and cores with each other and the load generator.
 */
export async function scale(one: Served, two: Served, apart: Served) {
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
export async function switchUnderLoad(store: string, walletDist: string, servers: readonly Served[]) {
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
