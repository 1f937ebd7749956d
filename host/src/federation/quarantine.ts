const key = 'liaozhai-quarantine';
const lifetimeMs = 10 * 60_000;

type Quarantined = Record<string, number>;

function read(): Quarantined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(key) ?? '{}');
    return typeof stored === 'object' && stored !== null ? (stored as Quarantined) : {};
  } catch {
    // unreadable storage means nothing is known to be bad
    return {};
  }
}

/** Whether this browser saw the build fail within the last ten minutes. */
export const isQuarantined = (buildId: string, now = Date.now()) => now - (read()[buildId] ?? 0) < lifetimeMs;

export function quarantine(buildId: string, now = Date.now()) {
  const recent = Object.entries(read()).filter(([, since]) => now - since < lifetimeMs);
  try {
    localStorage.setItem(key, JSON.stringify({ ...Object.fromEntries(recent), [buildId]: now }));
  } catch {
    // a full storage costs one repeated failure, no more
  }
}
