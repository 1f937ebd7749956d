import type { Beacon, ErrorReport, SpansReport, VitalsReport } from '@liaozhai/shared/contract';

type Report = Beacon | VitalsReport | SpansReport | { failed: ErrorReport[] };

/** Sends a report to the origin. It outlives the page, and nothing waits for an answer. */
export const sendReport = (report: Report, path = '/beacon') =>
  navigator.sendBeacon?.(path, new Blob([JSON.stringify(report)], { type: 'application/json' }));

/** Runs `report` each time the page is hidden, which may be its end. Returns the way to stop. */
export function reportHidden(report: () => void): () => void {
  const onChange = () => document.visibilityState === 'hidden' && report();
  window.addEventListener('visibilitychange', onChange);
  return () => window.removeEventListener('visibilitychange', onChange);
}

const REPORT_MS = 10_000;

/** Runs `report` every ten seconds, and when the page is hidden. Returns the way to stop. */
export function reportRegularly(report: () => void): () => void {
  const timer = setInterval(report, REPORT_MS);
  const stop = reportHidden(report);
  return () => {
    clearInterval(timer);
    stop();
  };
}
