import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type ChannelDocument, candidatesOf, ReleaseError, type Releases, type ServedFile } from '@liaozhai/releases';
import {
  type Beacon,
  beaconSchema,
  spansReportSchema,
  type VitalsReport,
  vitalsReportSchema,
} from '@liaozhai/shared/contract';
import type { PageSpan, Tracing } from '@liaozhai/telemetry/tracing';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import * as v from 'valibot';
import { knownVisitor, networkOf, overrideOf } from './cookies.ts';
import type { ServerEnv } from './env.ts';
import { answerFromMemory, createPages, memoryAnswer, namesOf } from './pages.ts';
import { createBackendProxy } from './proxy.ts';
import {
  type FrontCounters,
  gaugeLiveBuilds,
  type Log,
  namedByRoute,
  nameRoute,
  observeRequest,
  requestIdOf,
} from './telemetry.ts';

export interface ProductOptions {
  releases: Releases;
  env: ServerEnv;
  backendUrl: () => string;
  /** Seconds until a backend that ended runs again; null while it runs. */
  awaySeconds?: () => number | null;
  log: Log;
  /** Counts what is decided here; left out where nobody reads it. */
  counters?: FrontCounters | null;
  /** Makes pages and calls spans; left out where nobody collects them. */
  tracing?: Tracing | null;
  /** Whether the server is about to end, so that no new visitor should be sent to it. */
  isDraining?: () => boolean;
  config: Record<string, unknown>;
}

const unavailable = '聊斋暂时打不开，请稍后再试';
const storeRetrySeconds = 30;

/** The one origin visitors see: pages, builds, beacons, and the backend behind `/api`, `/sanctum`, `/broadcasting`, `/app`. */
export function createProduct({
  releases,
  env,
  backendUrl,
  awaySeconds = () => null,
  log,
  counters = null,
  tracing = null,
  isDraining = () => false,
  config,
}: ProductOptions): Server {
  if (counters) gaugeLiveBuilds(counters, releases);
  const pages = createPages({ releases, env, config, backendUrl, counters, isTraced: tracing !== null });
  const app = new Hono();
  app.use(namedByRoute);
  app.route('/', healthRoutes({ releases, backendUrl, awaySeconds, isDraining }));
  app.route('/', buildRoutes(releases, env.CHANNEL));
  app.route('/', beaconRoutes(releases, env.TRUST_PROXY, counters, log));
  if (tracing) app.route('/', spanRoutes(releases, env.TRUST_PROXY, tracing));
  app.route('/', pages.routes);
  app.notFound((context) => context.text('not found', 404));
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse();
    const requestId = requestIdOf(context);
    const about = { requestId, path: context.req.path };
    const told = `${unavailable}（问题编号 ${requestId}）`;
    if (error instanceof ReleaseError) {
      // of the store, not of this code: another state heals it
      log.error(about, `${error.message}. ${error.cure}`);
      return context.text(told, 503, { 'retry-after': String(storeRetrySeconds) });
    }
    log.error({ ...about, err: error }, 'unexpected error');
    return context.text(told, 500);
  });
  const fileInMemory = filesInMemory(releases);
  const listener = getRequestListener(app.fetch);
  const proxy = createBackendProxy({
    backend: backendUrl,
    awaySeconds,
    log,
    counters,
    reverb: env.REVERB_URL,
    trustProxy: env.TRUST_PROXY,
  });
  // longer than a load balancer or nginx keeps an idle connection: what it sends on one that closes just then is lost
  const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
    observeRequest({ log, counters, tracing }, request, response, async (requestId) => {
      if (fileInMemory(request, response, requestId)) return;
      if (proxy.web(request, response, requestId)) return;
      if (await pages.inMemory(request, response, requestId)) return;
      response.setHeader('x-request-id', requestId);
      await listener(request, response);
    });
  });
  server.on('upgrade', proxy.upgrade);
  return server;
}

const answerTimeoutMs = 2_000;

interface HealthOptions {
  releases: Releases;
  backendUrl: () => string;
  awaySeconds: () => number | null;
  isDraining: () => boolean;
}

/** A backend of another make has no `/readyz`; whatever it answers there it is reached. */
async function isReached(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(answerTimeoutMs);
  const answer = await fetch(`${url}/readyz`, { signal, redirect: 'manual' }).catch(() => null);
  await answer?.body?.cancel();
  return answer !== null && answer.status < 500;
}

/** `/healthz`: the process answers. `/readyz`: visitors can be sent here; if not, what is missing. */
function healthRoutes({ releases, backendUrl, awaySeconds, isDraining }: HealthOptions): Hono {
  return new Hono()
    .use(async (context, next) => {
      context.header('cache-control', 'no-store');
      await next();
    })
    .get('/healthz', (context) => context.json({ status: 'ok' }))
    .get('/readyz', async (context) => {
      if (isDraining()) return context.json({ status: 'draining' }, 503);
      const pages = await releases.pageFor({ id: '' }).then(
        () => true,
        () => false,
      );
      const backend = awaySeconds() === null && (await isReached(backendUrl()));
      if (pages && backend) return context.json({ status: 'ready', pages, backend });
      // without addresses and paths: whoever comes by may read this
      const why = [
        ...(pages ? [] : ['the release store gives no set that can be served']),
        ...(backend ? [] : ['the backend does not answer, or is not ready itself']),
      ].join('; ');
      return context.json({ status: 'unavailable', pages, backend, why }, 503);
    });
}

function send(context: Context, file: ServedFile | null) {
  if (!file) return context.text('not found', 404, { 'cache-control': 'no-store' });
  for (const [name, value] of Object.entries(file.headers)) context.header(name, value);
  if (file.headers.etag && context.req.header('if-none-match') === file.headers.etag) return context.body(null, 304);
  return context.body(new Uint8Array(file.body), 200);
}

type FileInMemory = (request: IncomingMessage, response: ServerResponse, requestId: string) => boolean;

/** Answers a build's file that lies in memory, and returns whether it did. */
function filesInMemory(releases: Releases): FileInMemory {
  const answers = new WeakMap<ServedFile, ReturnType<typeof memoryAnswer>>();
  const remember = (file: ServedFile) => {
    const answer = memoryAnswer(200, file.headers, file.body);
    answers.set(file, answer);
    return answer;
  };
  return (request, response, requestId) => {
    const { method, url = '', headers } = request;
    if (method !== 'GET' || !url.startsWith('/builds/')) return false;
    const file = releases.fileInMemory(url, headers['accept-encoding']?.toString());
    if (!file) return false;
    nameRoute(request, '/builds/*');
    answerFromMemory(request, response, answers.get(file) ?? remember(file), ['x-request-id', requestId]);
    return true;
  };
}

const rootFiles = [
  '/manifest.webmanifest',
  '/favicon.svg',
  '/icon-192.png',
  '/icon-512.png',
  '/icon-maskable.png',
  '/apple-touch-icon.png',
];

/** What a browser reads of the release store: builds, the channel, the service worker, and files that must lie at the root. */
function buildRoutes(releases: Releases, channel: string): Hono {
  const accept = (context: Context) => context.req.header('accept-encoding');
  const app = new Hono();
  app.get('/builds/*', async (context) => send(context, await releases.file(context.req.path, accept(context))));
  app.get(`/channels/${channel}.json`, async (context) => send(context, await releases.channelFile()));
  app.get('/sw.js', async (context) => send(context, await releases.serviceWorker(accept(context))));
  for (const path of rootFiles) {
    app.get(path, async (context) => {
      const { pageSet } = await releases.pageFor({ id: '' });
      const folder = /^\/builds\/host\/[^/]+/.exec(pageSet.host.entry)?.[0] ?? '';
      const file = await releases.file(`${folder}${path}`, accept(context));
      // the name stays while the content may change with the host build
      return send(context, file && { ...file, headers: { ...file.headers, 'cache-control': 'public, max-age=3600' } });
    });
  }
  return app;
}

const perMinute = 60;
const networks = 10_000;
const remembered = 50_000;

/** One vote per visitor, build and outcome; a bounded memory of who voted. */
class Votes {
  readonly #seen = new Set<string>();

  isNew(vote: string): boolean {
    if (this.#seen.has(vote)) return false;
    if (this.#seen.size >= remembered) this.#seen.clear();
    this.#seen.add(vote);
    return true;
  }
}

/** So many a minute from one network, and from so many networks: a visitor's id is the caller's own choice. */
class RateLimit {
  #counts = new Map<string, number>();
  #minute = 0;

  allows(network: string, now = Date.now()): boolean {
    const minute = Math.floor(now / 60_000);
    if (minute !== this.#minute) this.#counts = new Map();
    this.#minute = minute;
    const count = this.#counts.get(network) ?? (this.#counts.size < networks ? 0 : perMinute);
    if (count >= perMinute) return false;
    this.#counts.set(network, count + 1);
    return true;
  }
}

interface Refusal {
  status: 403 | 422 | 429;
  reason: 'foreign' | 'too_many' | 'malformed';
}

/** A page's report and who sent it, or why it is not taken. */
async function readReport<Schema extends v.GenericSchema>(
  context: Context,
  schema: Schema,
  isAllowed: () => boolean,
): Promise<Refusal | { visitor: string; told: v.InferOutput<Schema> }> {
  const origin = context.req.header('origin');
  // every page comes with the cookie, so who has none has seen no page
  const visitor = knownVisitor(context);
  if (!visitor || !origin || !URL.canParse(origin) || new URL(origin).host !== context.req.header('host'))
    return { status: 403, reason: 'foreign' };
  if (!isAllowed()) return { status: 429, reason: 'too_many' };
  const told = v.safeParse(schema, await context.req.json().catch(() => null));
  return told.success ? { visitor, told: told.output } : { status: 422, reason: 'malformed' };
}

/** By what a report is counted: only names that the channel knows, since a report may say anything. */
function reportLabels({ build, outcome, failure }: Beacon, document: ChannelDocument) {
  const groups = [
    ['stable', document.stable?.builds ?? []],
    ['candidate', candidatesOf(document).flatMap(({ builds }) => builds)],
    ['last_good', Object.values(document.lastGood)],
  ] as const;
  const group = groups.find(([, builds]) => builds.includes(build))?.[0];
  const remote = group ? (build.split('@')[0] ?? build) : 'other';
  return { remote, group: group ?? 'other', outcome, failure: failure ?? '' };
}

/**
 * `/beacon`: how builds fare in browsers, and what their readers feel. Origin-checked, rate-limited, one vote per visitor and
 * build; of vitals one a day of each kind, and anew where a candidate begins.
 */
function beaconRoutes(releases: Releases, trustProxy: boolean, counters: FrontCounters | null, log: Log): Hono {
  const votes = new Votes();
  const felt = new Votes();
  const limit = new RateLimit();
  const refuse = (context: Context, { status, reason }: Refusal) => {
    counters?.refusedReports.inc({ reason });
    return context.body(null, status);
  };
  return new Hono().post('/beacon', bodyLimit({ maxSize: 4096 }), async (context) => {
    const read = await readReport(context, toldSchema, () => limit.allows(networkOf(context, trustProxy)));
    if ('status' in read) return refuse(context, read);
    const { visitor, told } = read;
    const document = await releases.current();
    if ('vitals' in told) {
      await releases.recordVitals(newIn(told, felt, `${visitor} ${periodOf(document)}`));
      return context.body(null, 204);
    }
    const { build, outcome, failure, problem } = told;
    if (outcome === 'failed') log.warn({ requestId: requestIdOf(context), problem, build, failure }, 'a remote failed');
    if (votes.isNew(`${visitor} ${build} ${outcome}`)) {
      releases.recordHealth(told, visitor);
      counters?.reports.inc(reportLabels(told, document));
    } else counters?.refusedReports.inc({ reason: 'repeated' });
    return context.body(null, 204);
  });
}

const toldSchema = v.union([beaconSchema, vitalsReportSchema]);

const dayMs = 24 * 3_600_000;

/** A new one with each day and each candidate, so that stable's visitors are counted from its beginning on as the candidate's are. */
const periodOf = (document: ChannelDocument): string =>
  [Math.floor(Date.now() / dayMs), ...candidatesOf(document).map(({ salt }) => salt)].join();

/** What of a report counts: pages of one visitor resemble each other, and who opens many weighs no more than who opens one. */
const newIn = ({ vitals, errors }: VitalsReport, votes: Votes, voter: string): VitalsReport => ({
  vitals: vitals.filter(({ build, metric, cache }) => votes.isNew(`${voter} ${build} ${metric} ${cache}`)),
  errors: errors.filter(({ build, kind }) => votes.isNew(`${voter} ${build} ${kind}`)),
});

/** `/beacon/spans`: a page's own part of its trace. Whatever its set does not name is left out, so that no text gets through. */
function spanRoutes(releases: Releases, trustProxy: boolean, tracing: Tracing): Hono {
  const limit = new RateLimit();
  return new Hono().post('/beacon/spans', bodyLimit({ maxSize: 16_384 }), async (context) => {
    const read = await readReport(context, spansReportSchema, () => limit.allows(networkOf(context, trustProxy)));
    if ('status' in read) return context.body(null, read.status);
    const { pageSet } = await releases.pageFor({ id: read.visitor, override: overrideOf(context) });
    const names = namesOf(pageSet);
    const known = (name: string | undefined) => (name !== undefined && names.has(name) ? name : undefined);
    const now = Date.now();
    const spans = read.told.spans.map(
      ({ trace, id, parent, name, ago, took, build, route, status }): PageSpan => ({
        ...{ traceId: trace, spanId: id, parentSpanId: parent, name, startedAt: now - ago, milliseconds: took },
        ...{ build: known(build), route: known(route), status },
      }),
    );
    tracing.takePageSpans(spans);
    return context.body(null, 204);
  });
}
