import { randomUUID } from 'node:crypto';
import { writeSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { candidatesOf, type Releases } from '@liaozhai/releases';
import { counterIn, type Metrics } from '@liaozhai/telemetry/metrics';
import { currentTrace, type Tracing } from '@liaozhai/telemetry/tracing';
import type { Context, MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { type Logger, pino } from 'pino';
import { Gauge } from 'prom-client';

export type Log = Logger;

/** How long a line may be buffered: the part of the log that a SIGKILL can lose. */
const FLUSH_INTERVAL_MS = 50;

const ERROR_LEVEL = 50;

const BUFFER_BYTES = 64 * 1024;

/** Bytes buffered for a slow reader of the log; lines beyond are dropped. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;

/** How long the exit waits for such a reader. */
const EXIT_TIMEOUT_MS = 2_000;
const EXIT_POLL_MS = 50;

/**
 * Batches lines for stdout: one write per line would cost more than the line itself. Errors are written immediately, and what is left at
 * exit. A slow reader blocks nobody: its lines are queued in order, up to a limit. `onOmitted` receives how many bytes were dropped.
 */
function createBatchedStdout(onOmitted: (bytes: number) => void) {
  // makes a full pipe fail with EAGAIN instead of blocking the process
  void process.stdout;
  let lines: string[] = [];
  /** The rest of a partly written batch. */
  let rest: Uint8Array = new Uint8Array();
  const bytes = { inLines: 0, sinceFlush: 0, omitted: 0 };
  /** Returns whether everything was written. */
  const flush = (): boolean => {
    bytes.sinceFlush = 0;
    while (rest.length + lines.length > 0) {
      if (rest.length === 0) {
        rest = Buffer.from(lines.join(''));
        [lines, bytes.inLines] = [[], 0];
      }
      try {
        rest = rest.subarray(writeSync(1, rest));
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code === 'EAGAIN') {
          timer.refresh();
          return false;
        }
        // nobody can ever read it
        rest = rest.subarray(rest.length);
      }
    }
    const { omitted } = bytes;
    bytes.omitted = 0;
    // not while a caller is writing a line
    if (omitted > 0) queueMicrotask(() => onOmitted(omitted));
    return true;
  };
  const timer = setTimeout(flush, FLUSH_INTERVAL_MS);
  process.once('exit', () => {
    const deadline = performance.now() + EXIT_TIMEOUT_MS;
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    while (!flush() && performance.now() < deadline) Atomics.wait(sleeper, 0, 0, EXIT_POLL_MS);
  });
  return {
    // makes pino set `lastLevel` for each line
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      const size = Buffer.byteLength(line);
      if (bytes.sinceFlush === 0) timer.refresh();
      bytes.sinceFlush += size;
      if (rest.length + bytes.inLines + size > MAX_QUEUED_BYTES) bytes.omitted += size;
      else {
        lines.push(line);
        bytes.inLines += size;
      }
      if (bytes.sinceFlush >= BUFFER_BYTES || this.lastLevel >= ERROR_LEVEL) flush();
    },
  };
}

/** Logs one JSON line per entry, with `service` and an ISO time, to stdout by default. */
export function createLog(level: string, destination?: { write(line: string): void }): Log {
  const log: Log = pino(
    {
      level,
      base: { service: 'front', pid: process.pid },
      formatters: { level: (label: string) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: () => ({ traceId: currentTrace()?.traceId }),
    },
    destination ??
      createBatchedStdout((bytes) => log.warn({ bytes }, 'the log was not read for too long: lines left out')),
  );
  return log;
}

/** Metrics of this server's decisions. Each label has few values. */
export function frontCounters({ registry, countRequest }: Metrics) {
  const counter = counterIn(registry);
  return {
    registry,
    countRequest,
    pages: counter(
      'pages_served_total',
      'Pages, by what was chosen for the visitor and what they carry.',
      'group',
      'prerendered',
    ),
    reports: counter(
      'health_reports_total',
      'What pages report of builds; group last_good: a build that pages went back to.',
      'remote',
      'group',
      'outcome',
      'failure',
    ),
    refusedReports: counter('health_reports_refused_total', 'Reports that were not counted, by why.', 'reason'),
    upstreamErrors: counter('upstream_errors_total', 'Calls and sockets without an answer of the backend.', 'reason'),
    channelProblems: counter(
      'channel_problems_total',
      'Times that the last good state of the channel went on being served, since a newer one could not be taken.',
    ),
    sockets: new Gauge({ name: 'liaozhai_sockets', help: 'Open sockets through this server.', registers: [registry] }),
  };
}

export type FrontCounters = ReturnType<typeof frontCounters>;

/** Exports the channel's live builds whenever metrics are read, without those of earlier states. */
export function gaugeLiveBuilds({ registry }: FrontCounters, releases: Releases): void {
  const registers = [registry];
  const state = new Gauge({
    name: 'liaozhai_channel_state',
    help: 'Number of the state of the channel that is served.',
    labelNames: ['channel'],
    registers,
    async collect() {
      const { channel, seq } = await releases.current();
      state.set({ channel }, seq);
    },
  });
  const builds = new Gauge({
    name: 'liaozhai_live_build',
    help: '1 for each build that is live, with the share of visitors that a candidate is for.',
    labelNames: ['build', 'group', 'percent'],
    registers,
    async collect() {
      const document = await releases.current();
      builds.reset();
      for (const build of document.stable?.builds ?? []) builds.set({ build, group: 'stable', percent: '100' }, 1);
      for (const { builds: candidateBuilds, percent } of candidatesOf(document))
        for (const build of candidateBuilds) builds.set({ build, group: 'candidate', percent: String(percent) }, 1);
    },
  });
}

const healthPaths = ['/healthz', '/readyz'];

const requestIdPattern = /^[\w-]{8,64}$/;

// stored on the request: a table of all requests would burden the garbage collector
const routeKey = Symbol('route');

type RoutedRequest = IncomingMessage & { [routeKey]?: string };

/** Sets the pattern under which a request is counted. */
export function nameRoute(request: RoutedRequest | undefined, pattern: string): void {
  if (request) request[routeKey] = pattern;
}

export const incomingOf = (context: Context): IncomingMessage | undefined =>
  context.env && 'incoming' in context.env ? context.env.incoming : undefined;

/** The id that `observeRequest` assigned: Hono's own headers are the original ones. */
export const requestIdOf = (context: Context): string | undefined =>
  incomingOf(context)?.headers['x-request-id']?.toString();

/** Counts a request under the route that answered it, unless that has set a narrower one. */
export const nameByRoute: MiddlewareHandler = async (context, next) => {
  await next();
  const request: RoutedRequest | undefined = incomingOf(context);
  if (!request || request[routeKey]) return;
  const pattern = routePath(context);
  if (!/^\/?\*$/.test(pattern)) nameRoute(request, pattern);
};

/** Not traced: files and pictures, which many pages share, and endpoints that are requested every few seconds. */
const untracedPath =
  /^\/(?:builds|channels|api\/media)\/|^\/(?:healthz|readyz|beacon(?:\/spans)?|sw\.js|[\w-]+\.(?:webmanifest|svg|png))(?:\?|$)/;

const parentOf = ({ headers }: IncomingMessage): string | undefined =>
  typeof headers.traceparent === 'string' ? headers.traceparent : undefined;

const runDirectly = (inside: () => void) => inside();

/**
 * Assigns the request's id: the page's, if it sent one. `work` receives it for response and backend, and runs in a span that the
 * backend continues. When the response ends, it is counted and logged in one line. The query is left out, since links in mails
 * carry signatures there.
 */
export function observeRequest(
  { log, counters, tracing }: { log: Log; counters?: FrontCounters | null; tracing?: Tracing | null },
  request: RoutedRequest,
  response: ServerResponse,
  work: (requestId: string) => void,
): void {
  const startedAt = performance.now();
  const givenId = request.headers['x-request-id'];
  const requestId = typeof givenId === 'string' && requestIdPattern.test(givenId) ? givenId : randomUUID();
  request.headers['x-request-id'] = requestId;
  const { method = '', url = '' } = request;
  const span =
    tracing && !untracedPath.test(url)
      ? tracing.beginRequest({ method, requestId, traceparent: parentOf(request) })
      : null;
  if (span) request.headers.traceparent = span.traceparent;
  const runInSpan = span?.run ?? runDirectly;
  // `on`, not `once`: it fires once, and the wrapper of `once` would cost each request
  response.on('close', () => {
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    const elapsed = performance.now() - startedAt;
    // a client that disconnected early received no response, regardless of the intended status
    const status = response.writableFinished ? response.statusCode : 499;
    // requested every few seconds by monitoring
    const level = healthPaths.includes(path) ? 'debug' : 'info';
    runInSpan(() => log[level]({ requestId, method, path, status, ms: Math.round(elapsed) }, 'request'));
    const route = request[routeKey] ?? 'other';
    counters?.countRequest({ service: 'front', method, route, status, seconds: elapsed / 1000 });
    span?.end({ route, status });
  });
  runInSpan(() => work(requestId));
}
