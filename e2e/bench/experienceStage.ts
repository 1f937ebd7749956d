import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright';
import type { UserRow } from '../../backend/src/db/schema.ts';
import { readEnv } from '../../backend/src/env.ts';
import { seedConversation, seedUser } from '../../backend/src/seeding.ts';
import { createServices } from '../../backend/src/server.ts';
import type { Services } from '../../backend/src/services.ts';
import { launchChromium } from '../needs.ts';
import { startProduct } from '../product.ts';
import { emulate, signIn } from './device.ts';
import { installWatch } from './experienceWatch.ts';

/** A mid-range phone on a middling network. */
export const conditions = { width: 390, height: 844, cpuSlowdown: 4, latencyMs: 150, bytesPerSecond: 200_000 };
export const stories = { long: 'nie-xiaoqian', middle: 'hua-pi', short: 'ying-ning' };
export const lengths = { long: 10_000, middle: 1_000, short: 40 };
/** A message with this word gets half of a reply and then none, so that a bench can stream the rest. */
export const hangWord = '且慢';

const password = '246810';
const login = 'measured';

export interface Phone {
  page: Page;
  cdp: CDPSession;
}

export interface Stage {
  origin: string;
  dataDir: string;
  user: UserRow;
  services: Services;
  context: BrowserContext;
  /** Opens an empty page under the conditions. */
  openPhone(): Promise<Phone>;
  /** Calls the API from another device of the same user, without the conditions. */
  elsewhere<Answer>(method: 'GET' | 'POST', path: string, data?: object): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts the product with a reader who has a long history, and signs their phone in. */
export async function setStage(): Promise<Stage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'liaozhai-experience-'));
  const product = await startProduct({
    DATA_DIR: dataDir,
    RATE_LIMIT_MESSAGES: '100000',
    RATE_LIMIT_WRITES: '100000',
    STORYTELLER_START_DELAY_MS: '50',
    STORYTELLER_PIECE_DELAY_MS: '0',
    STORYTELLER_PIECE_CHARACTERS: '10',
    STORYTELLER_HANG_WORD: hangWord,
    STORYTELLER_IDLE_TIMEOUT_MS: '120000',
    STORYTELLER_TOTAL_TIMEOUT_MS: '120000',
  });
  const services = await createServices(readEnv({ DATA_DIR: join(dataDir, 'backend') }), Date.now);
  const user = await seedUser(services, { login, password, name: '读书人', balance: 100_000 });
  for (const kind of ['long', 'middle', 'short'] as const)
    seedConversation(services, user.id, stories[kind], lengths[kind]);
  const browser = await launchChromium();
  const context = await newContext(browser);
  const tokenHeaders = await signIn(context, product.origin, { login, password });
  return {
    origin: product.origin,
    dataDir,
    user,
    services,
    context,
    openPhone: () => openPhone(context),
    async elsewhere(method, path, data) {
      const headers = await tokenHeaders();
      const answer = await context.request.fetch(`${product.origin}/api/v1${path}`, { method, data, headers });
      if (!answer.ok()) throw new Error(`${method} ${path} answered ${answer.status()}`);
      return answer.json();
    },
    async stop() {
      await browser.close();
      services.db.close();
      await product.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function newContext(browser: Browser): Promise<BrowserContext> {
  const { width, height } = conditions;
  const context = await browser.newContext({
    viewport: { width, height },
    hasTouch: true,
    isMobile: true,
    locale: 'zh-CN',
    timezoneId: 'Asia/Shanghai',
    // a service worker would bypass the routes and the emulated network
    serviceWorkers: 'block',
  });
  // tsx adds calls of a helper that pages do not have
  await context.addInitScript({ content: 'globalThis.__name = (named) => named;' });
  await context.addInitScript(installWatch);
  return context;
}

async function openPhone(context: BrowserContext): Promise<Phone> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await emulate(cdp, conditions);
  return { page, cdp };
}

/** Returns a function that reads the CPU time of the page's main thread, in ms. */
export async function mainThreadClock(cdp: CDPSession): Promise<() => Promise<number>> {
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
  };
}
