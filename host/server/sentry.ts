import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { RateLimit } from '@liaozhai/http/rate-limit';
import type { Place } from '@liaozhai/releases';
import { type ErrorReport, MINUTE_MS, PATIENT, pauseMs, retryAfterSeconds } from '@liaozhai/shared/contract';
import type { Log } from './telemetry.ts';

// Errors of pages as Sentry envelopes: https://develop.sentry.dev/sdk/foundations/transport/envelopes/

const MAX_QUEUED = 100;
const PER_MINUTE = 60;
const TIMEOUT_MS = 10_000;
const HOUR_SECONDS = 3600;
const DAY_SECONDS = 24 * HOUR_SECONDS;
const CLIENT = { name: 'liaozhai.front', version: '1.0.0' };

/** Endpoint of a project in Sentry, or in a server with its protocol. */
export interface Dsn {
  /** `https://sentry.example/api/42/envelope/` */
  address: string;
  key: string;
}

/** Parses `https://<key>@sentry.example/42`; null if it is not a DSN. */
export function readDsn(text: string): Dsn | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const [, path = '', project] = /^((?:\/[\w.-]+)*)\/(\w+)$/.exec(url?.pathname ?? '') ?? [];
  if (!url || !/^https?:$/.test(url.protocol) || !/^\w+$/.test(url.username) || !project || url.search || url.hash)
    return null;
  return { address: `${url.origin}${path}/api/${project}/envelope/`, key: url.username };
}

interface CaughtError {
  report: ErrorReport;
  /** `Safari 17` */
  browser: string;
  at: Date;
}

/** A stack frame in Sentry's format. */
function frameOf(frame: string, place: Place | null) {
  if (place)
    return {
      filename: place.source,
      lineno: place.line,
      ...(place.name ? { function: place.name } : {}),
      in_app: !place.source.includes('node_modules'),
    };
  const [, file = frame, line, column] = /^(.+):(\d+):(\d+)$/.exec(frame) ?? [];
  return { filename: `/builds/${file}`, lineno: Number(line), colno: Number(column), in_app: true };
}

/** Contains only fields of the report's schema, which has no text of readers. */
function eventOf({ report, browser, at }: CaughtError, places: readonly (Place | null)[], environment: string) {
  const { build, kind, name, message, frames, route } = report;
  const [, family = browser, version] = /^(.+) (\d+)$/.exec(browser) ?? [];
  const stack = frames.map((frame, n) => frameOf(frame, places[n] ?? null)).reverse();
  return {
    event_id: randomUUID().replaceAll('-', ''),
    timestamp: at.toISOString(),
    platform: 'javascript',
    level: 'error',
    release: build,
    environment,
    transaction: route,
    tags: { remote: build.split('@')[0], kind },
    contexts: { browser: { name: family, ...(version ? { version } : {}) } },
    exception: {
      values: [
        {
          type: name,
          value: message ?? '',
          mechanism: { type: 'generic', handled: kind !== 'uncaught' && kind !== 'rejection' },
          ...(stack.length > 0 ? { stacktrace: { frames: stack } } : {}),
        },
      ],
    },
    // otherwise the address of the sender, this server, would count as the reader's
    sdk: { ...CLIENT, settings: { infer_ip: 'never' } },
  };
}

function envelopeOf(event: ReturnType<typeof eventOf>): string {
  const payload = JSON.stringify(event);
  const header = { event_id: event.event_id, sent_at: new Date().toISOString() };
  const item = { type: 'event', length: Buffer.byteLength(payload) };
  return [JSON.stringify(header), JSON.stringify(item), payload, ''].join('\n');
}

/** Seconds for which `X-Sentry-Rate-Limits` refuses errors: `60:error;session:organization, 2700::project`. */
const limitSeconds = (header: string): number =>
  Math.max(
    ...header.split(',').map((limit) => {
      const [seconds, categories = ''] = limit.trim().split(':');
      return categories === '' || categories.split(';').includes('error') ? Number(seconds) || 0 : 0;
    }),
  );

interface SentryAnswer {
  /** Null if the event was accepted. */
  problem: string | null;
  /** Whether another attempt can succeed. */
  canRetry: boolean;
  /** `Retry-After`, or the rate limit instead. */
  retryAfter: string | null;
  date: string | null;
}

async function post({ address, key }: Dsn, body: string): Promise<SentryAnswer> {
  try {
    const response = await fetch(address, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/x-sentry-envelope',
        'x-sentry-auth': `Sentry sentry_version=7, sentry_client=${CLIENT.name}/${CLIENT.version}, sentry_key=${key}`,
      },
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    const { status, headers } = response;
    const limit = limitSeconds(headers.get('x-sentry-rate-limits') ?? '');
    const retryAfter = limit > 0 ? String(limit) : (headers.get('retry-after') ?? (status === 429 ? '60' : null));
    const date = headers.get('date');
    if (status >= 200 && status < 300)
      return { problem: null, canRetry: false, retryAfter: limit > 0 ? retryAfter : null, date };
    return { problem: `answered ${status}`, canRetry: status !== 400 && status !== 413, retryAfter, date };
  } catch (cause) {
    const { message, cause: inner } = cause as Error & { cause?: { code?: string } };
    return { problem: inner?.code ?? message, canRetry: true, retryAfter: null, date: null };
  }
}

/** Milliseconds until the next attempt. A server may wait longer than a page, up to a day. */
function waitMs(failures: number, { retryAfter, date }: SentryAnswer): number {
  const longSeconds = Math.min(Number(retryAfter) || HOUR_SECONDS, DAY_SECONDS);
  return pauseMs(failures, PATIENT, retryAfterSeconds(retryAfter, date)) ?? longSeconds * 1000;
}

/** Accepts errors that pages in one browser reported. */
export type Forward = (reports: readonly ErrorReport[], browser: string) => void;

export interface ForwardOptions {
  dsn: Dsn;
  environment: string;
  /** Resolves a frame to its place in the sources. */
  placeOf: (frame: string) => Promise<Place | null>;
  log: Pick<Log, 'warn'>;
  sleep?: (milliseconds: number) => Promise<unknown>;
}

/**
 * Forwards errors one by one in the background. At most 100 are queued and 60 a minute accepted; others are dropped. Failed and
 * rate-limited events are sent again. Logs problems at most once a minute. Never throws.
 */
export function createForward({
  dsn,
  environment,
  placeOf,
  log,
  sleep = (milliseconds) => pause(milliseconds, undefined, { ref: false }),
}: ForwardOptions): Forward {
  const queue: CaughtError[] = [];
  const limit = new RateLimit();
  let dropped = 0;
  let isSending = false;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function logProblem(problem: string): void {
    if (performance.now() - loggedAt < MINUTE_MS) return;
    loggedAt = performance.now();
    log.warn({ problem, waiting: queue.length, dropped }, 'errors of pages are not all forwarded to SENTRY_DSN');
    dropped = 0;
  }

  async function sendAll(): Promise<void> {
    isSending = true;
    let failures = 0;
    for (let [caughtError] = queue; caughtError; [caughtError] = queue) {
      const places = await Promise.all(caughtError.report.frames.map((frame) => placeOf(frame).catch(() => null)));
      const answer = await post(dsn, envelopeOf(eventOf(caughtError, places, environment)));
      if (answer.problem) logProblem(answer.problem);
      if (!answer.canRetry) queue.shift();
      if (answer.canRetry || answer.retryAfter !== null) await sleep(waitMs(failures, answer));
      failures = answer.canRetry ? failures + 1 : 0;
    }
    isSending = false;
  }

  return (reports, browser) => {
    for (const report of reports) {
      if (queue.length >= MAX_QUEUED || limit.take('', PER_MINUTE) > 0) dropped += 1;
      else queue.push({ report, browser, at: new Date() });
    }
    if (dropped > 0) logProblem('too many');
    if (!isSending) void sendAll();
  };
}
