import { pageSet } from './page';

export interface HealthEvent {
  remote: string;
  build: string;
  outcome: 'loaded' | 'failed';
  /** class of failure, e.g. `unreachable`, `threw` */
  reason?: string;
  /** time from asking for the remote to its module, in ms */
  loadMs?: number;
}

const seen = new Set<string>();

/** Tells the origin once per page how a build fared. Nothing waits for it and nothing depends on it. */
export function beacon(event: HealthEvent) {
  const vote = `${event.build} ${event.outcome}`;
  if (pageSet.set === 'bundled' || seen.has(vote)) return;
  seen.add(vote);
  const body = JSON.stringify({ ...event, channel: pageSet.channel, set: pageSet.set, candidate: pageSet.candidate });
  navigator.sendBeacon?.('/beacon', new Blob([body], { type: 'application/json' }));
}
