import { randomBytes } from 'node:crypto';
import { putOver } from '../channel/catalog.ts';
import { type Change, changeChannel, type Writer } from '../channel/changeChannel.ts';
import { compose, replan, storeSets } from '../channel/compose.ts';
import { refused, usage } from '../errors.ts';
import type { Action, ChannelDocument } from '../model/channel.ts';
import { lastGoodAfter, passGate, type SwitchOptions } from './activate.ts';

const sameBuilds = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join() === [...b].sort().join();

type Told = Pick<Action, 'verb' | 'what' | 'why' | 'evidence'>;
const told = (verb: string, what: string, why = '', evidence: string[] = []): Told => ({
  verb,
  what,
  why,
  ...(evidence.length > 0 ? { evidence } : {}),
});

function requireCandidate(current: ChannelDocument) {
  if (current.candidate) return current.candidate;
  throw refused(`${current.channel} has no candidate`, 'Start one with `canary <build…> --percent P`.');
}

/**
 * Runs builds for a share of visitors, in place of a former candidate. Changing only the percentage keeps everyone who stays
 * within it; other builds draw the visitors anew.
 */
export async function canary(
  writer: Writer,
  builds: readonly string[],
  percent: number,
  options: SwitchOptions,
): Promise<Change> {
  if (!(percent >= 0 && percent <= 100))
    throw usage(`${percent} is not a percentage`, 'Use a number from 0 to 100, e.g. --percent 5.');
  return changeChannel(
    writer,
    async (current) => {
      const live = current.stable?.builds ?? [];
      const over = builds.length > 0 ? builds.filter((id) => !live.includes(id)) : requireCandidate(current).builds;
      if (over.length === 0) throw refused('these builds are live for everyone already', 'See `status`.');
      const former = current.candidate;
      const ramp = former !== null && sameBuilds(former.builds, over);
      if (ramp && former.percent === percent) return null;
      const salt = ramp ? former.salt : randomBytes(12).toString('base64url');
      const next = await compose(writer, current, replan(current, { candidate: { builds: over, percent, salt } }));
      const evidence = ramp ? [] : await passGate(options, { current, next, part: 'candidate', changed: over });
      return {
        prepare: () => storeSets(writer, next),
        state: next.state,
        action: told('canary', `${over.join(' ')} for ${percent} %`, options.why, evidence),
      };
    },
    options.seq,
  );
}

/** Makes the candidate live for everyone, over whatever became stable in the meantime. */
export function promote(writer: Writer, options: SwitchOptions): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const { builds } = requireCandidate(current);
      const stable = putOver(current.stable?.builds ?? [], builds);
      const next = await compose(
        writer,
        current,
        replan(current, { stable, lastGood: lastGoodAfter(current, builds), candidate: null }),
      );
      const evidence = await passGate(options, { current, next, part: 'stable', changed: builds });
      return {
        prepare: () => storeSets(writer, next),
        state: next.state,
        action: told('promote', builds.join(' '), options.why, evidence),
      };
    },
    options.seq,
  );
}

export interface AbortOptions {
  why?: string;
  seq?: number;
  /** Figures that speak for it, kept in the audit. */
  evidence?: string[];
}

/** Sends the candidate's visitors back to stable. */
export function abort(writer: Writer, { why, seq, evidence }: AbortOptions): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      const { builds } = requireCandidate(current);
      const next = await compose(writer, current, replan(current, { candidate: null }));
      return {
        prepare: () => storeSets(writer, next),
        state: next.state,
        action: told('abort', builds.join(' '), why, evidence),
      };
    },
    seq,
  );
}
