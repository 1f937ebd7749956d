import type { Beacon, ErrorReport, SpansReport, VitalsReport } from '@liaozhai/shared/contract';
import { attempt, listenTo, stopAll } from '@liaozhai/shared/ui';

type Report = Beacon | VitalsReport | SpansReport | { failed: ErrorReport[] };

/** Sends a report to the origin with `sendBeacon`, which outlives the page. The response is ignored. */
export const sendReport = (report: Report, path = '/beacon') =>
  attempt(() => navigator.sendBeacon(path, new Blob([JSON.stringify(report)], { type: 'application/json' })));

/** Runs `report` each time the page is hidden, since it may be unloaded next. Returns the stop function. */
export const reportHidden = (report: () => void): (() => void) =>
  listenTo(window, ['visibilitychange'], () => document.visibilityState === 'hidden' && report());

const REPORT_MS = 10_000;

/** Runs `report` every ten seconds, and when the page is hidden. Returns the stop function. */
export function reportRegularly(report: () => void): () => void {
  const timer = setInterval(report, REPORT_MS);
  return stopAll(() => clearInterval(timer), reportHidden(report));
}
