import { BoundedMap } from '@liaozhai/http/bounded-map';
import { RateLimit } from '@liaozhai/http/rate-limit';
import { isSameHost, networkOf } from '@liaozhai/http/source';
import { type ChannelDocument, candidatesOf, type Releases } from '@liaozhai/releases';
import {
  type Beacon,
  beaconSchema,
  DAY_MS,
  errorsReportSchema,
  spansReportSchema,
  vitalsReportSchema,
} from '@liaozhai/shared/contract';
import type { PageSpan, Tracing } from '@liaozhai/telemetry/tracing';
import Bowser from 'bowser';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import * as v from 'valibot';
import { knownVisitor } from './cookies.ts';
import type { FrontContext, FrontEnv } from './front.ts';
import { namesFor } from './pages.ts';
import type { Forward } from './sentry.ts';
import { type FrontCounters, type Log, requestIdOf } from './telemetry.ts';

/** Per network, since the caller chooses the visitor's id. */
const PER_MINUTE = 60;
const MAX_VOTES = 100_000;

/** Admits each vote once, with bounded memory. */
function createVotes() {
  const votes = new BoundedMap<string, true>(MAX_VOTES);
  return (vote: string): boolean => {
    const isNew = !votes.has(vote);
    if (isNew) votes.set(vote, true);
    return isNew;
  };
}

interface BeaconRefusal {
  status: 403 | 422 | 429;
  reason: 'foreign' | 'too_many' | 'malformed';
}

/** Returns a page's report and its visitor, or why it is refused. */
async function readReport<Schema extends v.GenericSchema>(
  context: FrontContext,
  schema: Schema,
  limit: RateLimit,
): Promise<BeaconRefusal | { visitor: string; report: v.InferOutput<Schema> }> {
  const source = context.get('source');
  // every page sets the cookie, so a caller without it has opened no page
  const visitor = knownVisitor(context);
  if (!visitor || !isSameHost(context.req.header('origin'), source)) return { status: 403, reason: 'foreign' };
  if (limit.take(networkOf(source.ip), PER_MINUTE) > 0) return { status: 429, reason: 'too_many' };
  const parsed = v.safeParse(schema, await context.req.json().catch(() => null));
  return parsed.success ? { visitor, report: parsed.output } : { status: 422, reason: 'malformed' };
}

/** Metric labels of a report: only names that the channel knows, since a report may contain anything. */
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
 * `POST /beacon`: health of builds, errors and web vitals. Origin-checked and rate-limited. Counts one vote per visitor and
 * build, and one value of each vital per day and per new candidate. `forward` receives the counted errors.
 */
export function beaconRoutes(
  releases: Releases,
  counters: FrontCounters | null,
  log: Log,
  forward: Forward | null,
): Hono<FrontEnv> {
  const isNew = createVotes();
  const limit = new RateLimit({ mostKeys: 10_000 });
  const refuse = (context: FrontContext, { status, reason }: BeaconRefusal) => {
    counters?.refusedReports.inc({ reason });
    return context.body(null, status);
  };
  return new Hono<FrontEnv>().post('/beacon', bodyLimit({ maxSize: 8192 }), async (context) => {
    const result = await readReport(context, reportSchema, limit);
    if ('status' in result) return refuse(context, result);
    const { visitor, report } = result;
    const document = await releases.current();
    if ('vitals' in report) {
      const voter = `${visitor} ${periodOf(document)}`;
      // a visitor who opens many pages weighs no more than one who opens one
      const vitals = report.vitals.filter(({ build, metric, cache }) => isNew(`${voter} ${build} ${metric} ${cache}`));
      await releases.recordVitals({ vitals });
      return context.body(null, 204);
    }
    if ('failed' in report) {
      const names = await namesFor(context, releases, visitor);
      const newErrors = report.failed.filter(
        (error) => names.has(error.route) && isNew(`${visitor} ${JSON.stringify(error)}`),
      );
      const browser = browserOf(context.req.header('user-agent'));
      const recordedErrors = await releases.recordErrors(newErrors, { visitor, browser });
      forward?.(recordedErrors, browser);
      return context.body(null, 204);
    }
    const { build, outcome, failure, problem } = report;
    if (outcome === 'failed') log.warn({ requestId: requestIdOf(context), problem, build, failure }, 'a remote failed');
    if (isNew(`${visitor} ${build} ${outcome}`)) {
      releases.recordHealth(report, visitor);
      counters?.reports.inc(reportLabels(report, document));
    } else counters?.refusedReports.inc({ reason: 'repeated' });
    return context.body(null, 204);
  });
}

const reportSchema = v.union([beaconSchema, vitalsReportSchema, errorsReportSchema]);

/** Returns family and major version, such as `Safari 17`; the rest of the header is discarded. */
function browserOf(userAgent = ''): string {
  const { name = '', version = '' } = Bowser.parse(userAgent || 'unknown').browser;
  const [major = ''] = version.split('.');
  return /^[A-Za-z ]{2,40}$/.test(name) && /^\d{0,4}$/.test(major) ? `${name} ${major}`.trim() : 'other';
}

/**
 * The period for counting vitals: new with each day and each candidate, so that stable and candidate count visitors from the same
 * time on.
 */
const periodOf = (document: ChannelDocument): string =>
  [Math.floor(Date.now() / DAY_MS), ...candidatesOf(document).map(({ salt }) => salt)].join();

/** `POST /beacon/spans`: a page's part of its trace. Fields outside the schema are dropped, so that no text gets through. */
export function spanRoutes(releases: Releases, tracing: Tracing): Hono<FrontEnv> {
  const limit = new RateLimit({ mostKeys: 10_000 });
  return new Hono<FrontEnv>().post('/beacon/spans', bodyLimit({ maxSize: 16_384 }), async (context) => {
    const result = await readReport(context, spansReportSchema, limit);
    if ('status' in result) return context.body(null, result.status);
    const names = await namesFor(context, releases, result.visitor);
    const knownName = (name: string | undefined) => (name !== undefined && names.has(name) ? name : undefined);
    const now = Date.now();
    const spans = result.report.spans.map(
      ({ trace, id, parent, name, ago, took, build, route, status }): PageSpan => ({
        ...{ traceId: trace, spanId: id, parentSpanId: parent, name, startedAt: now - ago, milliseconds: took },
        ...{ build: knownName(build), route: knownName(route), status },
      }),
    );
    tracing.takePageSpans(spans);
    return context.body(null, 204);
  });
}
