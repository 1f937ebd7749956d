import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { RateLimit } from '@liaozhai/http/rate-limit';
import { closeHttpServer, createHttpServer } from '@liaozhai/http/server';
import { originAt } from '@liaozhai/http/source';
import { openMetrics } from '@liaozhai/telemetry/metrics';
import { openTracing } from '@liaozhai/telemetry/tracing';
import { sql } from 'kysely';
import { builtInStoryteller } from './ai/builtIn.ts';
import { endpointOf, type ModelSettings, openAiStoryteller } from './ai/openAi.ts';
import { loadPrompts, WINDOW_LINES } from './ai/prompts.ts';
import { type Limits, type Storyteller, withMonitoring } from './ai/storyteller.ts';
import { fileMailer, relayMail } from './auth/mail.ts';
import { endReply } from './chat/reply.ts';
import { Generations, loadBackendId, Roster } from './chat/runs.ts';
import { endSuggestion } from './chat/suggestions.ts';
import type { Clock } from './clock.ts';
import { contentFolder, loadContent } from './content/content.ts';
import { query } from './db/database.ts';
import { lockDataDir, openDatabase } from './db/openDatabase.ts';
import { SharedRateLimit } from './db/SharedRateLimit.ts';
import type { Env } from './env.ts';
import { createApp } from './http/app.ts';
import { RequestLimits } from './http/http.ts';
import type { PaymentProvider } from './payments/orders.ts';
import { createSandbox } from './payments/sandbox.ts';
import { PusherServer } from './realtime/pusherServer.ts';
import { ReverbBroadcaster } from './realtime/reverb.ts';
import type { Services } from './services.ts';
import { hmac, loadAppKey } from './signatures.ts';
import { publishStories } from './stories.ts';
import { startAnnouncingAnswers } from './support.ts';
import {
  type BackendCounters,
  backendCounters,
  createFaultReport,
  createLog,
  gaugeWork,
  type Log,
  type ReportFault,
  repeat,
  runOrReport,
} from './telemetry.ts';
import { eraseDueAccounts } from './users/accountDeletion.ts';
import { createWechat } from './wechat.ts';

export interface Backend {
  url: string;
  /** URL of the metrics; null if they are not configured */
  metricsUrl: string | null;
  services: Services;
  /** Resolves with the database's error if it is damaged. Then nothing may be written to it any more. */
  damaged: Promise<unknown>;
  /**
   * Stops the server: `/readyz` fails, running replies get `drainMs` to finish, sockets are asked to reconnect, and the
   * database is closed. Replies that take longer end as interrupted and are refunded.
   */
  close(drainMs?: number): Promise<void>;
}

/** Starts the backend, to which a front server forwards requests. */
export async function startBackend(env: Env, clock: Clock = Date.now, stories = contentFolder): Promise<Backend> {
  const unlock = await lockDataDir(env.DATA_DIR);
  let onDamaged = (_: unknown) => {};
  const damaged = new Promise<unknown>((resolve) => {
    onDamaged = resolve;
  });
  const metrics = await openMetrics(env);
  const services = await createServices(env, clock, stories, onDamaged, metrics && backendCounters(metrics));
  if (metrics) gaugeWork(metrics.registry, services);
  services.tracing = await openTracing('liaozhai-backend', (line) => services.log.warn(line));
  for (const problem of services.content.problems) console.error(`content: ${problem}`);
  publishStories(services);
  if (!env.reverb && services.roster.others().size > 0) {
    services.log.warn(
      'DATABASE_URL: another backend works on this database; without REVERB_URL pages do not hear of what is done through it until they ask',
    );
  }
  const stopSweeper = startSweeper(services);
  const { broadcaster } = services;
  const server = createHttpServer(
    // a health check over HTTP/1.0 has no `Host` header
    getRequestListener(createApp(services).fetch, { overrideGlobalObjects: false, hostname: 'localhost' }),
    {
      isSocket: ({ url = '' }) => broadcaster.upgrade !== undefined && url.startsWith('/app/'),
      onSocket: (request, stream, head) => broadcaster.upgrade?.(request, stream, head),
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(env.PORT, env.BACKEND_HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = originAt(env.BACKEND_HOST, port);
  const stopAnnouncing = startAnnouncingAnswers(services);
  if (env.PAYMENT_PROVIDER === 'sandbox') {
    services.log.warn('PAYMENT_PROVIDER=sandbox: nobody pays, and a tap on 付款成功 grants points; for trials only');
  }
  const stopPayments = services.payments?.start?.(url);
  const stopMail = env.MAIL_URL
    ? relayMail({ folder: mailFolder(env), url: env.MAIL_URL, sender: env.MAIL_FROM ?? '', log: services.log })
    : undefined;
  return {
    url,
    metricsUrl: metrics?.url ?? null,
    services,
    damaged,
    async close(drainMs = 0) {
      const drainEndsAt = performance.now() + drainMs;
      stopSweeper();
      stopPayments?.();
      stopAnnouncing();
      // requests are still served, so that pages without a socket receive the end of their replies
      await services.generations.drain(drainMs);
      const serverClosed = closeHttpServer(server, drainEndsAt - performance.now());
      await services.broadcaster.close();
      await serverClosed;
      await Promise.all([metrics?.close(), services.tracing?.close(), stopMail?.()]);
      // if that fails, the others notice the missing heartbeat
      runOrReport(services, () => services.roster.leave());
      services.db.close();
      unlock();
    },
  };
}

/** Creates the services of the server, the commands and the tests. */
export async function createServices(
  env: Env,
  clock: Clock,
  stories = contentFolder,
  onDamaged: (error: unknown) => void = () => {},
  counters: BackendCounters | null = null,
): Promise<Services> {
  const log = createLog(env.LOG_LEVEL);
  const reportFault = createFaultReport(log, env.DATA_DIR, onDamaged);
  const report: ReportFault = (error, about) => {
    counters?.faults.inc();
    reportFault(error, about);
  };
  const db = await openDatabase(env, report);
  const appKey = loadAppKey(env.DATA_DIR, env.APP_KEY);
  // a test's clock also applies to the rate limits
  const now = clock === Date.now ? undefined : clock;
  const payments = choosePayments({ env, clock, report, db, appKey });
  return {
    env,
    clock,
    log,
    report,
    counters,
    tracing: null,
    content: loadContent(stories),
    db,
    broadcaster: env.reverb ? new ReverbBroadcaster(env.reverb, log) : new PusherServer(env, appKey),
    limits: new RequestLimits(env.DATABASE_URL ? new SharedRateLimit(db, now) : new RateLimit({ now })),
    mailer: fileMailer(mailFolder(env), clock, env.BRAND_NAME, env.MAIL_FROM),
    payments,
    storyteller: chooseStoryteller(env, log, counters),
    wechat: env.wechat && createWechat(env.wechat, clock, log),
    generations: new Generations(report),
    roster: new Roster(db, clock, env.DATABASE_URL ? loadBackendId(env.DATA_DIR) : null),
    appKey,
  };
}

const mailFolder = (env: Env): string => join(env.DATA_DIR, 'mail');

/** Creates the provider that `PAYMENT_PROVIDER` names. Add the adapter of a real provider here. */
function choosePayments(
  services: Pick<Services, 'env' | 'clock' | 'report' | 'db' | 'appKey'>,
): PaymentProvider | null {
  const { env, appKey } = services;
  if (!env.PAYMENT_PROVIDER) return null;
  return createSandbox(services, env.PAYMENT_WEBHOOK_SECRET ?? hmac(appKey, 'payment webhook'));
}

/** Creates the model's storyteller, or the built-in one without an endpoint. */
function chooseStoryteller(env: Env, log: Log, counters: BackendCounters | null): Storyteller {
  const limits: Limits = {
    firstMs: env.STORYTELLER_FIRST_TIMEOUT_MS ?? env.STORYTELLER_IDLE_TIMEOUT_MS,
    idleMs: env.STORYTELLER_IDLE_TIMEOUT_MS,
    totalMs: env.STORYTELLER_TOTAL_TIMEOUT_MS,
  };
  const model = modelOf(env, counters);
  const storyteller = model ? openAiStoryteller(model, loadPrompts(env.AI_PROMPTS_DIR)) : builtInStoryteller(env);
  return withMonitoring(storyteller, { endpoint: model ? endpointOf(model) : 'built-in', limits, log, counters });
}

function modelOf(env: Env, counters: BackendCounters | null): ModelSettings | null {
  const { AI_BASE_URL: baseUrl, AI_MODEL: model } = env;
  if (!baseUrl || !model) return null;
  return {
    baseUrl,
    apiKey: env.AI_API_KEY,
    model,
    body: {
      ...(env.AI_TEMPERATURE !== undefined && { temperature: env.AI_TEMPERATURE }),
      ...(env.AI_MAX_TOKENS !== undefined && { max_tokens: env.AI_MAX_TOKENS }),
      ...env.AI_EXTRA_BODY,
    },
    window: { lines: WINDOW_LINES, characters: env.AI_HISTORY_CHARACTERS },
    totalMs: env.STORYTELLER_TOTAL_TIMEOUT_MS,
    countTokens: (tokens) => counters?.tokens.inc(tokens),
  };
}

/** Literals as in the partial indexes: with bound values the database would scan all messages. */
const isRunning = sql<boolean>`status in ('pending', 'streaming')`;
const isPending = sql<boolean>`status = 'pending'`;

const SWEEP_INTERVAL_MS = 30_000;
/** Shorter with several backends, so that readers of one that has stopped see the end of their replies soon. */
const SHARED_SWEEP_INTERVAL_MS = 5_000;

/**
 * Ends and refunds replies and suggestions whose status is running but whose process was killed. Erases the accounts
 * whose deletion is due.
 */
function sweep(services: Services): void {
  const { db, generations, roster } = services;
  roster.beat();
  const others = roster.others();
  const isBeingWritten = ({ id, runner }: { id: string; runner: string | null }) =>
    generations.has(id) || others.has(runner ?? '');
  for (const reply of db.all(query.selectFrom('messages').select(['id', 'revision', 'runner']).where(isRunning)))
    if (!isBeingWritten(reply)) endReply(services, reply, { status: 'failed', code: 'interrupted' });
  for (const suggestion of db.all(query.selectFrom('suggestions').selectAll().where(isPending)))
    if (!isBeingWritten(suggestion)) endSuggestion(services, suggestion, 'interrupted');
  eraseDueAccounts(services);
}

/** Sweeps immediately and at an interval. Returns a function that stops it. */
export function startSweeper(services: Services): () => void {
  sweep(services);
  const interval = services.roster.id !== null ? SHARED_SWEEP_INTERVAL_MS : SWEEP_INTERVAL_MS;
  // after a failure the next sweep does the rest
  return repeat(services, () => sweep(services), interval);
}
