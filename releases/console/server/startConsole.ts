import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { closeHttpServer, createHttpServer, isBrokenOff } from '@liaozhai/http/server';
import type { Metrics } from '@liaozhai/telemetry/metrics';
import { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { Catalog } from '../../src/builds/catalog.ts';
import { contentType } from '../../src/builds/files.ts';
import { renewChannel } from '../../src/channel/changeChannel.ts';
import { alarmLine } from '../../src/english.ts';
import { hasCode, lineOf, reportNewProblems, usage } from '../../src/errors.ts';
import { makeGate } from '../../src/gate/gate.ts';
import { chooseSmoke, type SmokeMode } from '../../src/gate/smoke.ts';
import { logAlarm } from '../../src/health/alarm.ts';
import { readHealth, stopIfWorse } from '../../src/health/autoStop.ts';
import { jsonOrNull } from '../../src/model/documents.ts';
import { sweepUploads } from '../../src/operations/collectGarbage.ts';
import { type SiteOf, sitesFrom, sweepPreviews } from '../../src/operations/override.ts';
import type { Gate } from '../../src/operations/switching.ts';
import { createToken } from '../../src/operations/tokens.ts';
import { settleProposals } from '../../src/policies/approval.ts';
import { takeDueSteps } from '../../src/policies/schedule.ts';
import { deliver } from '../../src/policies/webhooks.ts';
import { say } from '../../src/sentences.ts';
import { DEFAULT_STORE, openStore, requireKey, requirePublicKey, type Store } from '../../src/store/store.ts';
import { createApi } from './api.ts';
import { ConsoleContext, type ConsoleCounters, consoleCounters } from './ConsoleContext.ts';
import type { SignInSettings } from './provider.ts';
import { createSignIn, noSignIn } from './signIn.ts';

const DEFAULT_PORT = 3001;
/** Uploads and gate checks take minutes. */
const REQUEST_TIMEOUT_MS = 300_000;

export interface StartConsoleOptions {
  store?: string;
  channel?: string;
  /** Default 3001; 0 picks a free port. */
  port?: number;
  /** Default: loopback only. */
  host?: string;
  smoke?: SmokeMode;
  /** Lets people sign in at an OpenID provider, in addition to tokens. */
  signIn?: SignInSettings | null;
  /** Public origin of the console. Default: `http://localhost:<port>`. */
  publicOrigin?: string;
  /** Returns the address at which a channel is served. Default: `RELEASES_SITE`. */
  siteOf?: SiteOf;
  /** Creates a manager token that is valid for a week, and adds it to `link`. */
  localToken?: boolean;
  note?: (line: string) => void;
  /** Metrics of this process; the caller closes them. */
  metrics?: Metrics | null;
}

/** Returns an address that signs in on opening; without a token, the bare origin. */
async function localLink(context: ConsoleContext, origin: string, withToken: boolean | undefined): Promise<string> {
  if (!withToken) return origin;
  const request = { grant: 'manager', label: 'local console', by: 'npm start', days: 7 };
  const { token } = await createToken(context.options.store, context.options.key, request);
  return `${origin}/#token=${token}`;
}

/** Throws usage if the provider's redirect address is unknown. */
function publicOriginOf({ publicOrigin, port = DEFAULT_PORT }: StartConsoleOptions): string {
  if (publicOrigin) return new URL(publicOrigin).origin;
  if (port === 0) throw usage('CONSOLE_ORIGIN is missing', 'Signing in needs it, or a fixed CONSOLE_PORT.');
  return `http://localhost:${port}`;
}
const countRequests = ({ countRequest }: ConsoleCounters) =>
  createMiddleware(async (context, next) => {
    const startedAt = performance.now();
    await next();
    const pattern = routePath(context);
    countRequest({
      service: 'console',
      method: context.req.method,
      route: pattern.startsWith('/v1') ? pattern : 'page',
      status: context.res.status,
      seconds: (performance.now() - startedAt) / 1000,
    });
  });

/** Starts the page and the API of the console on one origin. Throws refused if the store or its key is missing. */
export async function startConsole(options: StartConsoleOptions = {}) {
  const url = options.store ?? DEFAULT_STORE;
  const note = options.note ?? ((line: string) => process.stderr.write(`${line}\n`));
  const openedStore = await openStore(url);
  await requirePublicKey(openedStore.store);
  const key = await requireKey(openedStore);
  const { store } = openedStore;
  const mode = options.smoke ?? 'auto';
  const smokeFor = (channel: string) => chooseSmoke({ mode, store: url, channel, environment: process.env, note });
  const signIn = options.signIn
    ? createSignIn({ settings: options.signIn, store, key, origin: publicOriginOf(options), note })
    : null;
  const counters = options.metrics ? consoleCounters(options.metrics) : null;
  const context = new ConsoleContext({
    store,
    catalog: new Catalog(store),
    key,
    channel: options.channel ?? 'production',
    smokeFor,
    signIn,
    siteOf: options.siteOf ?? sitesFrom(process.env.RELEASES_SITE),
    publicOrigin: options.publicOrigin && new URL(options.publicOrigin).origin,
    counters,
  });
  const app = new Hono<{ Bindings: HttpBindings }>();
  if (counters) app.use(countRequests(counters));
  // the page is in memory and the store is read on demand, so a listening console is ready
  for (const path of ['/healthz', '/readyz'])
    app.on(['GET', 'OPTIONS'], path, (answer) => answer.json({ status: 'ok' }, 200, { 'cache-control': 'no-store' }));
  app.route('/v1', createApi(context));
  app.route('/auth', signIn?.routes ?? noSignIn());
  app.route('/', await pageFiles(await buildPage()));
  app.onError((cause, answer) => {
    if (isBrokenOff(answer.env.incoming)) return answer.body(null, 400);
    note(`console: ${lineOf(cause)}`);
    return answer.json({ message: say('consoleFailed'), cure: '', details: [] }, 500);
  });
  const server = createHttpServer(getRequestListener(app.fetch, { hostname: 'localhost' }), {
    requestMs: REQUEST_TIMEOUT_MS,
    silenceMs: REQUEST_TIMEOUT_MS,
  });
  server.listen(options.port ?? DEFAULT_PORT, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const origin = `http://localhost:${port}`;
  const reportProblem = reportNewProblems((cause) => note(`console: ${lineOf(cause)}`));
  const stopWatch = startWatch(context, reportProblem);
  const close = async () => {
    stopWatch();
    await closeHttpServer(server, 0);
  };
  return { origin, link: await localLink(context, origin, options.localToken), close };
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = join(ROOT, 'src');
const PAGE_FOLDER = join(ROOT, 'dist');
const STAMP_FILE = join(PAGE_FOLDER, '.sources');

/** Builds the console's page, unless its sources are unchanged since the last build. */
export async function buildPage(): Promise<string> {
  // a container image has the built page without its sources
  if (!existsSync(SOURCES)) return PAGE_FOLDER;
  const { repoRoot, sharedRoot, sourceHash } = await import('@liaozhai/shared/build/facts');
  const sharedSources = ['ui', 'format', 'contract', 'build/floor.ts'].map((part) => join(sharedRoot, 'src', part));
  const settings = [join(ROOT, 'rsbuild.config.ts'), join(repoRoot, 'pnpm-workspace.yaml')];
  const hash = sourceHash(repoRoot, [SOURCES, join(ROOT, '../src'), ...sharedSources, ...settings]);
  if (existsSync(STAMP_FILE) && (await readFile(STAMP_FILE, 'utf8')) === hash) return PAGE_FOLDER;
  const { createRsbuild, loadConfig } = await import('@rsbuild/core');
  const { content } = await loadConfig({ cwd: ROOT });
  const rsbuild = await createRsbuild({ cwd: ROOT, config: { ...content, logLevel: 'error' } });
  const { close } = await rsbuild.build();
  await close();
  await writeFile(STAMP_FILE, hash);
  return PAGE_FOLDER;
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'cache-control': 'no-cache',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

const CURE = 'The console is at /, its API below /v1/.';
const NOT_FOUND = { message: 'there is no such page', cure: CURE, details: [] };
const READ_ONLY = { message: 'the page can only be read', cure: CURE, details: [] };

async function readFiles(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((cause: unknown) => {
    if (hasCode(cause, 'ENOENT')) return [];
    throw cause;
  });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(files.map(async (file) => [file.slice(folder.length), await readFile(file)] as const)),
  );
}

/** Serves the console's page from memory, so that only files present at startup can be requested. */
export async function pageFiles(folder: string): Promise<Hono> {
  const files = await readFiles(folder);
  const page = new Hono();
  page.get('*', (context, next) => {
    const path = context.req.path === '/' ? '/index.html' : context.req.path;
    const body = files.get(path);
    if (!body) return next();
    return context.body(new Uint8Array(body), 200, {
      ...HEADERS,
      'content-type': contentType(path) ?? 'application/octet-stream',
    });
  });
  return page.all('*', (context) => {
    const { method } = context.req;
    if (method === 'GET' || method === 'HEAD') return context.json(NOT_FOUND, 404, HEADERS);
    const headers = { ...HEADERS, allow: 'GET, HEAD, OPTIONS' };
    return method === 'OPTIONS' ? context.body(null, 204, headers) : context.json(READ_ONLY, 405, headers);
  });
}

const LEASE_MS = 20_000;

/** Lease with one holder at a time, across processes. It expires 20 seconds after its last renewal, by the store's clock. */
export class Lease {
  readonly #store: Store;
  readonly #key: string;
  readonly #holder = randomUUID();
  readonly durationMs: number;

  constructor(store: Store, name: string, durationMs = LEASE_MS) {
    this.#store = store;
    this.#key = `leases/${name}.json`;
    this.durationMs = durationMs;
  }

  /** Acquires the lease, or renews it in the second half of its life: each renewal writes a file. Returns whether it is held now. */
  async hold(time: Date | Promise<Date> = this.#store.time()): Promise<boolean> {
    const now = (await time).getTime();
    const pointer = await this.#store.readPointer(this.#key);
    // a damaged lease counts as expired
    const record = jsonOrNull(pointer?.body ?? '');
    if (record instanceof Object && 'holder' in record && 'until' in record) {
      const remainingMs = Number(record.until) - now;
      // a later expiry means that the store's clock was set back
      if (record.holder !== this.#holder && remainingMs > 0 && remainingMs <= 2 * this.durationMs) return false;
      if (record.holder === this.#holder && remainingMs > this.durationMs / 2) return true;
    }
    const body = JSON.stringify({ holder: this.#holder, until: now + this.durationMs, nonce: randomUUID() });
    return this.#store.swapPointer(this.#key, body, pointer?.tag ?? null);
  }
}

const POLL_MS = 5000;

/**
 * Runs each duty for every channel, if this process holds the lease. A failure is counted and reported; the other duties and
 * channels still run.
 */
async function forEachChannel(
  console: ConsoleContext,
  lease: Lease,
  onProblem: (cause: unknown) => void,
  ...duties: ((channel: string) => Promise<unknown>)[]
): Promise<void> {
  if (!(await lease.hold())) return;
  // a duty may wait for the gate longer than the lease lasts
  const renewalTimer = setInterval(() => void lease.hold().catch(onProblem), lease.durationMs / 4).unref();
  try {
    for (const channel of await console.channels())
      for (const duty of duties)
        await duty(channel).catch((cause) => {
          console.options.counters?.problems.inc();
          onProblem(cause);
        });
  } finally {
    clearInterval(renewalTimer);
  }
}

/** Work on every channel, done if this process holds the lease. */
type Round = (console: ConsoleContext, lease: Lease, onProblem: (cause: unknown) => void) => Promise<void>;

/** Aborts failing candidates and renews ageing documents in all channels. */
export const watchOnce: Round = async (console, lease, onProblem) => {
  const stop = async (channel: string) => {
    if (await stopIfWorse(console.writer(channel, 'console'), console.healthReader(channel)))
      console.options.counters?.automaticStops.inc({ channel });
  };
  const renew = async (channel: string) => renewChannel(console.writer(channel, 'console'));
  await forEachChannel(console, lease, onProblem, stop, renew);
};

/**
 * Runs due schedule steps and settles proposals in all channels. It has a separate lease: a step to all visitors runs the gate,
 * which may take a minute, and the automatic stop must not wait.
 */
export const stepOnce: Round = async (console, lease, onProblem) => {
  await forEachChannel(console, lease, onProblem, async (channel) => {
    const writer = console.writer(channel, 'console');
    const gate = async (): Promise<Gate> => {
      const judge = makeGate(writer, { smoke: await console.options.smokeFor(channel) });
      return (proposal) => console.runInTurn('schedule', () => judge(proposal));
    };
    await takeDueSteps(writer, console.healthReader(channel), gate);
    await settleProposals(writer);
  });
};

/** Delivers the webhooks of all channels while this process holds the lease. A receiver may take ten seconds. */
async function deliverOnce(
  console: ConsoleContext,
  lease: Lease,
  onProblem: (cause: unknown) => void,
  busy: Set<string>,
): Promise<void> {
  await forEachChannel(console, lease, onProblem, async (channel) =>
    deliver(console.writer(channel, 'console'), console.webhookRules, () => lease.hold(), busy),
  );
}

const ALARM_MS = 60_000;

/** Reports each stable build that starts failing, once per incident, here and in the log. */
export const alarmOnce: Round = async (console, lease, onProblem) => {
  await forEachChannel(console, lease, onProblem, async (channel) => {
    const writer = console.writer(channel, 'console');
    const { health } = await readHealth(writer, console.healthReader(channel));
    for (const alarm of console.newAlarms(channel, health)) {
      if (!(await logAlarm(writer, alarm))) continue;
      console.options.counters?.alarms.inc({ channel });
      onProblem(new Error(`alarm in ${channel}: ${alarmLine(alarm)}`));
    }
  });
};

const SWEEP_MS = 3_600_000;

/** Removes abandoned uploads and expired preview permissions, if this process holds the lease. */
async function sweepOnce(console: ConsoleContext, lease: Lease): Promise<void> {
  if (!(await lease.hold())) return;
  const { store, key } = console.options;
  await sweepUploads(store);
  await sweepPreviews(store, key.publicKey, await store.time());
  console.quota.clearCounts();
}

/** Skips a round while the previous one is still running. */
function withoutOverlap(work: () => Promise<void>): () => void {
  let running = false;
  return () => {
    if (running) return;
    running = true;
    void work().finally(() => {
      running = false;
    });
  };
}

/** Starts all rounds. Returns a function that stops them. */
function startWatch(console: ConsoleContext, onProblem: (cause: unknown) => void): () => void {
  const watchLease = new Lease(console.options.store, 'watch');
  const stepsLease = new Lease(console.options.store, 'steps');
  const webhooksLease = new Lease(console.options.store, 'webhooks');
  const busy = new Set<string>();
  const watch = withoutOverlap(() => watchOnce(console, watchLease, onProblem).catch(onProblem));
  const step = withoutOverlap(() => stepOnce(console, stepsLease, onProblem).catch(onProblem));
  const timers = [
    setInterval(watch, POLL_MS).unref(),
    setInterval(step, POLL_MS).unref(),
    // rounds overlap: a slow receiver is skipped until it has answered
    setInterval(() => void deliverOnce(console, webhooksLease, onProblem, busy).catch(onProblem), POLL_MS).unref(),
    setInterval(() => void alarmOnce(console, watchLease, onProblem).catch(onProblem), ALARM_MS).unref(),
    setInterval(() => void sweepOnce(console, watchLease).catch(onProblem), SWEEP_MS).unref(),
  ];
  return () => timers.forEach(clearInterval);
}
