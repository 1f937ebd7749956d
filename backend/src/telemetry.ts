import { AsyncLocalStorage } from 'node:async_hooks';
import { counterIn, type Metrics } from '@liaozhai/telemetry/metrics';
import { currentTrace } from '@liaozhai/telemetry/tracing';
import { type DestinationStream, type Logger, pino } from 'pino';
import { Gauge } from 'prom-client';
import { MINUTE_MS } from './clock.ts';
import { storageCure, storageFaultOf } from './db/storageFault.ts';
import type { Services } from './services.ts';

export type Log = Logger;

const requestIds = new AsyncLocalStorage<string>();

/** Adds the request's id to each line that is logged by `work` and by the reply that it starts. */
export const withinRequest = <Result>(requestId: string, work: () => Result): Result => requestIds.run(requestId, work);

/** Logs one JSON line an entry to stdout, with an ISO time. Writes synchronously, so that no line is lost at exit. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: { service: 'backend', pid: process.pid },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: () => ({ requestId: requestIds.getStore(), traceId: currentTrace()?.traceId }),
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Reports an error that no caller can catch; `about` contains its context. Never throws. */
export type ReportFault = (error: unknown, about?: Record<string, unknown>) => void;

/** Runs work that no caller waits for, and reports its failure. */
export function runOrReport({ report }: Pick<Services, 'report'>, work: () => void): void {
  try {
    work();
  } catch (error) {
    report(error);
  }
}

/** Repeats work at an interval. Returns a function that stops it. */
export function repeat(services: Pick<Services, 'report'>, work: () => void, intervalMs: number): () => void {
  const timer = setInterval(() => runOrReport(services, work), intervalMs).unref();
  return () => clearInterval(timer);
}

/**
 * Creates the report. A full or missing disk fails every call, so it is logged once a minute, without stacks.
 * @param onDamaged called if the database is damaged. Then nothing may be written to it any more.
 */
export function createFaultReport(log: Log, dataDir: string, onDamaged: (error: unknown) => void): ReportFault {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (error, context = {}) => {
    const fault = storageFaultOf(error);
    if (fault === 'damaged') onDamaged(error);
    if (fault === null) log.error({ ...context, err: error }, 'unexpected error');
    if (fault === null || fault === 'damaged' || performance.now() - loggedAt < MINUTE_MS) return;
    loggedAt = performance.now();
    log.error(context, storageCure(fault, dataDir, error));
  };
}

/** Creates the backend's counters. Each label has few values. */
export function backendCounters({ registry, countRequest }: Metrics) {
  const counter = counterIn(registry);
  return {
    countRequest,
    replies: counter('replies_total', 'Replies that have ended: completed, cancelled, or why they failed.', 'ending'),
    storyteller: counter(
      'storyteller_calls_total',
      'Calls of the storyteller by what they were for and how they ended.',
      'call',
      'outcome',
    ),
    tokens: counter('storyteller_tokens_total', 'Tokens that the model reported, where it does.'),
    events: counter('events_total', 'Events handed to sockets, or to a Reverb.', 'event'),
    faults: counter('faults_total', 'Errors that nobody was left to catch, those of the disk included.'),
  };
}

export type BackendCounters = ReturnType<typeof backendCounters>;

/** Registers gauges for running work, which are computed when the metrics are read. */
export function gaugeWork(registry: Metrics['registry'], { generations, broadcaster }: Services): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge('liaozhai_runs', 'Replies and suggestions that are being written.', () => generations.size);
  const load = () => broadcaster.load();
  gauge('liaozhai_sockets', "Open sockets of this server's own.", () => load().sockets);
  gauge('liaozhai_reverb_events_waiting', 'Events that Reverb has not taken yet.', () => load().queuedEvents);
  gauge('liaozhai_reverb_events_lost', 'Events since the start that Reverb did not take.', () => load().lostEvents);
}
