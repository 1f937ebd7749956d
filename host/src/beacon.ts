import type { Beacon, ErrorReport, SpansReport, VitalsReport } from '@liaozhai/shared/contract';

type Report = Beacon | VitalsReport | SpansReport | { failed: ErrorReport[] };

/** Sends a report to the origin with `sendBeacon`, which outlives the page. The response is ignored. */
export const sendReport = (report: Report, path = '/beacon') =>
  navigator.sendBeacon?.(path, new Blob([JSON.stringify(report)], { type: 'application/json' }));

/** Runs `report` each time the page is hidden, since it may be unloaded next. Returns the stop function. */
export function reportHidden(report: () => void): () => void {
  const onChange = () => document.visibilityState === 'hidden' && report();
  window.addEventListener('visibilitychange', onChange);
  return () => window.removeEventListener('visibilitychange', onChange);
}

const REPORT_MS = 10_000;

/** Runs `report` every ten seconds, and when the page is hidden. Returns the stop function. */
export function reportRegularly(report: () => void): () => void {
  const timer = setInterval(report, REPORT_MS);
  const stop = reportHidden(report);
  return () => {
    clearInterval(timer);
    stop();
  };
}
