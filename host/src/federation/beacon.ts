import { pageSet } from './page';
import type { RemoteFailure } from './remoteError';

interface Health {
  build: string;
  outcome: 'loaded' | 'failed';
  failure?: RemoteFailure;
  /** from asking for the remote to having its module */
  loadMilliseconds?: number;
}

const told = new Set<string>();

/** Tells the origin, once per page, how a build fared. Nothing waits for it and nothing depends on it. */
export function beacon(health: Health) {
  const vote = `${health.build} ${health.outcome}`;
  if (pageSet.set === 'bundled' || told.has(vote)) return;
  told.add(vote);
  const body = JSON.stringify({ ...health, set: pageSet.set, candidate: pageSet.candidate });
  navigator.sendBeacon?.('/beacon', new Blob([body], { type: 'application/json' }));
}
