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
/** A message with this word gets half a reply and then silence, into which a bench can stream. */
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
  /** A page under the conditions, not yet anywhere. */
  openPhone(): Promise<Phone>;
  /** A call of the API from another device of the same user; without the conditions. */
  elsewhere<Answer>(method: 'GET' | 'POST', path: string, data?: object): Promise<Answer>;
  stop(): Promise<void>;
}

/** The product with a reader of long standing, and their phone, signed in. */
export async function setStage(): Promise<Stage> {
  const dataDir = mkdtempSync(join(tmpdir(), 'liaozhai-experience-'));
  const product = await startProduct({
    DATA_DIR: dataDir,
    RATE_LIMIT_MESSAGES: '100000',
    RATE_LIMIT_WRITES: '100000',
    STORYTELLER_START_DELAY_MS: '50',
    STORYTELLER_PIECE_DELAY_MS: '0',
    STORYTELLER_PIECE_CHARACTERS: '30',
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
    // a worker would answer past the routes and outside the emulated network
    serviceWorkers: 'block',
  });
  // tsx names functions by a call that pages do not know
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

/** Reads the CPU time that the page's main thread has spent in tasks; ms. */
export async function mainThreadClock(cdp: CDPSession): Promise<() => Promise<number>> {
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1000;
  };
}
