import { type DestinationStream, type Logger, pino } from 'pino';
import { storageCure, storageFaultOf } from './db/database.ts';

export type Log = Logger;

/** One JSON line an entry on stdout, with `service` and an ISO time; written before the call returns, so none is lost at an end. */
export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: { service: 'backend', pid: process.pid },
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Tells of an error that nobody is left to catch; `about` says where it happened. Never throws. */
export type ReportFault = (error: unknown, about?: Record<string, unknown>) => void;

const sayAgainAfterMs = 60_000;

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
    if (fault === null || fault === 'damaged' || Date.now() - saidAt < sayAgainAfterMs) return;
    saidAt = Date.now();
    log.error(about, storageCure(fault, dataDir, error));
  };
}
