import type { WebSocketRoute } from '@playwright/test';
import { expect } from '../../person.ts';
import type { Scene } from './scene.ts';

interface Fault {
  name: string;
  /** a fault that affects only writes */
  onlyWrites?: boolean;
  /** before the page opens */
  prepare?(scene: Scene): Promise<void>;
  /** right before the reader acts */
  strike?(scene: Scene): Promise<void>;
  mend?(scene: Scene): Promise<void>;
}

const api = /^\/api\/v1\//;
const socketsByScene = new WeakMap<Scene, Set<WebSocketRoute>>();

/** Tracks sockets so that a fault can close them; `setOffline` alone would leave them paused. */
async function trackSockets(scene: Scene) {
  const sockets = new Set<WebSocketRoute>();
  socketsByScene.set(scene, sockets);
  await scene.page.routeWebSocket(/\/app\//, (socket) => {
    if (socketsByScene.get(scene) !== sockets) return socket.close();
    sockets.add(socket);
    socket.connectToServer();
  });
}

async function cutSockets(scene: Scene) {
  const sockets = socketsByScene.get(scene) ?? [];
  for (const socket of sockets) await socket.close();
}

/** Waits for the tabs' code, which loads while the first screen is idle. Offline, a tab without it shows only a card. */
const waitForTabCode = ({ page }: Scene) =>
  page.waitForFunction(() =>
    ['conversations', 'my', 'my.balance'].every((part) =>
      performance.getEntriesByType('resource').some(({ name }) => name.includes(`/js/${part}.`)),
    ),
  );

/** Answers every API request with this status from now on. */
async function failRequests({ site }: Scene, status: number, headers?: Record<string, string>) {
  site.front.asked();
  site.front.breaks(api, { status, ...(headers && { headers }) });
}

/** Ends the fault after it has affected a request; otherwise it would prove nothing. */
async function mendAfterRequest({ site }: Scene) {
  await expect.poll(() => site.front.asked().some((path) => api.test(path))).toBe(true);
  site.front.mend();
}

async function switchSet({ site, editions, person, page }: Scene) {
  const liveBuilds = (await site.release('status')).stable.builds;
  await site.activate(liveBuilds.includes(editions[0]) ? editions[1] : editions[0]);
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await person.isTold('有新版本');
}

export const faults: readonly Fault[] = [
  {
    name: 'a slow network',
    prepare: async ({ link }) => link.slowDown({ latencyMs: 200, downBytesPerSecond: 200_000 }),
  },
  {
    name: 'no network for a while',
    prepare: trackSockets,
    strike: async (scene) => {
      await waitForTabCode(scene);
      await scene.context.setOffline(true);
      await cutSockets(scene);
    },
    mend: ({ context }) => context.setOffline(false),
  },
  { name: 'a blocked socket', prepare: ({ page }) => page.routeWebSocket(/\/app\//, (socket) => socket.close()) },
  {
    name: 'answers 500',
    strike: (scene) => failRequests(scene, 500),
    mend: mendAfterRequest,
  },
  {
    name: 'answers 429 for two seconds',
    strike: (scene) => failRequests(scene, 429, { 'retry-after': '2' }),
    mend: mendAfterRequest,
  },
  {
    name: 'one answer 419',
    onlyWrites: true,
    strike: async ({ page }) => {
      let hasRefused = false;
      await page.route('**/api/v1/**', (route) => {
        if (hasRefused || route.request().method() === 'GET') return route.continue();
        hasRefused = true;
        return route.fulfill({
          status: 419,
          contentType: 'application/json',
          body: '{"message":"页面已过期，请重试"}',
        });
      });
    },
  },
  {
    name: 'a backend killed and started again',
    // not awaited, so that the act happens during the crash
    strike: async ({ backend }) => void backend.crash(),
    mend: async ({ backend }) => {
      await backend.crash();
      await backend.start();
    },
  },
  { name: 'a switch of the set', strike: switchSet },
];
