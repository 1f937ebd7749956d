import { AsyncLocalStorage } from 'node:async_hooks';
import type { Metrics } from '@liaozhai/telemetry/metrics';
import { currentTrace } from '@liaozhai/telemetry/tracing';
import { type DestinationStream, type Logger, pino } from 'pino';
import { Counter, Gauge } from 'prom-client';
import { storageCure, storageFaultOf } from './db/storageFault.ts';
import type { Services } from './services.ts';

export type Log = Logger;

const requests = new AsyncLocalStorage<string>();

/** Has every line that is logged from within the work, and from the reply that it starts, carry the request's id. */
export const withinRequest = <Result>(requestId: string, work: () => Result): Result => requests.run(requestId, work);

/** One JSON line an entry on stdout, with `service` and an ISO time; written before the call returns, so none is lost at an end. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: { service: 'backend', pid: process.pid },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    mixin: () => ({ requestId: requests.getStore(), traceId: currentTrace()?.traceId }),
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Reports an error that no caller is left to catch; `about` says where it happened. Never throws. */
export type ReportFault = (error: unknown, about?: Record<string, unknown>) => void;

const SAY_AGAIN_AFTER_MS = 60_000;

interface FaultReportOptions {
  log: Log;
  dataDir: string;
  /** Hears of a database that is damaged: nothing may be written to it any more. */
  onDamaged: (error: unknown) => void;
}

/** A disk that is full or away fails every call alike, so that is said in one line a minute, without stacks. */
export function createFaultReport({ log, dataDir, onDamaged }: FaultReportOptions): ReportFault {
  let saidAt = Number.NEGATIVE_INFINITY;
  return (error, about = {}) => {
    const fault = storageFaultOf(error);
    if (fault === 'damaged') onDamaged(error);
    if (fault === null) log.error({ ...about, err: error }, 'unexpected error');
    if (fault === null || fault === 'damaged' || performance.now() - saidAt < SAY_AGAIN_AFTER_MS) return;
    saidAt = performance.now();
    log.error(about, storageCure(fault, dataDir, error));
  };
}

/** The counters of what this backend decides. Each label has few values. */
export function backendCounters({ registry, countRequest }: Metrics) {
  const registers = [registry];
  return {
    registry,
    countRequest,
    replies: new Counter({
      name: 'liaozhai_replies_total',
      help: 'Replies that have ended: completed, cancelled, or why they failed.',
      labelNames: ['ending'],
      registers,
    }),
    storyteller: new Counter({
      name: 'liaozhai_storyteller_calls_total',
      help: 'Calls of the storyteller by what they were for and how they ended.',
      labelNames: ['call', 'outcome'],
      registers,
    }),
    tokens: new Counter({
      name: 'liaozhai_storyteller_tokens_total',
      help: 'Tokens that the model reported, where it does.',
      registers,
    }),
    events: new Counter({
      name: 'liaozhai_events_total',
      help: 'Events handed to sockets, or to a Reverb.',
      labelNames: ['event'],
      registers,
    }),
    faults: new Counter({
      name: 'liaozhai_faults_total',
      help: 'Errors that nobody was left to catch, those of the disk included.',
      registers,
    }),
  };
}

export type BackendCounters = ReturnType<typeof backendCounters>;

/** Tells, whenever metrics are read, what is under way. */
export function gaugeWork(registry: Metrics['registry'], { runs, broadcaster }: Services): void {
  const gauge = (name: string, help: string, now: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(now());
      },
    });
  gauge('liaozhai_runs', 'Replies and suggestions that are being written.', () => runs.size);
  gauge('liaozhai_sockets', "Open sockets of this server's own.", () => broadcaster.load().sockets);
  gauge('liaozhai_reverb_events_waiting', 'Events that Reverb has not taken yet.', () => broadcaster.load().waiting);
  gauge(
    'liaozhai_reverb_events_lost',
    'Events since the start that Reverb did not take.',
    () => broadcaster.load().lost,
  );
}
