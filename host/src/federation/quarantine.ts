import { local, readJson, STORAGE_KEYS } from '@liaozhai/shared/runtime';

const lifetimeMs = 10 * 60_000;

type Quarantined = Record<string, number>;

function read(): Quarantined {
  const stored = readJson(STORAGE_KEYS.quarantine);
  return typeof stored === 'object' && stored !== null ? (stored as Quarantined) : {};
}

/** Whether this browser saw the build fail within the last ten minutes. */
export const isQuarantined = (buildId: string, now = Date.now()) => now - (read()[buildId] ?? 0) < lifetimeMs;

export function quarantine(buildId: string, now = Date.now()) {
  const recent = Object.entries(read()).filter(([, since]) => now - since < lifetimeMs);
  local.set(STORAGE_KEYS.quarantine, JSON.stringify({ ...Object.fromEntries(recent), [buildId]: now }));
}
