import { putOver } from '../channel/catalog.ts';
import { type Change, changeChannel, type Writer } from '../channel/changeChannel.ts';
import { compose, replan, storeSets } from '../channel/compose.ts';
import { refused } from '../errors.ts';
import type { ChannelDocument } from '../model/channel.ts';
import { nameOf } from '../model/ids.ts';
import { findStateBefore } from './rollback.ts';

export interface KillOptions {
  why?: string;
  seq?: number;
}

/** What takes a killed build's place: the last good one, else what a rollback of the name would bring back. */
async function replacement(
  writer: Writer,
  current: ChannelDocument,
  killed: string[],
  name: string,
): Promise<string | null> {
  const lastGood = current.lastGood[name];
  if (lastGood && !killed.includes(lastGood)) return lastGood;
  const before = await findStateBefore(writer, { ...current, killed }, name);
  return before?.stable?.builds.find((id) => nameOf(id) === name) ?? null;
}

async function stableWithout(
  writer: Writer,
  current: ChannelDocument,
  build: string,
  killed: string[],
): Promise<string[]> {
  const live = current.stable?.builds ?? [];
  if (!live.includes(build)) return live;
  const instead = await replacement(writer, current, killed, nameOf(build));
  if (instead) return putOver(live, [instead]);
  const host = (await writer.catalog.record(build)).description.kind === 'host';
  if (host)
    throw refused(`${build} is the only host to go on with`, 'Activate another host first, then kill this one.');
  return live.filter((id) => id !== build);
}

/** Bans a build for good: what is live goes back to the last good one, a candidate with it ends, open pages leave it. */
export function kill(writer: Writer, build: string, { why = '', seq }: KillOptions = {}): Promise<Change> {
  return changeChannel(
    writer,
    async (current) => {
      if (current.killed.includes(build)) return null;
      await writer.catalog.record(build);
      const killed = [...current.killed, build];
      const stable = await stableWithout(writer, current, build, killed);
      const candidate = current.candidate?.builds.includes(build) ? null : current.candidate;
      const next = current.stable
        ? await compose(writer, current, replan(current, { stable, killed, candidate }))
        : null;
      const { lastGood, digests } = current;
      const state = next?.state ?? { stable: null, candidate: null, lastGood, killed, digests };
      const prepare = async () => next && storeSets(writer, next);
      return { prepare, state, action: { verb: 'kill', what: build, why } };
    },
    seq,
  );
}
