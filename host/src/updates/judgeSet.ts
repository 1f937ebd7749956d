import type { PageSet } from '../federation/pageSet';
import type { ChannelDocument } from './channelDocument';

/** What the channel says about the set this page runs. */
export type SetVerdict =
  | { kind: 'current' }
  /** another set is live for this visitor; the next document will have it */
  | { kind: 'outdated'; live: string }
  /** a build that runs here must not run anywhere */
  | { kind: 'killed'; build: string };

type RunningSet = Pick<PageSet, 'set' | 'candidate' | 'override'>;

export function judgeSet(running: RunningSet, builds: readonly string[], channel: ChannelDocument): SetVerdict {
  const killed = builds.find((build) => channel.killed.includes(build));
  if (killed) return { kind: 'killed', build: killed };
  // an override was chosen by hand; the badge shows the way out
  if (running.override) return { kind: 'current' };
  const live = (running.candidate && channel.candidate?.set) || channel.stable?.set || running.set;
  return live === running.set ? { kind: 'current' } : { kind: 'outdated', live };
}
